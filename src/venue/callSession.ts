/**
 * Calls over one open connection, as venues take orders from high-volume senders: an upgraded HTTP request, then a line of JSON
 * for each call and one for its outcome, in order of completion. A call of its own costs an HTTP request and response on each
 * side; here many calls share one write and one read of a socket. The outcome of a ref is the same either way
 * (`VenueTradingApi`).
 */
import { Schema } from "effect"
import { VenueOutcome, type VenueCall, type VenueCallName, venueRequests } from "../machines/venue/venueCalls.ts"
import { VenueText } from "../machines/venue/values.ts"

/** The path to open a session, with `Upgrade: <protocol>` and the same key as every request. */
export const callSession = { path: "/venue/v1/session", protocol: "brokerage-venue-calls" } as const

/** The most bytes of a line, in either direction. */
export const sessionLineLimit = 64 * 1024
/** The most calls of one session in flight; further calls wait in the socket. */
export const sessionCallLimit = 1_024

/** The id of a call in its session; each is used once. */
const CallId = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

const call = <Name extends VenueCallName>(name: Name) =>
  Schema.Struct({ id: CallId, name: Schema.Literal(name), request: venueRequests[name] })

/** One line of the caller: a call of the venue, under an id that is new in the session. */
export type SessionCall = { readonly id: number } & VenueCall
export const SessionCall = Schema.Union(
  (Object.keys(venueRequests) as ReadonlyArray<VenueCallName>).map(call)
) as Schema.Top as Schema.Codec<SessionCall>

/**
 * One line of the venue besides `VenueHeartbeat`, which is the first line and comes every second. `trouble`: why the outcome is
 * missing. In that case, and without any line, the call may have been executed.
 */
export const SessionAnswer = Schema.Struct({
  id: CallId,
  outcome: Schema.NullOr(VenueOutcome),
  trouble: Schema.NullOr(VenueText)
})
export type SessionAnswer = typeof SessionAnswer.Type
