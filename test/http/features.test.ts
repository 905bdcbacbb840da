/**
 * The checks that bind a feature to its contract: the compiler checks its handlers, and the start of the dispatcher
 * checks what types can't express (doc 1, Endpoints).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { created, ok } from "../../src/http/api/Envelope.ts"
import { pathId } from "../../src/http/api/Parameters.ts"
import { RouteRules } from "../../src/http/api/RouteRules.ts"
import { handlersByOperation } from "../../src/http/handlers/handlersByOperation.ts"
import { feature, handlersOf, type Served } from "../../src/http/handlers/feature.ts"
import { done, write } from "../../src/http/handlers/handler.ts"
import { renderSuccess } from "../../src/http/middleware/answers.ts"
import { RouteTable } from "../../src/http/middleware/routes.ts"
import { accept } from "../../src/machines/shared/Refusal.ts"
import type { PartnerPrincipal } from "../../src/runtime/services/partners/Principal.ts"

const order = Schema.Struct({ orderId: Schema.Int, symbol: Schema.String })
const capped = { idempotent: true, reliance: false, bodyCap: 1_024 } as const

class OrdersApi extends HttpApiGroup.make("orders").add(
  HttpApiEndpoint.get("get", "/orders/:orderId", {
    params: { orderId: pathId("The order's id.") },
    success: ok(order)
  }),
  HttpApiEndpoint.post("place", "/orders", { success: [created(order), ok(order)] }).annotate(RouteRules, capped)
) {}

const placed = { orderId: 7, symbol: "BTC" }

describe("the compiler holds handlers to their endpoints", () => {
  it("accepts handlers of exactly the endpoints of the contract", () => {
    const handlers = handlersOf(OrdersApi, {
      get: ({ params }) => Effect.succeed(done({ orderId: params.orderId, symbol: "BTC" })),
      place: write(() => Effect.succeed(accept(placed)))
    })
    assert.deepStrictEqual(Object.keys(handlers), ["get", "place"])
    const wrong = [
      // @ts-expect-error the symbol is missing
      () => handlersOf(OrdersApi, { ...handlers, get: () => Effect.succeed(done({ orderId: 7 })) }),
      // @ts-expect-error an id is a number
      () => handlersOf(OrdersApi, { ...handlers, get: () => Effect.succeed(done({ orderId: "7", symbol: "BTC" })) }),
      // @ts-expect-error the path has no such parameter
      () => handlersOf(OrdersApi, { ...handlers, get: ({ params: { rfqId } }) => Effect.succeed(done(rfqId)) }),
      // @ts-expect-error the service behind a write answers something else
      () => handlersOf(OrdersApi, { ...handlers, place: write(() => Effect.succeed(accept({ orderId: 7 }))) }),
      // @ts-expect-error an endpoint has no handler
      () => handlersOf(OrdersApi, { get: handlers.get })
    ]
    assert.lengthOf(wrong, 5)
  })
})

const startOf = (served: Served<PartnerPrincipal, never>) =>
  Effect.runSync(Effect.exit(handlersByOperation([served], new RouteTable("/partner/v1", [served.api]))))

const diesWith = (served: Served<PartnerPrincipal, never>, sentence: string): void => {
  const exit = startOf(served)
  assert.isTrue(Exit.isFailure(exit))
  assert.include(String(Exit.isFailure(exit) ? exit.cause : ""), sentence)
}

describe("a contract that is not served whole does not start", () => {
  it("a route without handler", () =>
    diesWith({ api: OrdersApi, handlers: Effect.succeed({}) }, "orders.get has no handler"))

  it("a write without a body cap", () => {
    class Uncapped extends HttpApiGroup.make("uncapped").add(
      HttpApiEndpoint.post("place", "/orders", { success: ok(order) })
    ) {}
    const handlers = handlersOf(Uncapped, { place: write(() => Effect.succeed(accept(placed))) })
    diesWith(
      feature({ api: Uncapped, layer: Layer.empty, handlers: Effect.succeed(handlers) }),
      "uncapped.place has no body cap"
    )
  })

  it("A1-51: a write that answers bytes, which no key could replay", () => {
    class Bytes extends HttpApiGroup.make("bytes").add(
      HttpApiEndpoint.post("make", "/statements", {
        success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/pdf" }))
      }).annotate(RouteRules, capped)
    ) {}
    const handlers = handlersOf(Bytes, { make: write(() => Effect.succeed(accept(new Uint8Array()))) })
    diesWith(
      feature({ api: Bytes, layer: Layer.empty, handlers: Effect.succeed(handlers) }),
      "bytes.make writes and answers no JSON"
    )
  })

  it("a parameter of a path without a schema", () => {
    class Unread extends HttpApiGroup.make("unread").add(
      HttpApiEndpoint.get("get", "/orders/:orderId", { success: ok(order) })
    ) {}
    assert.throws(() => new RouteTable("/partner/v1", [Unread]), "unread.get has no schema for its parameter orderId")
  })
})

describe("doc 1, Envelope: the contract declares the form of a success", () => {
  const [get, place] = new RouteTable("/partner/v1", [OrdersApi]).routes

  it("a single status belongs to the answer; of several the handler names one that exists", () => {
    assert.deepStrictEqual(get && renderSuccess(get.form, placed, null), {
      status: 200,
      body: '{"code":0,"data":{"orderId":7,"symbol":"BTC"}}'
    })
    assert.deepInclude(place && renderSuccess(place.form, placed, 201), { status: 201 })
    assert.throws(() => place && renderSuccess(place.form, placed, null), "no status")
    assert.throws(() => place && renderSuccess(place.form, placed, 202), "no status 202")
  })
})
