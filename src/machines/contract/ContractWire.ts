/**
 * Knock-out contracts on the wire, declared once for the contract and for the services. Every field is always present: live
 * figures are null once a contract has ended, and figures of the end are null while it is open (doc 2, Barrier contract;
 * A2-111, A2-112, F15..F17).
 */
import { Schema } from "effect"

import { Id } from "../shared/Ids.ts"
import { pageEnd } from "../shared/Page.ts"
import { venueContractStates } from "../venue/venueObjects.ts"

/** The lists of contracts; the first is the default. */
export const contractLists = ["open", "history"] as const
export type ContractList = (typeof contractLists)[number]

/** How a contract ended, as partners read it. */
export const closeReasons = [
  "knockOut",
  "takeProfit",
  "expiry",
  "earlyClose",
  "liquidation",
  "finalSettlement"
] as const
export type CloseReason = (typeof closeReasons)[number]

const price = Schema.String.annotate({ description: "Decimal string on the market's price grid." })
const usdc = Schema.String.annotate({ description: "USDC, decimal string with six places." })
const millis = Schema.Int.annotate({ description: "Unix ms." })
const live = <S extends Schema.Top>(schema: S, what = "") =>
  Schema.NullOr(schema).annotate({ description: `${what}Null once it has ended, and while the mark is not known.` })
const ended = <S extends Schema.Top>(schema: S) => Schema.NullOr(schema).annotate({ description: "Null while OPEN." })
const percent = Schema.String
const toProfit = "Null without a take profit too. "

/** The terms of a contract: the same fields in a request for quotes, in the answer to an accept and in the contract. */
export const contractFields = {
  symbol: Schema.String,
  side: Schema.Literals(["BUY", "SELL"]),
  qty: Schema.String.annotate({ description: "Decimal string on the market's quantity grid." }),
  barrierLevel: price.annotate({ description: "The knock-out price." }),
  takeProfit: Schema.NullOr(price).annotate({ description: "Null: none was asked for." }),
  expiryTs: millis.annotate({ description: "When the contract expires, Unix ms." }),
  strictTakeProfit: Schema.Boolean.annotate({ description: "Pays on a touch of the take profit alone." }),
  premiumBps: Schema.Int.annotate({
    description: "Share of the distance to the barrier that is the premium, basis points."
  })
} as const

const { symbol, side, qty, barrierLevel, takeProfit, expiryTs, strictTakeProfit, premiumBps } = contractFields

export const ContractWire = Schema.Struct({
  contractId: Id,
  symbol,
  side,
  qty,
  entry: price,
  barrierLevel,
  takeProfit,
  expiryTs,
  expiresInMs: Schema.Int.annotate({ description: "Milliseconds until it expires, at least 0." }),
  state: Schema.Literals(venueContractStates),
  openedAt: millis,
  closedAt: ended(millis),
  settlePrice: ended(price),
  pnl: ended(usdc),
  mark: live(price),
  markFresh: Schema.NullOr(Schema.Boolean).annotate({
    description: "Whether the mark is at most 10 seconds old; null once it has ended."
  }),
  distanceAbs: live(price, "From the mark to the barrier. "),
  distancePct: live(percent, "Percent of the mark, four places. "),
  distanceToTpAbs: live(price, toProfit),
  distanceToTpPct: live(percent, toProfit),
  unrealizedPnl: live(usdc),
  requirement: live(usdc, "Premium less the unrealised loss. "),
  maxLoss: usdc,
  premium: usdc,
  potentialProfit: Schema.NullOr(usdc).annotate({ description: "Null without a take profit." }),
  leverage: Schema.String.annotate({ description: "Notional over premium, decimal string with two places." }),
  commission: usdc,
  notional: usdc,
  venueRfqId: Id,
  rfqId: Id,
  closeReason: ended(Schema.Literals(closeReasons)),
  closeRfqId: Schema.NullOr(Id).annotate({ description: "The last request to close it, or null." }),
  strictTakeProfit,
  premiumBps,
  currency: Schema.Literal("USDC")
}).annotate({ identifier: "BarrierContract" })
export type ContractWire = typeof ContractWire.Type

/** The data of the answer to GET .../barriers. */
export const ContractsWire = Schema.Struct({
  barriers: Schema.Array(ContractWire).annotate({ description: "Newest first." }),
  ...pageEnd,
  currency: Schema.Literal("USDC")
})
export type ContractsWire = typeof ContractsWire.Type
