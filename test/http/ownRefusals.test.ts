/**
 * A write whose refusals have members of their own: refusals of its service, of an unreadable body or key, and their
 * replays (doc 2, POST .../orders; A1-51, A2-32).
 */
import { assert, afterAll, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { bare } from "../../src/http/api/Envelope.ts"
import { idempotencyHeaders } from "../../src/http/api/IdempotencyKey.ts"
import { clientParams } from "../../src/http/api/Parameters.ts"
import { RouteRules } from "../../src/http/api/RouteRules.ts"
import { feature, handlersOf } from "../../src/http/handlers/feature.ts"
import { write } from "../../src/http/handlers/handler.ts"
import { refusingOrder } from "../../src/machines/order/orderRefusals.ts"
import { orderRejected } from "../../src/machines/order/orderAnswers.ts"
import { type Refusal, refuse, unknown } from "../../src/machines/shared/Refusal.ts"
import { invalidWhole } from "../../src/machines/shared/RequestBody.ts"
import { clientId } from "./canned.ts"
import { type Running, startStubServer } from "./stubServer.ts"

const placed = Schema.Struct({ orderId: Schema.Int })

class PlantedApi extends HttpApiGroup.make("planted").add(
  HttpApiEndpoint.post("place", "/clients/:clientId/planted", {
    params: clientParams,
    headers: idempotencyHeaders,
    success: bare(placed)
  }).annotate(RouteRules, { idempotent: true, reliance: false, bodyCap: 1_024 })
) {}

let refusal: Refusal = invalidWhole("ORDER_ENDED", "No.")
let runs = 0
const planted = feature({
  api: PlantedApi,
  layer: Layer.empty,
  handlers: Effect.succeed(
    handlersOf(PlantedApi, {
      place: write(() => Effect.sync(() => (runs++, refuse(refusal))), { refusing: refusingOrder })
    })
  )
})

let server: Running
beforeAll(async () => {
  server = await startStubServer({ planted: [planted] })
})
afterAll(() => server.close())

const path = `/partner/v1/clients/${clientId}/planted`
const bad = (sentence: string) => ({ code: 4000, msg: sentence, error: sentence })
const nothing = { orderId: null, clOrdId: null, state: null }

describe("A2-32: refusals with members of their own", () => {
  it("of the service, and the same bytes again under its key", async () => {
    refusal = orderRejected({ orderId: 7, clOrdId: "O-7" }, "closed")
    const headers = { "idempotency-key": "one" }
    const first = await server.call("POST", path, { body: {}, headers })
    assert.strictEqual(first.status, 400)
    assert.deepStrictEqual(first.json, {
      ...bad("The venue has refused the order: closed."),
      orderId: 7,
      clOrdId: "O-7",
      state: "REJECTED",
      data: { reason: "REFUSED_BY_VENUE" }
    })
    const before = runs
    const again = await server.call("POST", path, { body: {}, headers })
    assert.deepStrictEqual([again.status, again.text, runs], [400, first.text, before])
    assert.strictEqual(again.headers["idempotency-replayed"], "true")
  })

  it("of a body that could not be read: nothing was written", async () => {
    const before = runs
    const answer = await server.call("POST", path, { raw: "{" })
    assert.strictEqual(answer.status, 400)
    const { msg } = answer.json as { readonly msg: string }
    assert.deepStrictEqual(answer.json, { ...bad(msg), ...nothing, data: { reason: "INVALID_BODY" } })
    assert.strictEqual(runs, before)
  })

  it("of an Idempotency-Key that can't be one: nothing was written", async () => {
    const before = runs
    for (const key of ["a b", "k".repeat(129)]) {
      const answer = await server.call("POST", path, { body: {}, headers: { "idempotency-key": key } })
      const { msg } = answer.json as { readonly msg: string }
      assert.match(msg, /^The Idempotency-Key header/)
      assert.deepStrictEqual(
        [answer.status, answer.json],
        [400, { ...bad(msg), ...nothing, data: { reason: "INVALID_IDEMPOTENCY_KEY" } }]
      )
    }
    assert.strictEqual(runs, before)
  })

  it("but not of other refusals, the client's first of all", async () => {
    refusal = unknown("Order")
    const unheard = {
      code: 4004,
      msg: "Order not found.",
      error: "Order not found.",
      data: { reason: "UNKNOWN_ORDER" }
    }
    assert.deepStrictEqual((await server.call("POST", path, { body: {} })).json, unheard)
    const nobody = await server.call("POST", "/partner/v1/clients/7/planted", { raw: "{" })
    assert.deepStrictEqual([nobody.status, Object.keys(nobody.json as object)], [404, ["code", "msg", "error", "data"]])
  })
})
