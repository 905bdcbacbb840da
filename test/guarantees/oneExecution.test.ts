/**
 * However the venue's answers are lost, one order is executed once and one Idempotency-Key makes one order. The hold of
 * an order that the venue never received is released (A1-51, A1-53, A2-92, D6).
 */
import { assert, describe, it } from "@effect/vitest"
import { notReached, ofClient, query } from "../support/Builders.ts"
import { orderSteps, orderVenue } from "../support/orderSteps.ts"
import { openScenario } from "../support/Scenario.ts"
import { startService } from "../support/Service.ts"
import { holdVenueBooks } from "../support/venueBooks.ts"

const world = orderVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
holdVenueBooks(service, () => world.venue.ledger())
const { trader, placed, place, limit, until, read, cancel, orderOf, idle } = orderSteps(service, key, { call, report })

const keyed = (clientId: number) => ({ "Idempotency-Key": `order-${clientId}` })

/** A client, and another one that sells it 0.01 at 60,000. */
const offered = async () => {
  const [clientId, seller] = [await trader(), await trader()]
  await placed(seller, limit("SELL", "0.01", "60000"))
  return clientId
}
const bid = limit("BUY", "0.01", "60000")

const assertExecutedOnce = async (clientId: number, orderId: number): Promise<void> => {
  await until(clientId, orderId, ({ state }) => state === "FILLED")
  await idle()
  assert.strictEqual(world.venue.executions(`O-${orderId}`), 1)
  assert.strictEqual((await ofClient(service, "orders", clientId)).length, 1)
  assert.strictEqual((await ofClient(service, "fills", clientId)).length, 1)
  assert.deepInclude((await read(clientId, "/positions")).positions[0], { netQty: "0.0100" })
}

describe("A1-51: one key, one order, one execution", () => {
  it("the venue executes and its answer is lost: retries get the first answer, the trade is booked once", async () => {
    const clientId = await offered()
    world.failing((name) => (name === "placeOrder" ? { lost: "after" } : {}))
    const first = await place(clientId, bid, keyed(clientId))
    assert.include([200, 502], first.status, first.text)
    const again = await place(clientId, bid, keyed(clientId))
    world.failing(() => ({}))
    assert.strictEqual(again.text, first.text)
    assert.strictEqual(again.headers["idempotency-replayed"], "true")
    const orderId = first.status === 200 ? first.json.orderId : first.json.data.orderId
    await assertExecutedOnce(clientId, orderId)
  }, 60_000)

  it("ten concurrent requests under one key are one order, while the venue is slow", async () => {
    const clientId = await offered()
    world.failing((name) => (name === "placeOrder" ? { toVenue: 50, toCaller: 50 } : {}))
    const answers = await Promise.all(Array.from({ length: 10 }, () => place(clientId, bid, keyed(clientId))))
    world.failing(() => ({}))
    const taken = answers.filter(({ status }) => status === 200)
    for (const { status, text } of answers) assert.include([200, 409], status, text)
    assert.strictEqual(new Set(taken.map(({ text }) => text)).size, 1)
    await assertExecutedOnce(clientId, taken[0]?.json.orderId)
  }, 60_000)

  it("A2-26: the call never reaches the venue: 502 stored under its key, no hold stays, and a new key executes", async () => {
    const clientId = await trader()
    world.failing((name) => (name === "placeOrder" ? { lost: "before" } : {}))
    const first = await place(clientId, bid, keyed(clientId))
    const [row] = await ofClient(service, "orders", clientId)
    const orderId = row?.id ?? assert.fail("no order")
    assert.deepStrictEqual(
      [first.status, first.json],
      [502, notReached({ orderId, clOrdId: `O-${orderId}`, state: "REJECTED" })]
    )
    world.failing(() => ({}))
    assert.strictEqual((await place(clientId, bid, keyed(clientId))).text, first.text)
    await idle()
    assert.strictEqual(world.venue.executions(`O-${orderId}`), 0)
    assert.strictEqual((await orderOf(clientId, orderId)).reject, "not found at the venue")
    assert.deepInclude(await read(clientId, "/margin"), { openOrders: 0, freeMargin: "1000.000000" })
    assert.strictEqual(
      (await place(clientId, bid, { "Idempotency-Key": `${keyed(clientId)["Idempotency-Key"]}-2` })).status,
      200
    )
  }, 90_000)

  it("a cancel whose answer is lost ends the order once; the next cancel reports it", async () => {
    const clientId = await trader()
    const orderId = await placed(clientId, bid)
    world.failing((name) => (name === "cancelOrder" ? { lost: "after" } : {}))
    const { status, text } = await cancel(clientId, orderId)
    world.failing(() => ({}))
    assert.include([200, 502], status, text)
    await until(clientId, orderId, ({ state }) => state === "CANCELLED")
    assert.strictEqual((await cancel(clientId, orderId)).status, 400)
    await idle()
    assert.strictEqual(world.venue.came.get(`O-${orderId}-c1`), 1)
  }, 60_000)

  it("A1-53: a key whose first process died without an answer gets its order, in any state of the market by then", async () => {
    const clientId = await trader()
    const first = await place(clientId, bid, keyed(clientId))
    await query(
      service,
      `WITH lost AS (DELETE FROM answers WHERE key = $1 RETURNING principal, key, fingerprint, answered_at)
       INSERT INTO claims (name, owner)
       SELECT format('request:%s:%s', principal, key), ${first.json.orderId} FROM lost UNION ALL
       SELECT format('request:%s:%s %s', principal, key, fingerprint), answered_at FROM lost`,
      [keyed(clientId)["Idempotency-Key"]]
    )
    // The next process reaches no venue, and knows no market.
    const next = await startService({ database: service.database })
    try {
      const path = `/partner/v1/clients/${clientId}/orders`
      const unkeyed = await next.call("POST", path, { key, body: bid })
      assert.strictEqual(unkeyed.status, 503, unkeyed.text)
      const again = await next.call("POST", path, { key, body: bid, headers: keyed(clientId) })
      assert.deepStrictEqual([again.status, again.json], [200, first.json], again.text)
    } finally {
      await next.stop()
    }
  }, 60_000)
})
