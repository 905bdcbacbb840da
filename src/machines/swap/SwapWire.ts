/** Staking swaps on the wire, declared once for the contract and for the services (doc 2, Swap; STS-4, STS-7). */
import { Schema } from "effect"
import { Currency } from "../shared/Currency.ts"
import { Id } from "../shared/Ids.ts"
import { pageEnd } from "../shared/Page.ts"
import { settleReasons, swapStates } from "./Swap.ts"

/** The lists of swaps; the first is the default. */
export const swapLists = ["live", "history", "all"] as const
export type SwapList = (typeof swapLists)[number]

const amount = Schema.String.annotate({ description: "In the asset, decimal string in its full scale." })
const percent = Schema.String.annotate({ description: "Percent a year, two places." })
const millis = Schema.Int.annotate({ description: "Unix ms." })
const once = <S extends Schema.Top>(schema: S, description: string) => Schema.NullOr(schema).annotate({ description })
const untaken = "Null while ACCEPTING and when REJECTED."

export const SwapWire = Schema.Struct({
  swapId: Id.annotate({ description: "The service's own id of it." }),
  contractId: once(Id, `The venue's id of the contract. ${untaken} Null too while only staff's word stands for it.`),
  tradeId: once(Id, `The venue's trade that made it. ${untaken}`),
  offerId: Id,
  symbol: Schema.String,
  name: Schema.String,
  asset: Currency,
  venueAsset: Schema.String,
  displayDecimals: Schema.Int,
  qty: Schema.String.annotate({ description: "What was taken, decimal string on the market's lot grid." }),
  notional: amount,
  rateBps: Schema.Int,
  ratePct: percent,
  tenorDays: Schema.Int,
  reward: amount.annotate({
    description: "floor(notional x rateBps x tenorDays / 3,650,000), frozen at the take."
  }),
  fee: amount.annotate({ description: "The venue's taker fee, estimated until the take is confirmed." }),
  expectedPayout: amount.annotate({ description: "Notional and reward." }),
  state: Schema.Literals(swapStates),
  openedTs: once(millis, untaken),
  maturityTs: once(millis, untaken),
  closedTs: once(millis, "When it was paid, settled or written off as a whole; null until then."),
  paid: amount,
  outstanding: amount.annotate({
    description: "expectedPayout less paid and writtenOff, never below zero; zero while REJECTED."
  }),
  claim: amount.annotate({ description: "What is outstanding while DEFAULTED, else zero." }),
  writtenOff: amount,
  recovered: amount.annotate({ description: "What was paid after the default." }),
  commission: amount.annotate({ description: "The service's share of the reward, zero until it is charged." }),
  commissionRewardBps: Schema.Int.annotate({ description: "The share, basis points, frozen at the take." }),
  estimatedCommission: amount.annotate({ description: "The share of the whole reward, rounded down." }),
  settleReason: once(Schema.Literals(settleReasons), "Null until it is paid, settled or in default."),
  rejectReason: once(Schema.String, "Why the take was rejected; else null."),
  ts: Schema.Int.annotate({ description: "Its last change, Unix ms." }),
  createdAt: millis
}).annotate({ identifier: "Swap" })
export type SwapWire = typeof SwapWire.Type

/** The data of the answer to GET .../staking/swaps. */
export const SwapsWire = Schema.Struct({
  swaps: Schema.Array(SwapWire).annotate({ description: "Newest first." }),
  ...pageEnd
})
export type SwapsWire = typeof SwapsWire.Type
