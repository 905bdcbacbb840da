/**
 * The calls to the venue. The service names each call by a `ref`, and the venue executes a ref at most once, however often it
 * arrives. The response gives the outcome of the ref, and a later lookup gives the same. So a call whose response was lost
 * does not stay in doubt for ever, and no call is executed twice (A2-26, A2-111, F9, A2-115).
 */
import { Schema } from "effect"
import { VenueContract, VenueFill, VenueOrder, VenueRfq, VenueTrigger } from "./venueObjects.ts"
import { nounCalls, nounsMade } from "./venueNouns.ts"
import { DecimalText, Millis, Ref, Side, Symbol, VenueId, VenueText } from "./values.ts"

const BoundBps = Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_999 })))
const named = { ref: Ref, account: Ref }

/** The write calls by name, with their parameters. `target` is the ref of the object that the call changes. */
export const venueRequests = {
  openAccount: Schema.Struct(named),
  placeOrder: Schema.Struct({
    ...named,
    symbol: Symbol,
    side: Side,
    price: Schema.NullOr(DecimalText),
    /** For a conditional order: the allowed distance of its trades from the mark at which it triggers, basis points. */
    boundBps: BoundBps,
    qty: DecimalText,
    tif: Schema.Literals(["GTC", "IOC", "FOK", "POST_ONLY"]),
    reduceOnly: Schema.Boolean,
    trigger: Schema.NullOr(VenueTrigger),
    group: Schema.NullOr(Schema.String)
  }),
  cancelOrder: Schema.Struct({ ...named, target: Ref }),
  /** Sets the order's whole quantity. `boundBps` also sets the bound of a conditional order that has not triggered. */
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
  /** Requests quotes to close a contract, from the contract's writer only. */
  requestClose: Schema.Struct({ ...named, contractId: VenueId, windowEndsAt: Millis }),
  cancelRequest: Schema.Struct({ ...named, target: Ref }),
  acceptQuote: Schema.Struct({ ...named, target: Ref, quoteId: VenueId }),
  /** Ends a contract at the mark. */
  tearUp: Schema.Struct({ ...named, contractId: VenueId }),
  ...nounCalls
} as const
export type VenueCallName = keyof typeof venueRequests
export type VenueRequest<Name extends VenueCallName> = (typeof venueRequests)[Name]["Type"]
/** One call with its parameters. */
export type VenueCall = {
  readonly [Name in VenueCallName]: { readonly name: Name; readonly request: VenueRequest<Name> }
}[VenueCallName]

/**
 * The outcome of a ref. EXECUTED: the venue accepted the call, and the created or changed object shows its progress. REFUSED:
 * the venue will not execute it; `reason` is the venue's text. VOID: it never arrived and never will be executed. UNKNOWN: it
 * has not arrived (yet).
 */
export const outcomes = ["EXECUTED", "REFUSED", "VOID", "UNKNOWN"] as const

/** The venue's reason when the unfilled part of an IOC or FOK order finds no counterparty at its price. */
export const notFilledAtOnce = "not filled at once"

/** The stored reason of a voided call: the venue never received it and will never execute it. */
export const notReceived = "not found at the venue"

/**
 * The reason to store for a call that was not executed. A refusal whose text equals that of a voided call is still a refusal,
 * so its text is changed.
 */
export const refusalReason = ({ outcome, reason }: Pick<VenueOutcome, "outcome" | "reason">): string => {
  if (outcome === "VOID") return notReceived
  return reason === null || reason === notReceived ? "refused" : reason
}

/** Limit of the trades in one outcome. */
export const outcomeFillLimit = 100

export const VenueOutcome = Schema.Struct({
  ref: Ref,
  outcome: Schema.Literals(outcomes),
  reason: Schema.NullOr(VenueText),
  at: Millis,
  order: Schema.NullOr(VenueOrder),
  rfq: Schema.NullOr(VenueRfq),
  contract: Schema.NullOr(VenueContract),
  ...nounsMade,
  /**
   * The range of the account's events that the call caused and that this outcome already covers: a reader of the outcome
   * can skip these events. Absent in a lookup.
   */
  events: Schema.optionalKey(Schema.Struct({ first: Schema.Int, last: Schema.Int })),
  /** The order's trades among these events, each with the sequence of its event. Further trades come with the stream. */
  fills: Schema.optionalKey(
    Schema.Array(Schema.Struct({ sequence: Schema.Int, fill: VenueFill })).check(Schema.isMaxLength(outcomeFillLimit))
  )
})
export type VenueOutcome = typeof VenueOutcome.Type

/** Most events besides trades that one call causes for its object: accepted, triggered, ended. */
const ownReports = 3

/**
 * The events that an outcome covers, or null. Also null when the range is implausible: it holds more than the outcome's
 * trades and the few reports of the call's own object, or the trades are not in order. A false range would hide other events
 * of the account.
 */
export const coveredEvents = ({
  events,
  fills = []
}: Pick<VenueOutcome, "events" | "fills">): VenueOutcome["events"] | null => {
  if (events === undefined || events.last < events.first) return null
  const others = events.last - events.first + 1 - fills.length
  const sequences = [events.first - 1, ...fills.map(({ sequence }) => sequence), events.last + 1]
  const rises = sequences.every((sequence, at) => at === 0 || sequence > (sequences[at - 1] ?? sequence))
  return others <= ownReports && rises ? events : null
}

/** Limit of the refs in one lookup, and in one request to void refs. */
export const lookupLimit = 500
export const Refs = Schema.Struct({ refs: Schema.Array(Ref).check(Schema.isMaxLength(lookupLimit)) })
/** The outcomes of a lookup, parsed one by one, so that an unreadable one does not hide the others. */
export const Outcomes = Schema.Struct({ outcomes: Schema.Array(Schema.Unknown) })
