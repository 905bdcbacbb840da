/**
 * Preview and explain of an order give the verdict and the sentence of placing it, and they write nothing (A2-91,
 * A2-49), for every order and every state of the account.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { ofClient } from "../support/Builders.ts"
import { orderSteps, orderVenue, spot } from "../support/orderSteps.ts"
import { perp } from "../support/perpVenue.ts"
import { openScenario } from "../support/Scenario.ts"
import { holdVenueBooks } from "../support/venueBooks.ts"

const world = orderVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
holdVenueBooks(service, () => world.venue.ledger())
const { trader, place, cancel, until, placed, limit } = orderSteps(service, key, { call, report })

const price = fc.integer({ min: 530_000, max: 670_500 }).map((ticks) => (ticks / 10).toFixed(1))
const qty = fc.oneof(
  fc.integer({ min: 1, max: 3_000 }).map((lots) => (lots / 10_000).toFixed(4)),
  fc.constantFrom("0.00001", "1000000")
)
const side = fc.constantFrom("BUY", "SELL")
const resting = fc.record({
  symbol: fc.constantFrom(perp, perp, spot),
  side,
  type: fc.constant("LIMIT"),
  qty,
  price,
  tif: fc.constantFrom("GTC", "IOC", "FOK", "POST_ONLY")
})
const marketed = fc.record({ symbol: fc.constantFrom(perp, spot), side, type: fc.constant("MARKET"), qty })
const reducing = fc.record({
  symbol: fc.constant(perp),
  side,
  type: fc.constant("LIMIT"),
  qty,
  price,
  reduceOnly: fc.constant(true)
})
const conditional = fc.record({
  symbol: fc.constant(perp),
  side,
  type: fc.constantFrom("STOP_MARKET", "TAKE_PROFIT_MARKET"),
  qty,
  tif: fc.constantFrom("GTC", "IOC", "FOK", "POST_ONLY"),
  reduceOnly: fc.boolean(),
  trigger: fc.record({
    source: fc.constantFrom("MARK", "LAST", "INDEX"),
    price,
    direction: fc.constantFrom("AT_OR_ABOVE", "AT_OR_BELOW")
  })
})
const protectedAtMarket = fc.record({
  symbol: fc.constant(perp),
  side: fc.constant("BUY"),
  type: fc.constant("MARKET"),
  qty: fc.constant("0.0010"),
  attach: fc.record({
    takeProfit: fc.record({
      price: fc.constant("63000.0"),
      limitPrice: fc.constantFrom("60000.0", "69300.0", "69300.1")
    }),
    stopLoss: fc.record({ price: fc.constant("57000.0"), limitPrice: fc.constantFrom("55000.0", "62700.0", "62700.1") })
  })
})

describe("A2-91: preview, explain and order", () => {
  it("agree in verdict and sentence, and preview and explain write nothing", async () => {
    const [clientId, other] = [await trader("2000.00"), await trader("2000.00")]
    // A position, so that an order can reduce it.
    await placed(other, limit("SELL", "0.02", "60000"))
    const long = await placed(clientId, limit("BUY", "0.02", "60000"))
    await until(clientId, long, ({ state }) => state === "FILLED")
    const count = async () => (await ofClient(service, "orders", clientId)).length
    let taken = 0
    let refused = 0
    await fc.assert(
      fc.asyncProperty(fc.oneof(resting, marketed, reducing, conditional, protectedAtMarket), async (body) => {
        const before = await count()
        const preview = await call("POST", clientId, "/margin/preview", body)
        const explained = (await call("POST", clientId, "/orders/explain", body)).json.data
        assert.strictEqual(await count(), before)
        const answer = await place(clientId, body)
        const stored = answer.json.orderId !== null && answer.json.orderId !== undefined
        assert.strictEqual(explained.outcome, stored ? "ACCEPTED" : "REFUSED", `${explained.sentence} ${answer.text}`)
        assert.strictEqual(await count(), before + (stored ? 1 : 0))
        assert.notInclude(answer.text, "price outside the band")
        if (preview.status === 200) assert.strictEqual(preview.json.accepted, stored, preview.text)
        else assert.isFalse(stored, preview.text)
        if (!stored) {
          refused++
          assert.strictEqual(explained.sentence, answer.json.msg)
          const reason = preview.status === 200 ? preview.json.reason : preview.json.msg
          assert.strictEqual(reason, answer.json.msg)
          return
        }
        taken++
        // Two of three orders stay, so that later orders are checked with them.
        if (taken % 3 === 0) await cancel(clientId, answer.json.orderId)
      }),
      { numRuns: 60 }
    )
    assert.isAbove(taken, 0)
    assert.isAbove(refused, 0)
  }, 120_000)
})
