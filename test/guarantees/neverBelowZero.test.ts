/**
 * A retail client never ends below zero: a loss beyond its money is written off once, to exactly zero, whatever happens
 * at the same time as the close-out; and an account that has recovered is not closed out (F9, F10).
 */
import { assert, describe, it } from "@effect/vitest"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { ofClient, query } from "../support/Builders.ts"
import { closeOutBooks } from "../crash/closeOutBooks.ts"
import { orderSteps, orderVenue, spot } from "../support/orderSteps.ts"
import { perp } from "../support/perpVenue.ts"
import { openScenario } from "../support/Scenario.ts"

const world = orderVenue()
const { service, key, call, report, cash, rowOf } = await openScenario({ layerVenue: world.layerVenue })
const { trader, place, limit, read, poll } = orderSteps(service, key, { call, report })
const books = closeOutBooks({ query: (text) => query(service, text) })

const high = async (): Promise<void> => {
  world.price("60000")
  for (const symbol of [perp, spot]) world.book(symbol, "5")
}
/** A client with a long of this quantity from 60,000. */
const holder = async (money: string, qty: string): Promise<number> => {
  const clientId = await trader(money)
  const bought = await poll(
    () => place(clientId, { symbol: perp, side: "BUY", type: "MARKET", qty }),
    ({ status }) => status === 200
  )
  assert.deepInclude(bought.json, { state: "FILLED" }, bought.text)
  return clientId
}
const episodesOf = (clientId: number) => ofClient(service, "closeOuts", clientId)
/** Waits until no episode is live and the recorded state requires none. */
const settled = async (clientId: number): Promise<void> => {
  await poll(
    async () => [await rowOf(clientId), await episodesOf(clientId)] as const,
    ([row, all]) => row.riskState !== "CLOSE_OUT" && all.every(({ state }) => state === "DONE")
  )
}

/** The open positions, the rest of 0.1, and the quantity that close-outs have closed. */
const heldAndClosed = async (clientId: number) => {
  const { positions } = await read(clientId, "/positions")
  const { orders } = await read(clientId, "/orders?limit=500")
  const closed = orders
    .filter(({ origin }: { readonly origin: string }) => origin === "CLOSE_OUT")
    .reduce((sum: number, { filledQty }: { readonly filledQty: string }) => sum + Number(filledQty), 0)
  return { positions, left: Number(positions[0]?.netQty ?? "0.0000"), closed }
}

describe("F10: a retail client", () => {
  it("a mark that falls by 40 % in one tick: all positions are closed, the shortfall is written off once, to exactly zero", async () => {
    await high()
    const clients: Array<number> = []
    for (const [money, qty] of [
      ["700.00", "0.1"],
      ["1000.00", "0.15"],
      ["1000.00", "0.1"],
      ["5000.00", "0.1"]
    ] as const)
      clients.push(await holder(money, qty))
    // The hold of a purchase that is being cancelled is released before any write-off.
    const [, , third = 0] = clients
    const bid = await place(third, limit("BUY", "0.002", "57000", { symbol: spot }))
    assert.strictEqual(bid.status, 200, bid.text)
    world.price("36000")
    for (const clientId of clients.slice(0, 3)) {
      // Before the service has processed the mark, the account looks as settled as afterwards.
      await poll(
        () => episodesOf(clientId),
        ({ length }) => length > 0
      )
      await settled(clientId)
      assert.strictEqual(await cash(clientId), "0.000000")
      assert.deepStrictEqual((await read(clientId, "/positions")).positions, [])
      const [episode, ...others] = await episodesOf(clientId)
      assert.deepStrictEqual(others, [])
      const { postings } = (await read(clientId, "/ledger?limit=50")).data
      const writeOffs = postings.filter(({ type }: { readonly type: string }) => type === "NBP_WRITEOFF")
      assert.deepStrictEqual(
        writeOffs.map(({ amount }: { readonly amount: string }) => amount),
        [episode?.context.writtenOff]
      )
    }
    // 2,400 of 5,000: this account never lacked margin.
    const [, , , rich = 0] = clients
    assert.deepStrictEqual(await episodesOf(rich), [])
    assert.deepInclude(await rowOf(rich), { riskState: "NORMAL", lifecycleState: "ACTIVE" })
    await books.hold("a gap of 40 %")
  }, 120_000)

  it("deposits, withdrawals and changes of leverage race the close-out: cash never ends below zero, and a cured account closes nothing", async () => {
    const random = new SeededRandom(16)
    const seen = { closed: 0, kept: 0 }
    for (let round = 0; round < 12; round++) {
      await high()
      const clientId = await holder("700.00", "0.1")
      const to = ["55000", "54000", "52000"][random.between(0, 2)] ?? "55000"
      const acts = [
        () => report(clientId, { amount: `${random.between(1, 6) * 100}.00` }),
        () => report(clientId, { direction: "WITHDRAWAL", amount: "20.00" }),
        () => call("PUT", clientId, "/leverage", { symbol: perp, leverage: random.between(2, 9), force: true }),
        async () => world.price(to)
      ]
      const order: typeof acts = []
      while (acts.length > 0) order.push(...acts.splice(random.between(0, acts.length - 1), 1))
      await Promise.all(order.map((act) => act()))
      await settled(clientId)
      const about = `round ${round}, to ${to}`
      // The service may process the mark only now, so positions and orders must be read at one moment.
      const { positions, left, closed } = await poll(
        () => heldAndClosed(clientId),
        (seen) => Math.abs(seen.closed + seen.left - 0.1) < 1e-9
      )
      assert.isAtLeast(left, 0, about)
      if (positions.length === 0) assert.isAtLeast(Number(await cash(clientId)), 0, about)
      if (closed > 0) seen.closed++
      if (positions.length > 0) seen.kept++
      await books.hold(about)
    }
    assert.isAbove(seen.closed, 0)
    assert.isAbove(seen.kept, 0)
  }, 240_000)
})
