/**
 * The venue as a port; no vendor is named. Queries, the numbered events with their cursor, market data, and every write that
 * trading needs. `HttpVenue` connects to a venue over HTTP, `InProcessVenue` to one in this process; both pass one conformance
 * suite (test/runtime/venue). Several services may share one venue: refs and accounts here are a service's own, and `ownNames`
 * prefixes its name to them on the way out.
 */
import { Context, type Effect, Schema, type Stream } from "effect"
import type { Channel, ChannelMessage, KlineInterval, KlinePage } from "../../machines/venue/marketData.ts"
import type { VenueCallName, VenueOutcome, VenueRequest } from "../../machines/venue/venueCalls.ts"
import type { VenueEvent, VenueHeartbeat } from "../../machines/venue/VenueEvent.ts"
import type { VenueListing, VenueOffer } from "../../machines/venue/VenueMarket.ts"
import type { VenueAccount, VenueFill } from "../../machines/venue/venueObjects.ts"

/**
 * No certain response: not reached, connection lost, timeout, or an unreadable response. A write that fails so may have been
 * executed; only a query of its ref shows it (A2-26).
 */
export class VenueUnanswered extends Schema.TaggedError<VenueUnanswered>()("VenueUnanswered", {
  reason: Schema.String
}) {}

/** The reason of a response that does not match its schema. */
export const unreadableAnswer = "an answer that can't be read"

/** The error of a service without a venue. */
export const noVenue = new VenueUnanswered({ reason: "this service has no venue" })

/** The venue no longer keeps events of this age. */
export class VenueEventsGone extends Schema.TaggedError<VenueEventsGone>()("VenueEventsGone", {
  after: Schema.Number
}) {}

/** A line of a stream that could not be decoded; its bytes go to quarantine (A2-115). */
export interface UnreadableLine {
  readonly unreadable: string
  readonly reason: string
  /** The number and the account of the message; null where unreadable. */
  readonly number: number | null
  readonly account: string | null
}

/** An event, or an unreadable line, of another service's account: only its number matters here. */
export interface ForeignEvent {
  readonly foreign: true
  /** The event number; null if it can't be read. */
  readonly number: number | null
}

export interface Subscription {
  readonly channel: Channel
  readonly symbol: string
}

export interface KlineWindow {
  readonly symbol: string
  readonly interval: KlineInterval
  /** The lower bound of the period, Unix ms; null: no limit. */
  readonly from: number | null
  readonly to: number | null
  readonly limit: number
}

/** Unreadable elements of a response, as JSON; the other elements are valid (A2-115). */
export interface Unreadable {
  readonly unreadable?: ReadonlyArray<string>
}

export interface VenueBoard extends Unreadable {
  readonly offers: ReadonlyArray<VenueOffer>
  readonly at: number
}

/** The most events of an account in one response. */
export const accountEventsAtMost = 1_000

export interface VenueShape {
  readonly listing: Effect.Effect<VenueListing & Unreadable, VenueUnanswered>
  readonly offers: Effect.Effect<VenueBoard, VenueUnanswered>
  /** Business time at the venue, Unix ms. */
  readonly clock: Effect.Effect<number, VenueUnanswered>
  snapshot(subscription: Subscription): Effect.Effect<ChannelMessage, VenueUnanswered>
  klines(window: KlineWindow): Effect.Effect<KlinePage, VenueUnanswered>
  /** The account as the venue has it; null if the venue has no such account. */
  account(account: string): Effect.Effect<VenueAccount | null, VenueUnanswered>
  /**
   * Events of one account after one of its sequence numbers, at most 1,000, as far back as the venue keeps them. An unreadable
   * event keeps its position in the list.
   */
  accountEvents(
    account: string,
    after: number
  ): Effect.Effect<ReadonlyArray<VenueEvent | UnreadableLine>, VenueUnanswered>
  /**
   * Every fill that the venue has of one order, oldest first, at most 10,000. This query recovers fills that a stream has lost; a
   * sum below the order's filled quantity shows that the venue no longer keeps some (A2-96). Null: the order is unknown there.
   */
  orderFills(ref: string): Effect.Effect<ReadonlyArray<VenueFill> | null, VenueUnanswered>
  /** The outcomes of the calls with these refs, in the order of the refs; at most 500 refs. */
  lookup(refs: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<VenueOutcome>, VenueUnanswered>
  /** As `lookup`, but voids each ref that the venue has not received. The venue never executes a void ref. */
  voidRefs(refs: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<VenueOutcome>, VenueUnanswered>
  /** Sends one call to the venue, which executes the call's ref at most once. */
  write<Name extends VenueCallName>(
    name: Name,
    request: VenueRequest<Name>
  ): Effect.Effect<VenueOutcome, VenueUnanswered>
  /** Every event after a number, then new ones; a heartbeat first and every second. Ends with the connection. */
  events(
    after: number
  ): Stream.Stream<VenueEvent | VenueHeartbeat | UnreadableLine | ForeignEvent, VenueUnanswered | VenueEventsGone>
  /** A snapshot of each subscription, then its changes, with a heartbeat every second. Ends with the connection. */
  marketData(
    subscriptions: ReadonlyArray<Subscription>
  ): Stream.Stream<ChannelMessage | VenueHeartbeat | UnreadableLine, VenueUnanswered>
}

export class Venue extends Context.Service<Venue, VenueShape>()("brokerage/runtime/ports/Venue") {}
