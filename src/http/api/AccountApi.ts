// Money of one client: the balances, a bare route, the account summary and the ledger (doc 2, Balances, Other account
// reads; A1-03, A2-12, A2-60, A2-62, A2-63, F23).
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Currency } from "../../machines/shared/Currency.ts"
import { Id } from "../../machines/shared/Ids.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { bare, ok } from "./Envelope.ts"
import { pageEnd } from "./Paging.ts"
import { clientParams, momentParam, pageParams } from "./Parameters.ts"
import { BadRequest } from "./WireErrors.ts"

const money = Schema.String.annotate({ description: "Decimal string in the currency's scale." })
const usdc = Schema.String.annotate({ description: "USDC, decimal string with six places." })
const onUsdcLine = Schema.NullOr(usdc).annotate({
  description: "On the USDC line only, null elsewhere and at an earlier moment."
})

/** One currency of a client (doc 2, Balances). */
export const BalanceLine = Schema.Struct({
  currency: Currency,
  kind: Schema.Literals(["CASH", "ASSET"]),
  cash: money,
  reserved: money,
  total: money.annotate({ description: "cash plus reserved." }),
  free: money.annotate({
    description: "What can be spent: on the USDC line min(cash, freeMargin), at an earlier moment cash; at least 0."
  }),
  displayDecimals: Schema.Int,
  venueAsset: Schema.String,
  equity: onUsdcLine,
  unrealizedPnl: onUsdcLine,
  freeMargin: onUsdcLine,
  mark: Schema.NullOr(Schema.String),
  markFresh: Schema.Boolean.annotate({ description: "False at an earlier moment." }),
  value: Schema.NullOr(usdc).annotate({ description: "Null without a mark." }),
  valueCurrency: Schema.Literal("USDC"),
  staked: money,
  swapClaims: money,
  stakedValue: usdc,
  claimsValue: usdc
}).annotate({ identifier: "BalanceLine" })

/** One posting on a client's account (doc 2, Ledger posting). */
export const LedgerPosting = Schema.Struct({
  postingId: Id,
  txId: Id,
  type: Schema.String.annotate({ description: "PARTNER_COLLATERAL_IN, COMMISSION and others; new ones may be added." }),
  actor: Schema.String.annotate({ description: "partner:<CODE>, system:<component> or a role." }),
  reason: Schema.NullOr(Schema.String),
  ts: Schema.Int.annotate({ description: "Unix ms." }),
  amount: money.annotate({ description: "Signed from the client's view." }),
  currency: Currency,
  kind: Schema.Literals(["cash", "reserved"]),
  refs: Schema.Json.annotate({ description: "The objects the posting is about." })
}).annotate({ identifier: "LedgerPosting" })

const count = Schema.Int

/** GET .../account/summary, data (doc 2, Other account reads; A2-60). */
export const AccountSummary = Schema.Struct({
  currency: Schema.Literal("USDC"),
  realizedPnl: usdc,
  commissionPaid: usdc.annotate({ description: "Positive when the client paid." }),
  fundingPaid: usdc.annotate({ description: "Positive when the client paid." }),
  tradeCount: count,
  since: Schema.String.annotate({ description: "When the account was opened, ISO 8601." }),
  sinceTs: Schema.Int.annotate({ description: "When the account was opened, Unix ms." }),
  realizedTotal: usdc.annotate({ description: "Of every family, without funding." }),
  realizedByFamily: Schema.Struct({ fills: usdc, spot: usdc, barrier: usdc, staking: usdc }),
  commissionByFamily: Schema.Struct({ fills: usdc, barrier: usdc, staking: usdc }),
  counts: Schema.Struct({ fills: count, barrierContracts: count, swapTakes: count })
}).annotate({ identifier: "AccountSummary" })

const at = momentParam(
  "at",
  "Our addition. Unix ms: the balances as the postings up to and including this moment add up to; a moment to come is now, before the account all is zero. Of an earlier moment the figures that need live marks are not known: equity, unrealizedPnl, freeMargin null, markFresh false, the portfolio's unrealizedPnl, stakedValue and claimsValue zero."
)

const balances = bare({
  balances: Schema.Array(BalanceLine).annotate({ description: "The USDC line first." }),
  portfolioValue: usdc,
  portfolioCurrency: Schema.Literal("USDC"),
  portfolio: Schema.Struct({
    cashTotal: usdc,
    reserved: usdc,
    holdingsValue: usdc,
    stakedValue: usdc,
    unrealizedPnl: usdc,
    claimsValue: usdc,
    holdingsValued: Schema.Boolean.annotate({ description: "Whether every holding has a mark." }),
    currency: Schema.Literal("USDC")
  })
})

export class AccountApi extends HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("balances", "/clients/:clientId/balances", {
      params: clientParams,
      query: { at },
      success: balances,
      error: BadRequest
    }).annotateMerge(OpenApi.annotations({ summary: "Balances of a client, now or at an earlier moment (bare)" })),
    HttpApiEndpoint.get("summary", "/clients/:clientId/account/summary", {
      params: clientParams,
      success: ok(AccountSummary)
    }).annotateMerge(OpenApi.annotations({ summary: "What trading brought and cost a client since its opening" })),
    HttpApiEndpoint.get("ledger", "/clients/:clientId/ledger", {
      params: clientParams,
      query: pageParams(pageLimits.history),
      success: ok(Schema.Struct({ postings: Schema.Array(LedgerPosting), ...pageEnd })),
      error: BadRequest
    }).annotateMerge(OpenApi.annotations({ summary: "Ledger postings of a client, newest first" }))
  )
  .annotateMerge(OpenApi.annotations({ title: "Account", description: "Balances and ledger of clients." })) {}
