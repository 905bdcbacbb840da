/** The venue's routes over its desk (`VenueApi`), under their faults. An unreadable request gets a refusal with a message. */
// Imported by its own path: loading the whole package takes as long as the rest of the venue and would delay each sandbox
// start.
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, SchemaIssue } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder, HttpApiMiddleware } from "effect/http-api"
import { VenueApi, VenueBadRequest, VenueClosed, VenueNotFound } from "../../../src/venue/VenueApi.ts"
import type { VenueCall } from "../core/VenueInput.ts"
import { underFaults } from "./callFaults.ts"
import type { Target } from "./Faults.ts"
import { targetOf } from "./targets.ts"
import { CommandRefused, type VenueDesk } from "./VenueDesk.ts"
import { WriterClosed } from "./VenueWriter.ts"

/** Converts unreadable requests to the venue's own refusal. */
class PlainRefusals extends HttpApiMiddleware.Service<PlainRefusals>()("simulator/venue/server/PlainRefusals", {
  error: VenueBadRequest
}) {}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Characters of a refusal's text on the wire; a longer text ends in an ellipsis. */
const longestText = 256
export const shortened = (text: string): string =>
  text.length <= longestText ? text : `${text.slice(0, longestText - 1)}…`

const layerPlainRefusals = HttpApiMiddleware.layerSchemaErrorTransform(PlainRefusals, (error) => {
  // An invalid answer is a defect of the simulator.
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.fail(error)
  const sentences = format(error.cause.issue).issues.map(({ path = [], message }) => {
    const name = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".")
    return name === "" ? message : `${name}: ${message}`
  })
  return Effect.fail(new VenueBadRequest({ message: shortened(sentences.join("; ")) }))
})

const served = VenueApi.middleware(PlainRefusals)

const marketData = (symbol: string | null = null): Target => ({ route: "market-data", symbol })
const events: Target = { route: "events", symbol: null }
const anything: Target = { route: null, symbol: null }

const notFound = (message: string) => Effect.fail(new VenueNotFound({ message }))
const found = <A>(value: A | null, message: string) => (value === null ? notFound(message) : Effect.succeed(value))

/** Converts a write's promise to an effect with the API's refusals. */
const written = <A>(write: () => Promise<A>): Effect.Effect<A, VenueBadRequest | VenueClosed> =>
  Effect.catch(
    Effect.tryPromise({ try: write, catch: (error) => error }),
    (error): Effect.Effect<never, VenueBadRequest | VenueClosed> => {
      if (error instanceof WriterClosed) return Effect.fail(new VenueClosed({ message: shortened(error.message) }))
      if (error instanceof CommandRefused)
        return Effect.fail(new VenueBadRequest({ message: shortened(error.message) }))
      return Effect.die(error)
    }
  )

const layerReads = (desk: VenueDesk) =>
  HttpApiBuilder.group(served, "reads", (handlers) => {
    const { faults } = desk
    const read = <A, E>(target: Target, run: () => Effect.Effect<A, E>) =>
      underFaults(faults, target, Effect.suspend(run))
    return handlers.handleAll({
      listing: () => read(marketData(), () => Effect.succeed(desk.venue.listing())),
      clock: () => read(anything, () => Effect.succeed({ now: desk.venue.now })),
      offers: () => read(marketData(), () => Effect.succeed({ offers: desk.venue.offers(), at: desk.venue.now })),
      snapshot: ({ params }) =>
        read(marketData(params.symbol), () => found(desk.snapshot(params), `There is no market ${params.symbol}.`)),
      klines: ({ query }) =>
        read(marketData(query.symbol), () =>
          found(
            desk.venue.klines({ ...query, from: query.from ?? null, to: query.to ?? null }),
            `There is no market ${query.symbol}.`
          )
        ),
      account: ({ params }) =>
        read(anything, () => found(desk.venue.account(params.account), "There is no such account.")),
      accountEvents: ({ params, query }) =>
        read(events, () =>
          Effect.map(
            found(
              desk.venue.accountEvents(params.account, query.after),
              "There is no such account, or it has no such event."
            ),
            (found) => ({ events: found })
          )
        ),
      orderFills: ({ params }) =>
        read(anything, () =>
          Effect.map(found(desk.orderFills(params.ref), "There is no such order."), (fills) => ({ fills }))
        ),
      lookup: ({ payload }) => read(anything, () => Effect.succeed({ outcomes: desk.lookup(payload.refs) })),
      voidRefs: ({ payload }) =>
        read(anything, () =>
          Effect.map(
            written(() => desk.voidRefs(payload.refs)),
            (outcomes) => ({ outcomes })
          )
        )
    })
  })

const layerTrading = (desk: VenueDesk) =>
  HttpApiBuilder.group(served, "trading", (handlers) => {
    const call = (request: VenueCall) => {
      const target = targetOf(desk.venue, request)
      return underFaults(
        desk.faults,
        target,
        written(() => desk.call(request, target))
      )
    }
    return handlers.handleAll({
      openAccount: ({ payload }) => call({ name: "openAccount", request: payload }),
      placeOrder: ({ payload }) => call({ name: "placeOrder", request: payload }),
      cancelOrder: ({ payload }) => call({ name: "cancelOrder", request: payload }),
      amendOrder: ({ payload }) => call({ name: "amendOrder", request: payload }),
      requestQuotes: ({ payload }) => call({ name: "requestQuotes", request: payload }),
      requestClose: ({ payload }) => call({ name: "requestClose", request: payload }),
      cancelRequest: ({ payload }) => call({ name: "cancelRequest", request: payload }),
      acceptQuote: ({ payload }) => call({ name: "acceptQuote", request: payload }),
      tearUp: ({ payload }) => call({ name: "tearUp", request: payload }),
      takeOffer: ({ payload }) => call({ name: "takeOffer", request: payload })
    })
  })

/** A tester's commands: no fault applies to them, so that every fault can be ended. */
const layerControl = (desk: VenueDesk) =>
  HttpApiBuilder.group(served, "control", (handlers) =>
    handlers.handleAll({
      show: () => Effect.sync(() => desk.show()),
      command: ({ payload }) => written(() => desk.command(payload))
    })
  )

/** The routes as one application, built in the current scope; it fails only as the router does. */
export const makeVenueApp = (desk: VenueDesk) =>
  Effect.provideService(
    HttpRouter.toHttpEffect(
      HttpApiBuilder.layer(served).pipe(
        Layer.provide([layerReads(desk), layerTrading(desk), layerControl(desk)]),
        Layer.provide(layerPlainRefusals),
        Layer.provide(NodeHttpServer.layerHttpServices)
      )
    ),
    HttpRouter.RouterConfig,
    { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }
  )
