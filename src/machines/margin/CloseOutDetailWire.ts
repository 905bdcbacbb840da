/**
 * One close-out episode for staff: its actions, the reasons why it waits, and the state of the account (operator surface; F10).
 */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"
import { CloseOutWire } from "./CloseOutWire.ts"

/** The reasons why an episode can't take its next step now. */
export const closeOutWaits = ["CANCELS", "ORDER", "PAUSE", "MARK", "MARKET", "TEAR_UP", "VENUE"] as const

const usdc = Schema.String.annotate({ description: "USDC, decimal string with six places." })
const millis = Schema.Int.annotate({ description: "Unix ms." })

export const CloseOutWait = Schema.Struct({
  what: Schema.Literals(closeOutWaits).annotate({
    description:
      "CANCELS of what could open, the end of its ORDER, a PAUSE behind one that was not filled whole, a fresh MARK, a MARKET that trades, a TEAR_UP, or an answer of the VENUE."
  }),
  why: Schema.String,
  until: Schema.NullOr(millis).annotate({ description: "At the latest; null: until it happens." })
})
export type CloseOutWait = typeof CloseOutWait.Type

/** Where a client's USDC can be while it is not in the cash: in a withdrawal, an unanswered take, a swap, or a claim. */
export const outsideKinds = ["WITHDRAWAL", "TAKE", "SWAP", "CLAIM"] as const
export type OutsideKind = (typeof outsideKinds)[number]

export const OutsideCashWire = Schema.Struct({
  what: Schema.Literals(outsideKinds).annotate({
    description: "A WITHDRAWAL that is not paid, a TAKE in flight, a SWAP that is open, or the CLAIM of one in default."
  }),
  id: Id,
  state: Schema.String,
  amount: usdc.annotate({ description: "USDC that may come back; of a swap with its reward." })
})
export type OutsideCashWire = typeof OutsideCashWire.Type

export const ClosingOrderWire = Schema.Struct({
  orderId: Id,
  symbol: Schema.String,
  side: Schema.Literals(["BUY", "SELL"]),
  qty: Schema.String,
  filledQty: Schema.String,
  bound: Schema.NullOr(Schema.String).annotate({
    description: "The worst price it may trade at; null of an order of before there were bounds."
  }),
  price: Schema.NullOr(Schema.String).annotate({ description: "The average of its trades; null before the first." }),
  state: Schema.String,
  reason: Schema.NullOr(Schema.String).annotate({ description: "Why the venue refused it." }),
  createdAt: millis
})
export type ClosingOrderWire = typeof ClosingOrderWire.Type

export const TornContractWire = Schema.Struct({
  contractId: Id,
  symbol: Schema.String,
  state: Schema.String,
  settlePrice: Schema.NullOr(Schema.String),
  pnl: Schema.NullOr(Schema.String),
  tearUps: Schema.Int.annotate({ description: "How often the venue was asked to tear it up." })
})
export type TornContractWire = typeof TornContractWire.Type

export const CloseOutDetailWire = Schema.Struct({
  ...CloseOutWire.fields,
  step: Schema.NullOr(Schema.Literals(["SENT", "PARTIAL"])).annotate({
    description: "While it is CLOSING: its order is at the venue, or was filled in part."
  }),
  account: Schema.NullOr(
    Schema.Struct({
      closeOutEquity: usdc,
      marginBase: usdc,
      marginLevel: Schema.NullOr(Schema.String),
      riskState: Schema.Literals(["NORMAL", "MARGIN_CALL", "CLOSE_OUT"]),
      marksFresh: Schema.Boolean
    })
  ).annotate({ description: "On the marks of the moment; null while no venue is attached." }),
  waits: Schema.Array(CloseOutWait),
  behind: Schema.Array(OutsideCashWire).annotate({
    description:
      "What stands behind its write-off, or would: money that comes back from there repays it first. The hundred largest."
  }),
  behindAmount: usdc.annotate({ description: "The sum of all that stands behind it." }),
  closingOrders: Schema.Array(ClosingOrderWire).annotate({ description: "Its last hundred, oldest first." }),
  tornContracts: Schema.Array(TornContractWire)
}).annotate({ identifier: "CloseOutDetail" })
export type CloseOutDetailWire = typeof CloseOutDetailWire.Type
