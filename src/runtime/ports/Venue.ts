/**
 * The venue, as services see it; no vendor is named. Reads, the numbered events with their cursor, market data, and every
 * write that trading needs. `HttpVenue` speaks to a venue over HTTP, `InProcessVenue` to one in this process; both pass one
 * conformance suite (test/runtime/venue). Several services may be at one venue: refs and accounts here are a service's own,
 * and `ownNames` puts its name before them on the way out.
 */
import { Context, type Effect, Schema, type Stream } from "effect"
import type { Channel, ChannelMessage, KlineInterval, KlinePage } from "../../machines/venue/marketData.ts"
import type { VenueCallName, VenueOutcome, VenueRequest } from "../../machines/venue/venueCalls.ts"
import type { VenueEvent, VenueHeartbeat } from "../../machines/venue/VenueEvent.ts"
import type { VenueListing, VenueOffer } from "../../machines/venue/VenueMarket.ts"
import type { VenueAccount, VenueFill } from "../../machines/venue/venueObjects.ts"

/**
 * There is no certain answer: not reached, cut off, too late, or nothing that can be read. A write that fails so may have
 * been executed; only its ref says (A2-26).
 */
export class VenueUnanswered extends Schema.TaggedError<VenueUnanswered>()("VenueUnanswered", {
  reason: Schema.String
}) {}

/** The reason of an answer whose members are not those of its schema. */
export const unreadableAnswer = "an answer that can't be read"

/** The answer of a service that no venue is attached to. */
export const noVenue = new VenueUnanswered({ reason: "this service has no venue" })

/** The venue does not keep events this far back. */
export class VenueEventsGone extends Schema.TaggedError<VenueEventsGone>()("VenueEventsGone", {
  after: Schema.Number
}) {}

/** A line of a stream that could not be read as what it should be; its bytes go to quarantine (A2-115). */
export interface UnreadableLine {
  readonly unreadable: string
  readonly reason: string
  /** Its number and account, where these at least can be read. */
  readonly number: number | null
  readonly account: string | null
}

/** An event, or an unreadable line, of another service's account: its number alone is of use here. */
export interface ForeignEvent {
  readonly foreign: true
  /** Null where it can't be read. */
  readonly number: number | null
}

export interface Subscription {
  readonly channel: Channel
  readonly symbol: string
}

export interface KlineWindow {
  readonly symbol: string
  readonly interval: KlineInterval
  /** Unix ms; null: not bounded. */
  readonly from: number | null
  readonly to: number | null
  readonly limit: number
}

/** Elements of an answer that can't be read, as JSON: the others stand (A2-115). */
export interface Unreadable {
  readonly unreadable?: ReadonlyArray<string>
}

export interface VenueBoard extends Unreadable {
  readonly offers: ReadonlyArray<VenueOffer>
  readonly at: number
}

/** Events of an account that come in one answer. */
export const accountEventsAtMost = 1_000

export interface VenueShape {
  readonly listing: Effect.Effect<VenueListing & Unreadable, VenueUnanswered>
  readonly offers: Effect.Effect<VenueBoard, VenueUnanswered>
  /** Business time at the venue. */
  readonly clock: Effect.Effect<number, VenueUnanswered>
  snapshot(subscription: Subscription): Effect.Effect<ChannelMessage, VenueUnanswered>
  klines(window: KlineWindow): Effect.Effect<KlinePage, VenueUnanswered>
  /** Null: the venue has no such account. */
  account(account: string): Effect.Effect<VenueAccount | null, VenueUnanswered>
  /**
   * Of one account, after a sequence of its own, at most 1,000, as far back as the venue keeps them. One that can't be read
   * stands in its place.
   */
  accountEvents(
    account: string,
    after: number
  ): Effect.Effect<ReadonlyArray<VenueEvent | UnreadableLine>, VenueUnanswered>
  /**
   * Every fill that the venue has of one order, oldest first, at most 10,000: what a stream has lost is found here, and a sum
   * below the order's filled quantity says that the venue has forgotten some (A2-96). Null: it knows no such order.
   */
  orderFills(ref: string): Effect.Effect<ReadonlyArray<VenueFill> | null, VenueUnanswered>
  /** At most 500 refs; the answers in the order of the refs. */
  lookup(refs: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<VenueOutcome>, VenueUnanswered>
  /** As `lookup`, but what has not come is void from now on. */
  voidRefs(refs: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<VenueOutcome>, VenueUnanswered>
  /** One call; the venue executes its ref at most once. */
  write<Name extends VenueCallName>(
    name: Name,
    request: VenueRequest<Name>
  ): Effect.Effect<VenueOutcome, VenueUnanswered>
  /** Every event after a number, then those that come; a heartbeat first and every second. Ends with the connection. */
  events(
    after: number
  ): Stream.Stream<VenueEvent | VenueHeartbeat | UnreadableLine | ForeignEvent, VenueUnanswered | VenueEventsGone>
  /** A snapshot of each subscription, then what changes, with a heartbeat every second. Ends with the connection. */
  marketData(
    subscriptions: ReadonlyArray<Subscription>
  ): Stream.Stream<ChannelMessage | VenueHeartbeat | UnreadableLine, VenueUnanswered>
}

export class Venue extends Context.Service<Venue, VenueShape>()("brokerage/runtime/ports/Venue") {}
