/**
 * The venue's API, declared once: the service's adapter is built from it, and the simulated venue serves it. Every write
 * responds with the outcome of its ref; the two streams (`venueStreams`) are open connections with lines of JSON (A2-05, A2-96,
 * A2-115, A2-26).
 */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { channels, ChannelMessage, klineIntervals, KlinePage } from "../machines/venue/marketData.ts"
import { Millis, Ref, Symbol, VenueText } from "../machines/venue/values.ts"
import { Outcomes, Refs, VenueOutcome, venueRequests } from "../machines/venue/venueCalls.ts"
import { ListingAnswer, OffersAnswer } from "../machines/venue/VenueMarket.ts"
import { OrderFills, VenueAccount } from "../machines/venue/venueObjects.ts"
import { VenueCommand, VenueCommandAnswer, VenueView } from "./VenueCommand.ts"

/** The venue refuses a request that it can't read, or that names something that it does not offer. */
export class VenueBadRequest extends Schema.TaggedError<VenueBadRequest>()(
  "VenueBadRequest",
  { message: VenueText },
  { httpApiStatus: 400 }
) {}
export class VenueNotFound extends Schema.TaggedError<VenueNotFound>()(
  "VenueNotFound",
  { message: VenueText },
  { httpApiStatus: 404 }
) {}
/** The venue's log can't be written, or the venue is stopping: nothing was done. */
export class VenueClosed extends Schema.TaggedError<VenueClosed>()(
  "VenueClosed",
  { message: VenueText },
  { httpApiStatus: 503 }
) {}

const errors = [VenueBadRequest, VenueNotFound, VenueClosed]
const text = (value: number): string => String(value)
const interval = Schema.Literals(Object.keys(klineIntervals) as [keyof typeof klineIntervals])
const count = Schema.NumberFromString.check(
  Schema.isInt(),
  Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
)
const write = <Name extends keyof typeof venueRequests, Path extends `/${string}`>(name: Name, path: Path) =>
  HttpApiEndpoint.post(name, path, { payload: venueRequests[name], success: VenueOutcome, error: errors })

export class VenueReadsApi extends HttpApiGroup.make("reads").add(
  HttpApiEndpoint.get("listing", "/listing", { success: ListingAnswer, error: errors }),
  HttpApiEndpoint.get("clock", "/clock", { success: Schema.Struct({ now: Millis }), error: errors }),
  HttpApiEndpoint.get("offers", "/offers", {
    success: OffersAnswer,
    error: errors
  }),
  HttpApiEndpoint.get("snapshot", "/market-data/:channel/:symbol", {
    params: { channel: Schema.Literals(channels), symbol: Symbol },
    success: ChannelMessage,
    error: errors
  }),
  /** Klines of one market in a window; its bounds are Unix ms. */
  HttpApiEndpoint.get("klines", "/klines", {
    query: {
      symbol: Symbol,
      interval,
      from: Schema.optional(count),
      to: Schema.optional(count),
      limit: count
    },
    success: KlinePage,
    error: errors
  }),
  HttpApiEndpoint.get("account", "/accounts/:account", {
    params: { account: Ref },
    success: VenueAccount,
    error: errors
  }),
  /**
   * Events of one account after a sequence, as far back as they are kept, oldest first, at most 1,000. They are VenueEvents,
   * parsed one by one: an unreadable one must not hide the others.
   */
  HttpApiEndpoint.get("accountEvents", "/accounts/:account/events", {
    params: { account: Ref },
    query: { after: count },
    success: Schema.Struct({ events: Schema.Array(Schema.Unknown) }),
    error: errors
  }),
  /** Every fill of one order that the venue keeps, oldest first. */
  HttpApiEndpoint.get("orderFills", "/orders/:ref/fills", {
    params: { ref: Ref },
    success: OrderFills,
    error: errors
  }),
  /**
   * The outcome of each ref as a VenueOutcome; UNKNOWN for a ref that has not arrived. Outcomes are parsed one by one too.
   */
  HttpApiEndpoint.post("lookup", "/lookups", { payload: Refs, success: Outcomes, error: errors }),
  /** The same as `lookup`, but a ref that has not arrived becomes VOID, so that the venue never executes it. */
  HttpApiEndpoint.post("voidRefs", "/voids", { payload: Refs, success: Outcomes, error: errors })
) {}

export class VenueTradingApi extends HttpApiGroup.make("trading").add(
  write("openAccount", "/accounts"),
  write("placeOrder", "/orders"),
  write("cancelOrder", "/orders/cancel"),
  write("amendOrder", "/orders/amend"),
  write("requestQuotes", "/rfqs"),
  write("requestClose", "/rfqs/close"),
  write("cancelRequest", "/rfqs/cancel"),
  write("acceptQuote", "/accepts"),
  write("tearUp", "/tear-ups"),
  write("takeOffer", "/takes")
) {}

/** Tester commands of the simulator. No real venue has them. */
export class VenueControlApi extends HttpApiGroup.make("control").add(
  HttpApiEndpoint.get("show", "/control", { success: VenueView, error: errors }),
  HttpApiEndpoint.post("command", "/control", { payload: VenueCommand, success: VenueCommandAnswer, error: errors })
) {}

export class VenueApi extends HttpApi.make("venue")
  .add(VenueReadsApi)
  .add(VenueTradingApi)
  .add(VenueControlApi)
  .prefix("/venue/v1") {}

/**
 * Streams of lines (application/x-ndjson). Every request carries the key as `Authorization: Bearer KEY`. Tickers are samples, but
 * the mark of a trigger, a touch, a settlement or a funding stamp has a ticker of its own, published before the event.
 *
 * Times of an account's events never go back, except by a correction of the venue's clock: neither the event's own time nor a
 * time that it reports first (a trade, a trigger, an end) is before an earlier event of the account. Two
 * times may be equal. Only an expiry and a funding stamp may be reported late.
 */
export const venueStreams = {
  /**
   * The lines of the event stream: a VenueHeartbeat first and every second, and one VenueEvent after the other. The answer
   * is 410 when `after` is older than the oldest kept event.
   */
  events: (after: number): string => `/venue/v1/events?after=${text(after)}`,
  /**
   * The lines of market data for `CHANNEL:SYMBOL` subscriptions: ChannelMessages, the first of each channel a snapshot, and
   * a VenueHeartbeat every second.
   */
  marketData: (subscriptions: ReadonlyArray<string>): string =>
    `/venue/v1/market-data?subscribe=${subscriptions.map(encodeURIComponent).join(",")}`
} as const
