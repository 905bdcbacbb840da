/**
 * What the venue is asked to do. Each call has a name of ours, `ref`, which the venue executes at most once however often it
 * comes; the answer says what became of that name, and a look-up by it says the same later. So an answer that is lost never
 * leaves a doubt for ever, and no call is ever made twice (A2-26, A2-111, F9, A2-115).
 */
import { Schema } from "effect"
import { VenueContract, VenueFill, VenueOrder, VenueRfq, VenueSwap, VenueTrigger } from "./venueObjects.ts"
import { DecimalText, Millis, Ref, Side, Symbol, VenueId, Words } from "./values.ts"

const BoundBps = Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_999 })))
const named = { ref: Ref, account: Ref }

/** The writes by name, with what each takes. `target` is the ref of the object that it acts on. */
export const venueRequests = {
  openAccount: Schema.Struct(named),
  placeOrder: Schema.Struct({
    ...named,
    symbol: Symbol,
    side: Side,
    price: Schema.NullOr(DecimalText),
    /** For an order with a trigger: how far it may trade from the mark at which it fires, basis points. */
    boundBps: BoundBps,
    qty: DecimalText,
    tif: Schema.Literals(["GTC", "IOC", "FOK", "POST_ONLY"]),
    reduceOnly: Schema.Boolean,
    trigger: Schema.NullOr(VenueTrigger),
    group: Schema.NullOr(Schema.String)
  }),
  cancelOrder: Schema.Struct({ ...named, target: Ref }),
  /** Sets the order's whole quantity. `boundBps` also sets the bound of a conditional order that has not fired. */
  amendOrder: Schema.Struct({ ...named, target: Ref, qty: DecimalText, boundBps: BoundBps }),
  requestQuotes: Schema.Struct({
    ...named,
    symbol: Symbol,
    side: Side,
    qty: DecimalText,
    barrier: DecimalText,
    takeProfit: Schema.NullOr(DecimalText),
    expiryAt: Millis,
    strict: Schema.Boolean,
    premiumBps: Schema.Int,
    windowEndsAt: Millis
  }),
  /** A request to close a contract, which goes to its writer alone. */
  requestClose: Schema.Struct({ ...named, contractId: VenueId, windowEndsAt: Millis }),
  cancelRequest: Schema.Struct({ ...named, target: Ref }),
  acceptQuote: Schema.Struct({ ...named, target: Ref, quoteId: VenueId }),
  /** Ends a contract at the mark. */
  tearUp: Schema.Struct({ ...named, contractId: VenueId }),
  takeOffer: Schema.Struct({ ...named, offerId: VenueId, qty: DecimalText })
} as const
export type VenueCallName = keyof typeof venueRequests
export type VenueRequest<Name extends VenueCallName> = (typeof venueRequests)[Name]["Type"]
/** One call with what it takes. */
export type VenueCall = {
  readonly [Name in VenueCallName]: { readonly name: Name; readonly request: VenueRequest<Name> }
}[VenueCallName]

/**
 * What became of a ref. EXECUTED: the venue took it, and the object it made or changed says how far it has come. REFUSED: it
 * won't; `reason` in the venue's words. VOID: it never came and never will be executed. UNKNOWN: it has not come (yet).
 */
export const outcomes = ["EXECUTED", "REFUSED", "VOID", "UNKNOWN"] as const

/** The venue's reason when the rest of an IOC or FOK order finds no counterparty at its price. */
export const notFilledAtOnce = "not filled at once"

/** The reason that a row keeps for a voided call: the venue never received it and will never execute it. */
export const notReceived = "not found at the venue"

/** The reason that a row keeps for a call without an execution. A refusal in the words of a voided call is still a refusal. */
export const refusalReason = ({ outcome, reason }: Pick<VenueOutcome, "outcome" | "reason">): string => {
  if (outcome === "VOID") return notReceived
  return reason === null || reason === notReceived ? "refused" : reason
}

/** Trades that one outcome carries at most. */
export const outcomeFillLimit = 100

export const VenueOutcome = Schema.Struct({
  ref: Ref,
  outcome: Schema.Literals(outcomes),
  reason: Schema.NullOr(Words),
  at: Millis,
  order: Schema.NullOr(VenueOrder),
  rfq: Schema.NullOr(VenueRfq),
  contract: Schema.NullOr(VenueContract),
  swap: Schema.NullOr(VenueSwap),
  /**
   * Sequences of the account's events that the call made and that report nothing beyond this outcome. A reader of the outcome
   * needs none of them. Never of a look-up.
   */
  events: Schema.optionalKey(Schema.Struct({ first: Schema.Int, last: Schema.Int })),
  /** The order's trades among these events, each with the sequence of its event. Further trades come with the stream. */
  fills: Schema.optionalKey(
    Schema.Array(Schema.Struct({ sequence: Schema.Int, fill: VenueFill })).check(Schema.isMaxLength(outcomeFillLimit))
  )
})
export type VenueOutcome = typeof VenueOutcome.Type

/** Refs that one look-up or one voiding may name. */
export const lookupLimit = 500
export const Refs = Schema.Struct({ refs: Schema.Array(Ref).check(Schema.isMaxLength(lookupLimit)) })
/** Read one by one: an outcome that can't be read must not keep a reader from the others. */
export const Outcomes = Schema.Struct({ outcomes: Schema.Array(Schema.Unknown) })
