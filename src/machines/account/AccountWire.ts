/**
 * Money of one client as partners read it (doc 2, Balances, Ledger posting, Other account reads; A2-12, A2-60), declared once
 * for the contract and for the services.
 */
import { Schema } from "effect"
import { Currency } from "../shared/Currency.ts"
import { Id } from "../shared/Ids.ts"
import { pageEnd } from "../shared/Page.ts"

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
export type BalanceLine = typeof BalanceLine.Type

/** One posting on a client's account (doc 2, Ledger posting). */
export const PostingWire = Schema.Struct({
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
export type PostingWire = typeof PostingWire.Type

const count = Schema.Int

/** GET .../account/summary, data (doc 2, Other account reads; A2-60). */
export const AccountSummaryWire = Schema.Struct({
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
export type AccountSummaryWire = typeof AccountSummaryWire.Type

/** GET .../balances (doc 2, Balances). */
export const BalancesWire = Schema.Struct({
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
export type BalancesWire = typeof BalancesWire.Type

/** GET .../ledger (doc 2, Ledger posting). */
export const LedgerPage = Schema.Struct({ postings: Schema.Array(PostingWire), ...pageEnd })
export type LedgerPage = typeof LedgerPage.Type
