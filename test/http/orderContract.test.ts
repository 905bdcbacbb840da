/**
 * The contract of orders, positions, trades, margin previews and leverage: routes and their rules, examples and all
 * possible answers that fit the published schemas, and refusals with members of their own (doc 2, Orders, margin,
 * leverage, positions; A2-32, A2-43, A2-44, A2-49, A2-50, A2-92, A2-100, A2-106).
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, OpenApi } from "effect/http-api"
import Ajv2020 from "ajv/dist/2020.js"
import { MarginApi } from "../../src/http/api/MarginApi.ts"
import { orderExamples as examples } from "../fixtures/orderExamples.ts"
import { OrdersApi } from "../../src/http/api/OrdersApi.ts"
import { PositionsApi } from "../../src/http/api/PositionsApi.ts"
import { type Group, RouteTable } from "../../src/http/middleware/routes.ts"
import { refusingOrder, refusingPreview } from "../../src/machines/order/orderRefusals.ts"
import { defect, invalid, refusalText, toWire } from "../../src/machines/shared/wireRefusal.ts"
import { orderRejected, orderUnanswered } from "../../src/machines/order/orderAnswers.ts"
import { noFigures, previewRefusal } from "../../src/machines/order/orderPreview.ts"
import {
  LeverageWire,
  MarginPreviewWire,
  type OrderOrigin,
  orderOrigins,
  type OrderState,
  orderStates,
  OrderWire,
  PlacedWire,
  PositionHistoryItem,
  PositionWire,
  ReservationWire,
  TradeWire
} from "../../src/machines/order/OrderWire.ts"
import { bodyCaps } from "../../src/machines/shared/Limits.ts"
import { invalidWhole } from "../../src/machines/shared/RequestBody.ts"
import { notReceived } from "../../src/machines/venue/venueCalls.ts"
import { samplesOf } from "./standIn.ts"

const groups: ReadonlyArray<Group> = [OrdersApi, PositionsApi, MarginApi]
const table = new RouteTable("", groups)
const spec = OpenApi.fromApi(HttpApi.make("orders").add(OrdersApi, PositionsApi, MarginApi))
const ajv = new Ajv2020.default({ strict: false, allErrors: true })
ajv.addSchema(spec as object, "api")

/** The validator of a route's answer with this status. */
const answerOf = (operation: string, status = 200) => {
  const { method, path } = table.routes.find((route) => route.operation === operation) ?? { method: "", path: "" }
  const parts = ["paths", path.replace(/:(\w+)/g, "{$1}"), method.toLowerCase(), "responses", String(status)]
  const pointer = [...parts, "content", "application/json", "schema"].map((part) =>
    encodeURIComponent(part.replaceAll("/", "~1"))
  )
  const found = ajv.getSchema(`api#/${pointer.join("/")}`)
  if (found === undefined) throw new Error(`no schema of ${operation} ${status}`)
  return found
}

const fits = (operation: string, answer: unknown, status = 200): void => {
  const validate = answerOf(operation, status)
  assert.isTrue(validate(answer), JSON.stringify(validate.errors))
}

describe("doc 2, Orders, margin, leverage, positions: the routes", () => {
  const read = { idempotent: false, reliance: false, bodyCap: 0 }
  const of = (rules: object) => ({ idempotent: false, reliance: false, bodyCap: bodyCaps.order, ...rules })

  it("doc 2, Endpoints: exactly these, with their (K) marks and caps", () => {
    assert.deepStrictEqual<unknown>(
      table.routes.map(({ method, path, rules }) => [method, path, rules]),
      [
        ["POST", "/clients/:clientId/orders", of({ idempotent: true })],
        ["GET", "/clients/:clientId/orders", read],
        ["GET", "/clients/:clientId/orders/open", read],
        ["DELETE", "/clients/:clientId/orders/:orderId", of({ bodyless: true })],
        ["POST", "/clients/:clientId/orders/explain", of({ reads: true })],
        ["GET", "/clients/:clientId/positions", read],
        ["GET", "/clients/:clientId/trades", read],
        ["GET", "/clients/:clientId/position-history", read],
        ["GET", "/clients/:clientId/margin", read],
        ["POST", "/clients/:clientId/margin/preview", of({})],
        ["GET", "/clients/:clientId/leverage", read],
        ["PUT", "/clients/:clientId/leverage", of({ idempotent: true })],
        ["POST", "/clients/:clientId/leverage", of({ idempotent: true })]
      ]
    )
  })

  it("A1-03: bare but for the working orders and explain", () => {
    const enveloped = table.routes.filter(({ form }) => form.enveloped).map(({ operation }) => operation)
    assert.deepStrictEqual(enveloped, ["orders.open", "orders.explain"])
  })

  it("doc 2, Limits: a page has 1 to 500 rows, 100 by default; leverage belongs to a market", () => {
    const queries = table.routes
      .filter(({ query }) => query.length > 0)
      .map(({ operation, query }) => [operation, ...query.map(({ name, usual }) => [name, usual])])
    const page = [
      ["limit", 100],
      ["before", undefined]
    ]
    assert.deepStrictEqual<unknown>(queries, [
      ["orders.list", ...page],
      ["positions.trades", ...page],
      ["positions.history", ...page],
      ["margin.leverage", ["symbol", undefined]]
    ])
  })

  it("the description of every write names the data of its refusals", () => {
    for (const [path, verb, words] of [
      ["/clients/{clientId}/orders", "post", ["orderId, clOrdId and state", "{leverageSent, leverageStored}", "502"]],
      ["/clients/{clientId}/orders/{orderId}", "delete", ["502 with data {orderId, clOrdId, state}"]],
      ["/clients/{clientId}/margin/preview", "post", ["accepted false", "reason"]],
      ["/clients/{clientId}/leverage", "put", ["4090", "wouldBreach: true", "force"]],
      ["/clients/{clientId}/leverage", "post", ["4090", "wouldBreach: true", "force"]]
    ] as const) {
      const operation = spec.paths[path]?.[verb]
      for (const word of words) assert.include(operation?.description, word)
      for (const status of [400, 409, 502]) assert.property(operation?.responses, String(status))
    }
  })
})

describe("doc 2: the shapes", () => {
  it.each([
    ["orders.place", examples.placed],
    ["orders.list", examples.orders],
    ["orders.open", { code: 0, data: examples.open }],
    ["orders.cancel", examples.cancelled],
    ["orders.explain", { code: 0, data: examples.explanation }],
    ["positions.list", examples.positions],
    ["positions.trades", examples.trades],
    ["positions.history", examples.history],
    ["margin.preview", examples.preview],
    ["margin.leverage", examples.leverage],
    ["margin.chooseLeverage", examples.leverage],
    ["margin.postLeverage", examples.leverage]
  ])("%s: the example is an answer", (operation, example) => fits(operation, example))

  it("every answer that a success schema allows fits its published form", () => {
    for (const group of groups) {
      for (const endpoint of Object.values(group.endpoints).filter(HttpApiEndpoint.isHttpApiEndpoint)) {
        const operation = `${group.identifier}.${endpoint.identifier}`
        for (const schema of endpoint.success) {
          for (const sample of samplesOf(schema, operation, 25)) fits(operation, JSON.parse(JSON.stringify(sample)))
        }
      }
    }
  })

  const words = (text: string) => text.split(/[\s,]+/).toSorted()
  it.each([
    [
      "Order",
      OrderWire,
      "orderId, clOrdId, symbol, family, side, type, qty, price, state, reject, filledQty, createdAt, reduceOnly, tif, trigger, updatedAt, attach, ocoGroup, parentOrderId, parentClOrdId, origin, note, replacedBy, replaces, reservation"
    ],
    ["reservation", ReservationWire, "currency, amount, consumed, released"],
    ["place answer", PlacedWire, "orderId, clOrdId, state"],
    ["Position", PositionWire, "symbol, netQty, avgEntryPrice, netCost, realizedPnl, updatedAt"],
    [
      "Trade",
      TradeWire,
      "id, venueTradeId, orderId, clOrdId, symbol, family, side, price, qty, commission, ts, realizedPnl, notional, asset"
    ],
    ["position history", PositionHistoryItem, "id, orderId, clOrdId, symbol, side, qty, price, realizedPnl, ts"],
    ["leverage view", LeverageWire, "symbol, leverage, cap, categorization, chosen"],
    [
      "margin preview",
      MarginPreviewWire,
      "accepted, reason, reservation, orderValue, marginRequired, leverage, freeMarginBefore, freeMarginAfter, marginLevelAfter, estLiquidationPrice, equityBefore, initialMarginBefore, initialMarginAfter, estimatedCommission, slippageAllowance, estimatedCosts"
    ]
  ])("%s: exactly the documented members", (_, schema: { readonly fields: object }, documented) => {
    assert.deepStrictEqual(Object.keys(schema.fields).toSorted(), words(documented))
  })

  it("doc 2, Order states: exactly the documented tokens", () => {
    const states: ReadonlyArray<OrderState> = [
      "CHECKED",
      "SENT",
      "ACKED",
      "PARTIAL",
      "PENDING_TRIGGER",
      "PENDING_CANCEL",
      "FILLED",
      "CANCELLED",
      "REJECTED"
    ]
    const origins: ReadonlyArray<OrderOrigin> = ["CLIENT", "CLOSE_OUT", "ATTACHED"]
    assert.deepStrictEqual<unknown>([orderStates, orderOrigins], [states, origins])
    const [, order] = examples.orders.orders
    for (const state of states) Schema.decodeUnknownSync(OrderWire)({ ...order, state })
    assert.throws(() => Schema.decodeUnknownSync(OrderWire)({ ...order, state: "NEW" }))
  })
})

describe("refusals with members of their own", () => {
  const sentence = "The free margin does not cover it."
  const nothing = { orderId: null, clOrdId: null, state: null }
  const told = (text: string) => JSON.parse(text) as Record<string, unknown>
  const bad = { code: 4000, msg: sentence, error: sentence }

  it("A2-32: the answer for an order that was not written states that, beside the fields at fault", () => {
    const wire = refusingOrder(toWire(invalidWhole("INSUFFICIENT_FREE_MARGIN", sentence)))
    assert.strictEqual(
      refusalText(wire),
      `{"code":4000,"msg":"${sentence}","error":"${sentence}","orderId":null,"clOrdId":null,"state":null,"data":{"reason":"INSUFFICIENT_FREE_MARGIN"}}`
    )
    const answer = told(refusalText(refusingOrder(invalid("INVALID_FIELDS", sentence, { qty: "Bad." }))))
    assert.deepStrictEqual(answer, { ...bad, ...nothing, data: { reason: "INVALID_FIELDS", errors: { qty: "Bad." } } })
    fits("orders.place", answer, 400)
  })

  it("A2-32: an order that was refused after it was written is named", () => {
    const refusal = orderRejected({ orderId: 7, clOrdId: "O-7" }, "insufficient liquidity")
    const answer = told(refusalText(refusingOrder(toWire(refusal))))
    const said = "The venue has refused the order: insufficient liquidity."
    assert.deepStrictEqual(answer, {
      ...bad,
      msg: said,
      error: said,
      orderId: 7,
      clOrdId: "O-7",
      state: "REJECTED",
      data: { reason: "REFUSED_BY_VENUE" }
    })
    fits("orders.place", answer, 400)
  })

  it("A2-26: an order that the venue never received is named in data, and its answer is stored", () => {
    const wire = toWire(orderRejected({ orderId: 7, clOrdId: "O-7" }, notReceived))
    assert.deepStrictEqual([wire.status, wire.code], [502, 5020])
    assert.strictEqual(wire.msg, "The venue was not reached: nothing was executed.")
    assert.isUndefined(wire.passing)
    assert.deepStrictEqual(wire.data, { reason: "VENUE_NOT_REACHED", orderId: 7, clOrdId: "O-7", state: "REJECTED" })
    assert.deepStrictEqual(refusingOrder(wire), wire)
  })

  it("A2-92: an order whose answer has not arrived is named in data, and its refusal is stored", () => {
    const wire = toWire(orderUnanswered({ orderId: 7, clOrdId: "O-7", state: "SENT" }))
    assert.deepStrictEqual([wire.status, wire.code], [502, 5020])
    assert.isUndefined(wire.passing)
    assert.deepStrictEqual(wire.data, { reason: "OUTCOME_PENDING", orderId: 7, clOrdId: "O-7", state: "SENT" })
    assert.deepStrictEqual(refusingOrder(wire), wire)
    fits("orders.place", told(refusalText(wire)), 502)
  })

  it("A2-49: a refused preview is the preview, with all figures that exist", () => {
    const figures = { ...noFigures, orderValue: "30000.000000" }
    const answer = told(
      refusalText(refusingPreview(toWire(previewRefusal(invalidWhole("INSUFFICIENT_FREE_MARGIN", sentence), figures))))
    )
    assert.deepStrictEqual(answer, {
      ...bad,
      accepted: false,
      reason: sentence,
      ...figures,
      data: { reason: "INSUFFICIENT_FREE_MARGIN" }
    })
    fits("margin.preview", answer, 400)
  })

  it("A2-49: so is one of a body that could not be read", () => {
    const answer = told(refusalText(refusingPreview(invalid("INVALID_BODY", sentence))))
    assert.deepStrictEqual(answer, {
      ...bad,
      accepted: false,
      reason: sentence,
      ...noFigures,
      data: { reason: "INVALID_BODY" }
    })
  })

  it("other refusals are like any route's", () => {
    for (const wire of [defect("x"), toWire({ _tag: "EmailTaken" })]) {
      assert.deepStrictEqual([refusingOrder(wire), refusingPreview(wire)], [wire, wire])
    }
  })

  it("A2-50, A2-51: leverage that breaches, and leverage that is another one", () => {
    const after = {
      initialMarginAfter: "1200.000000",
      maintenanceMarginAfter: "600.000000",
      freeMarginAfter: "-200.000000",
      marginLevelAfter: "83.33",
      riskStateAfter: "MARGIN_CALL"
    }
    const breach = toWire({ _tag: "MarginBreach", after })
    assert.deepStrictEqual([breach.status, breach.code], [409, 4090])
    assert.deepStrictEqual(breach.data, { reason: "WOULD_BREACH_MARGIN", wouldBreach: true, ...after })
    fits("margin.chooseLeverage", told(refusalText(breach)), 409)
    const mismatch = toWire({ _tag: "LeverageMismatch", sent: 5, stored: 10 })
    assert.deepStrictEqual([mismatch.status, mismatch.code], [409, 4091])
    assert.deepStrictEqual(mismatch.data, { leverageSent: 5, leverageStored: 10 })
    fits("orders.place", told(refusalText(mismatch)), 409)
  })
})
