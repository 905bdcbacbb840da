/**
 * An account below half of its margin is closed out even if only marks change it. Orders that could open a position are
 * cancelled, reduce-only orders close the position and no more, and a position that can't be closed waits without
 * commits (F9, D23).
 */
import { assert, describe, it } from "@effect/vitest"
import { ofClient, query } from "../support/Builders.ts"
import { closeOutBooks } from "../crash/closeOutBooks.ts"
import { orderSteps, orderVenue } from "../support/orderSteps.ts"
import { perp } from "../support/perpVenue.ts"
import { progressOn, quickClock } from "../support/quickClock.ts"
import { openScenario } from "../support/Scenario.ts"

const world = orderVenue()
/** The interval of checks of the risk monitor, ms. */
const betweenLooks = 1_000
const clock = quickClock()
const { service, key, call, report, cash, rowOf } = await openScenario({
  layerVenue: world.layerVenue,
  venue: { progress: progressOn(clock) }
})
const { trader, place, limit, cancel, read, poll } = orderSteps(service, key, { call, report })
const books = closeOutBooks({ query: (text) => query(service, text) })

/** A client with 700 USDC and a long of 0.1 from 60,000, at a leverage of ten. */
const holder = async (): Promise<number> => {
  world.price("60000")
  world.book(perp, "5")
  const clientId = await trader("700.00")
  await poll(
    () => read(clientId, "/margin"),
    ({ marksFresh }) => marksFresh === true
  )
  const bought = await place(clientId, { symbol: perp, side: "BUY", type: "MARKET", qty: "0.1" })
  assert.deepInclude(bought.json, { state: "FILLED" }, bought.text)
  return clientId
}
const episodesOf = (clientId: number) => ofClient(service, "closeOuts", clientId)
const ordersOf = async (clientId: number) =>
  (await read(clientId, "/orders?limit=500")).orders as ReadonlyArray<{
    readonly orderId: number
    readonly origin: string
    readonly state: string
    readonly reduceOnly: boolean
    readonly filledQty: string
  }>
const closingOf = async (clientId: number) => (await ordersOf(clientId)).filter(({ origin }) => origin === "CLOSE_OUT")
const inState = (clientId: number, wanted: string) =>
  poll(
    () => episodesOf(clientId),
    (all) => all.at(-1)?.state === wanted
  )
const flat = (clientId: number) =>
  poll(
    () => read(clientId, "/positions"),
    ({ positions }) => positions.length === 0
  )
/** Compares the written rows of the client and its orders before and after several checks of the monitor. */
const nothingWritten = async (clientId: number): Promise<void> => {
  const written = () =>
    query(service, "SELECT count(*) AS n, max(id) AS last FROM audit WHERE client_id = $1", [BigInt(clientId)])
  const before = await written()
  await clock.rounds(betweenLooks, 4)
  assert.deepStrictEqual(await written(), before)
}

describe("F9: an account below half of its margin", () => {
  it("is closed out by a mark alone: orders that could open are cancelled, and no more than the position is closed", async () => {
    const clientId = await holder()
    const opening = await place(clientId, limit("BUY", "0.01", "57000"))
    assert.strictEqual(opening.status, 200, opening.text)
    world.price("55000")
    await flat(clientId)
    await inState(clientId, "DONE")
    const orders = await ordersOf(clientId)
    const resting = orders.find(({ orderId }) => orderId === opening.json.orderId)
    assert.notInclude(["ACKED", "PARTIAL"], resting?.state)
    const closing = orders.filter(({ origin }) => origin === "CLOSE_OUT")
    assert.isTrue(closing.every(({ reduceOnly }) => reduceOnly))
    const sum = (all: typeof orders) => all.reduce((total, { filledQty }) => total + Number(filledQty), 0)
    const bought = sum(orders.filter(({ origin }) => origin === "CLIENT"))
    assert.closeTo(sum(closing), bought, 1e-9)
    await poll(
      () => rowOf(clientId),
      ({ riskState, lifecycleState }) => riskState === "NORMAL" && lifecycleState === "ACTIVE"
    )
    await books.hold("closed out by a mark")
  }, 60_000)

  it("waits without writes while its market is halted during the episode, and continues when the market reopens", async () => {
    const clientId = await holder()
    world.book(perp, "0")
    world.price("54000")
    await inState(clientId, "WAITING_MARKET")
    world.command({ type: "halt", symbol: perp })
    await poll(
      () => read(clientId, "/positions"),
      ({ positions }) => positions[0]?.netQty === "0.1000"
    )
    await nothingWritten(clientId)
    assert.deepStrictEqual(await closingOf(clientId), [])
    world.book(perp, "5")
    world.command({ type: "resume", symbol: perp })
    await flat(clientId)
    await inState(clientId, "DONE")
    await books.hold("halted in mid-episode")
  }, 60_000)

  it("waits without a buyer; its leverage stays, the client may still close, and incoming money ends it", async () => {
    const clientId = await holder()
    world.book(perp, "0")
    world.price("55000")
    await inState(clientId, "WAITING_MARKET")
    await nothingWritten(clientId)
    for (const force of [false, true]) {
      const { status } = await call("PUT", clientId, "/leverage", { symbol: perp, leverage: 5, force })
      assert.strictEqual(status, 400)
    }
    assert.strictEqual((await place(clientId, limit("BUY", "0.01", "54000"))).status, 400)
    const own = await place(clientId, limit("SELL", "0.1", "55500", { reduceOnly: true }))
    assert.strictEqual(own.status, 200, own.text)
    assert.strictEqual((await cancel(clientId, own.json.orderId)).status, 200)
    assert.strictEqual((await report(clientId, { amount: "500.00" })).status, 201)
    await inState(clientId, "DONE")
    // There is a buyer from now on.
    world.book(perp, "5")
    await nothingWritten(clientId)
    assert.deepStrictEqual(await closingOf(clientId), [])
    assert.strictEqual((await read(clientId, "/positions")).positions[0].netQty, "0.1000")
    assert.strictEqual((await episodesOf(clientId))[0]?.context.orders, 0)
    assert.isAbove(Number(await cash(clientId)), 1_000)
    await books.hold("cured by a deposit")
  }, 60_000)
})
