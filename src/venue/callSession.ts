/**
 * Calls over one connection that stays open, as venues take orders from whoever has many: an HTTP request that is upgraded,
 * then a line of JSON for each call and one for what became of it, in whatever order they are done. A call on its own costs a
 * request and an answer of HTTP on either side; here many share one write and one read of a socket. What becomes of a ref is
 * the same either way (`VenueTradingApi`).
 */
import { Schema } from "effect"
import { VenueOutcome, venueRequests, type VenueCallName } from "../machines/venue/venueCalls.ts"
import { Words } from "../machines/venue/values.ts"

/** Where a session is opened, with `Upgrade: <protocol>` and the key as every request has it. */
export const callSession = { path: "/venue/v1/session", protocol: "brokerage-venue-calls" } as const

/** Bytes of a line at most, either way. */
export const sessionLineLimit = 64 * 1024
/** Calls of one session that are on their way at once; more wait in the socket. */
export const sessionCallLimit = 1_024

/** Names a call in its session; each is used once. */
const CallId = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

const call = <Name extends VenueCallName>(name: Name) =>
  Schema.Struct({ id: CallId, name: Schema.Literal(name), request: venueRequests[name] })

/** One line of the caller's. */
export const SessionCall = Schema.Union([
  call("openAccount"),
  call("placeOrder"),
  call("cancelOrder"),
  call("amendOrder"),
  call("requestQuotes"),
  call("requestClose"),
  call("cancelRequest"),
  call("acceptQuote"),
  call("tearUp"),
  call("takeOffer")
])
export type SessionCall = typeof SessionCall.Type

/**
 * One line of the venue's besides `VenueHeartbeat`, which is the first line and comes every second. `trouble`: why nothing is
 * said of the ref; then, or without any line, it may have been executed.
 */
export const SessionAnswer = Schema.Struct({
  id: CallId,
  outcome: Schema.NullOr(VenueOutcome),
  trouble: Schema.NullOr(Words)
})
export type SessionAnswer = typeof SessionAnswer.Type
