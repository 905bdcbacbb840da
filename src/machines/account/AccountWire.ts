/**
 * Shapes of one client's money on the wire, declared once for the contract and for the services (doc 2, Balances, Ledger
 * posting, Other account reads; A2-12, A2-60, A2-61, STS-12).
 */
import { Schema } from "effect"
import { verificationLevels } from "../verification/Blocks.ts"
import { postingRules } from "../postingRules.ts"
import { Currency } from "../shared/Currency.ts"
import { Id } from "../shared/Ids.ts"
import { pageEnd } from "../shared/Page.ts"

const money = Schema.String.annotate({ description: "Decimal string in the currency's scale." })
const usdc = Schema.String.annotate({ description: "USDC, decimal string with six places." })
const onUsdcLine = Schema.NullOr(usdc).annotate({
  description: "On the USDC line only, null elsewhere and at an earlier moment."
})

const valued = Schema.NullOr(usdc).annotate({ description: "Null without a mark." })

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
  mark: Schema.NullOr(Schema.String).annotate({
    description:
      "Of its SPOT market, else the last one known however old, else 1 for EUR and USD1, else null: the value counts zero in every sum."
  }),
  markFresh: Schema.Boolean.annotate({ description: "False at an earlier moment." }),
  value: valued.annotate({ description: "Of total. Null without a mark." }),
  valueCurrency: Schema.Literal("USDC"),
  staked: money.annotate({
    description: "Principal of open swaps less what was paid of it; zero at an earlier moment."
  }),
  swapClaims: money.annotate({
    description: "What writers that have defaulted still owe, unsecured; zero at an earlier moment."
  }),
  stakedValue: valued,
  claimsValue: valued
}).annotate({ identifier: "BalanceLine" })
export type BalanceLine = typeof BalanceLine.Type

export const PostingWire = Schema.Struct({
  postingId: Id,
  txId: Id,
  type: Schema.String.annotate({ description: `${Object.keys(postingRules).join(", ")}; new ones may be added.` }),
  actor: Schema.String.annotate({ description: "partner:<CODE>, system:<component> or a role." }),
  reason: Schema.NullOr(Schema.String),
  ts: Schema.Int.annotate({ description: "Unix ms." }),
  amount: money.annotate({ description: "Signed from the client's view." }),
  currency: Currency,
  kind: Schema.Literals(["cash", "reserved"]),
  refs: Schema.Json.annotate({
    description:
      "The objects the posting is about. Of another currency than USDC also mark, markTs and valueUsdc: what it was worth when it was booked, signed; all null where no value was known."
  })
}).annotate({ identifier: "LedgerPosting" })
export type PostingWire = typeof PostingWire.Type

const count = Schema.Int
const counts = Schema.Struct({
  fills: count.annotate({ description: "Trades on perpetuals and SPOT." }),
  barrierContracts: count.annotate({ description: "Ever opened." }),
  swapTakes: count.annotate({ description: "Swaps that were ever open." })
})

/** The data of the answer to GET .../account/summary. */
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
  counts
}).annotate({ identifier: "AccountSummary" })
export type AccountSummaryWire = typeof AccountSummaryWire.Type

const signed = usdc.annotate({ description: "USDC, six places, signed from the client's view." })
const charged = usdc.annotate({ description: "USDC, six places, positive when the client paid." })

/** A currency other than USDC that a client holds. */
export const HoldingWire = Schema.Struct({
  asset: Currency,
  qty: money.annotate({ description: "Cash and reserved." }),
  avgCost: Schema.NullOr(usdc).annotate({ description: "cost for one unit, half up." }),
  cost: Schema.NullOr(usdc).annotate({
    description:
      "What is left of it has cost, first in first out, commission included. Null where something came in whose worth was not known."
  }),
  value: valued,
  unrealizedPnl: Schema.NullOr(usdc).annotate({ description: "value less cost; null where either is." })
}).annotate({ identifier: "AccountHolding" })
export type HoldingWire = typeof HoldingWire.Type

/** The live swaps of one asset, summed. */
export const StakedWire = Schema.Struct({
  asset: Currency,
  swaps: count.annotate({ description: "Open ones, and those with a claim." }),
  notional: money.annotate({ description: "Of the open ones, as they were taken." }),
  reward: money.annotate({ description: "Of the open ones." }),
  expectedPayout: money.annotate({ description: "Of the open ones." }),
  claim: money.annotate({ description: "What writers that have defaulted still owe, unsecured." }),
  value: valued.annotate({ description: "Of what is staked: notional less what was paid of it. Null without a mark." }),
  nextMaturityTs: Schema.NullOr(Schema.Int).annotate({ description: "Of the open ones the earliest, Unix ms." })
}).annotate({ identifier: "StakedAsset" })
export type StakedWire = typeof StakedWire.Type

/** The data of the answer to GET .../account/overview. */
export const AccountOverviewWire = Schema.Struct({
  asOf: Schema.Int.annotate({ description: "When it was read, Unix ms: every figure is of this moment." }),
  currency: Schema.Literal("USDC"),
  equity: usdc,
  cash: usdc,
  freeMargin: usdc,
  initialMargin: usdc,
  unrealizedPnl: usdc.annotate({ description: "Of perpetuals and knock-out contracts." }),
  holdings: Schema.Array(HoldingWire),
  staked: Schema.Array(StakedWire),
  realized: Schema.Struct({
    fills: signed,
    spot: signed,
    barrier: signed,
    staking: signed,
    funding: signed,
    total: signed.annotate({ description: "fills, spot, barrier and staking; funding stands apart." })
  }),
  commission: Schema.Struct({ fills: charged, barrier: charged, staking: charged, total: charged }),
  counts,
  wins: count.annotate({
    description:
      "Results above zero: of each ended contract, each fill that reduced a position, each SPOT sale, each closed swap."
  }),
  losses: count.annotate({ description: "Results below zero; zero is neither." }),
  allocation: Schema.Array(
    Schema.Struct({
      bucket: Schema.String.annotate({ description: "CASH (USDC), an asset's code, or STAKING." }),
      value: usdc,
      pct: Schema.String.annotate({ description: "Of the sum of all buckets, two places, half up." })
    })
  ).annotate({ description: "Those alone that are worth more than nothing." }),
  verificationLevel: Schema.Literals(verificationLevels)
}).annotate({ identifier: "AccountOverview" })
export type AccountOverviewWire = typeof AccountOverviewWire.Type

/** The bare answer to GET .../balances. */
export const BalancesWire = Schema.Struct({
  balances: Schema.Array(BalanceLine).annotate({ description: "The USDC line first." }),
  portfolioValue: usdc.annotate({
    description: "Exactly cashTotal + reserved + holdingsValue + stakedValue + unrealizedPnl."
  }),
  portfolioCurrency: Schema.Literal("USDC"),
  portfolio: Schema.Struct({
    cashTotal: usdc.annotate({ description: "USDC cash." }),
    reserved: usdc.annotate({ description: "USDC set aside." }),
    holdingsValue: usdc.annotate({ description: "Of every other currency." }),
    stakedValue: usdc,
    unrealizedPnl: usdc.annotate({ description: "Of perpetuals and knock-out contracts." }),
    claimsValue: usdc.annotate({ description: "Unsecured, and in no sum." }),
    holdingsValued: Schema.Boolean.annotate({
      description: "Whether everything that is held, staked or claimed has a mark; what has none counts zero."
    }),
    currency: Schema.Literal("USDC")
  })
})
export type BalancesWire = typeof BalancesWire.Type

/** The data of the answer to GET .../ledger. */
export const LedgerPage = Schema.Struct({ postings: Schema.Array(PostingWire), ...pageEnd })
export type LedgerPage = typeof LedgerPage.Type
