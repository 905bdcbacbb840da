/**
 * The venue's stream of numbered events. Numbers grow by one, so a reader that sends its last committed number misses no
 * event. Events of an account also have their own sequence without gaps (A2-95, A2-96, F14, A2-97).
 */
import { Schema } from "effect"
import { isNounFact, nounFacts, type NounObjects, objectOfFact } from "./venueNouns.ts"
import { VenueContract, VenueFill, VenueOrder, VenueQuote, VenueRfq } from "./venueObjects.ts"
import { DecimalText, Millis, Ref, SignedText, Symbol, VenueId, VenueText } from "./values.ts"

/** The version of the stream's format. A reader does not read a stream of another version. */
export const venueStreamVersion = 1

const ofAccount = { account: Ref, sequence: Schema.Int }

/**
 * A funding stamp of a position. Its first event has a place in the account's sequence. If the venue did not know mark or
 * rate then, they are null, and a second event of the same stamp has both, with the quantity of the first.
 */
export const VenueFunding = Schema.Struct({
  symbol: Symbol,
  settledAt: Millis,
  mark: Schema.NullOr(DecimalText),
  rate: Schema.NullOr(SignedText),
  /** The signed position that pays or receives the funding. */
  netQty: SignedText,
  /** USDC, from the account's view; null while not paid. */
  amount: Schema.NullOr(SignedText)
})
export type VenueFunding = typeof VenueFunding.Type

const facts = [
  Schema.Struct({ type: Schema.Literal("order"), ...ofAccount, order: VenueOrder }),
  Schema.Struct({ type: Schema.Literal("fill"), ...ofAccount, fill: VenueFill, order: VenueOrder }),
  Schema.Struct({ type: Schema.Literal("funding"), ...ofAccount, funding: VenueFunding }),
  /** A new or ended request for quotes, with its quotes at that time. */
  Schema.Struct({ type: Schema.Literal("rfq"), ...ofAccount, rfq: VenueRfq }),
  /** A new quote, or a quote in a new state. */
  Schema.Struct({ type: Schema.Literal("quote"), ...ofAccount, rfqRef: Ref, quote: VenueQuote }),
  Schema.Struct({ type: Schema.Literal("contract"), ...ofAccount, contract: VenueContract }),
  /** The venue has reversed a trade. */
  Schema.Struct({ type: Schema.Literal("bust"), ...ofAccount, tradeId: VenueId, orderId: VenueId, reason: VenueText }),
  /** The listing of a market has changed: halted, resumed or delisted. */
  Schema.Struct({ type: Schema.Literal("listing"), version: Schema.Int, symbol: Symbol }),
  ...nounFacts
] as const

export const VenueFact = Schema.Union(facts)
export type VenueFact = typeof VenueFact.Type
export type AccountFact = Extract<VenueFact, { readonly account: string }>

/** The service's ref of a fact; null for positions, trades, listings, and actions of the venue itself. */
export const refOfFact = (fact: VenueFact): string | null => {
  if (isNounFact(fact)) return objectOfFact(fact).ref
  switch (fact.type) {
    case "order":
    case "fill":
      return fact.order.ref
    case "rfq":
      return fact.rfq.ref
    case "quote":
      return fact.rfqRef
    case "contract":
      return fact.contract.ref
    case "funding":
    case "bust":
    case "listing":
      return null
  }
}

/** The objects that a fact reports. */
export interface FactObjects extends NounObjects {
  readonly order?: VenueOrder
  readonly fill?: VenueFill
  readonly rfq?: VenueRfq
  readonly contract?: VenueContract
}

export const objectsOfFact = (fact: VenueFact): FactObjects => {
  if (isNounFact(fact)) return { [fact.type]: objectOfFact(fact) }
  switch (fact.type) {
    case "order":
      return { order: fact.order }
    case "fill":
      return { order: fact.order, fill: fact.fill }
    case "rfq":
      return { rfq: fact.rfq }
    case "contract":
      return { contract: fact.contract }
    case "quote":
    case "funding":
    case "bust":
    case "listing":
      return {}
  }
}

/** One line of the stream. */
export const VenueEvent = Schema.Struct({ number: VenueId, at: Millis, fact: VenueFact })
export type VenueEvent = typeof VenueEvent.Type

/**
 * The first line of a stream, repeated every second. It shows that the venue is alive, and gives the number of the last
 * event.
 */
export const VenueHeartbeat = Schema.Struct({
  heartbeat: Schema.Literal(true),
  version: Schema.Int,
  /** The number of the last existing event. */
  number: Schema.Int,
  /** Business time at the venue. */
  at: Millis
})
export type VenueHeartbeat = typeof VenueHeartbeat.Type

/** Whether a line is a heartbeat. Only the member name counts, because other versions may have other members. */
export const isHeartbeat = (line: unknown): line is object =>
  typeof line === "object" && line !== null && "heartbeat" in line
