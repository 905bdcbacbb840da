/**
 * Funding is posted once per client, market and stamp, on the position at the time of the stamp, whatever happens to
 * the venue's messages: doubled, out of order, lost, read by another process, late. Each amount equals that of the
 * venue's own books to the micro-USDC (F14).
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { fundingPayment } from "../../src/machines/funding/fundingRules.ts"
import { ofClient } from "../support/Builders.ts"
import { fundingOf, fundingVenue } from "../support/fundingVenue.ts"
import { allBut, deliveries, scattered } from "../support/deliveries.ts"
import { orderSteps } from "../support/orderSteps.ts"
import { perp } from "../support/perpVenue.ts"
import { openScenario } from "../support/Scenario.ts"
import { holdVenueBooks } from "../support/venueBooks.ts"

const world = fundingVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
holdVenueBooks(service, () => world.venue.ledger())
const { trader, place, limit, until, poll } = orderSteps(service, key, { call, report })
afterAll(() => world.delivering(() => [0]))

const price = { mark: "60000", rate: "0.0001" }
world.rate(price.rate)

/** Places an order once the venue is connected and its prices are live again. Returns the order's id. */
const placed = async (clientId: number, body: object): Promise<number> => {
  const { json } = await poll(
    () => place(clientId, body),
    ({ status }) => status === 200
  )
  return json.orderId
}

/** One client buys this quantity from the other. */
const dealt = async (maker: number, taker: number, qty: string) => {
  const orderId = await placed(maker, limit("BUY", qty, "60000"))
  await placed(taker, limit("SELL", qty, "60000", { tif: "IOC" }))
  return orderId
}

/** The amounts due for a position at some stamps, by key. */
const due = (clientId: number, qty: string, stamps: ReadonlyArray<number>): ReadonlyMap<string, bigint> =>
  new Map(stamps.map((at) => [`funding:${perp}:${at}:${clientId}`, fundingPayment(qty, price)]))

const posted = (clientId: number, expected: ReadonlyMap<string, bigint>) =>
  poll(
    () => fundingOf(service, clientId),
    (found) => found.size >= expected.size
  ).then((found) => assert.deepStrictEqual(new Map([...found].toSorted()), new Map([...expected].toSorted())))

describe("F14: each stamp once", () => {
  it.each(deliveries)(
    "the venue's messages arrive %s",
    async (_, delays) => {
      const [maker, taker] = [await trader(), await trader()]
      world.delivering(delays)
      const orderId = await dealt(maker, taker, "0.08")
      const stamps = await world.passStamps(service, 3)
      await until(maker, orderId, ({ state }) => state === "FILLED")
      await posted(maker, due(maker, "0.08", stamps))
      await posted(taker, due(taker, "-0.08", stamps))
      world.delivering(() => [0])
      assert.deepStrictEqual(await ofClient(service, "openFundings", maker), [])
    },
    120_000
  )

  it("stamps that were not received are read with their accounts, and the ledger equals the venue's books", async () => {
    const [maker, taker] = [await trader(), await trader()]
    world.hide("events")
    await dealt(maker, taker, "0.05")
    const stamps = await world.passStamps(service, 2)
    world.hide(false)
    world.venue.disconnect()
    await dealt(taker, maker, "0.05")
    await posted(maker, due(maker, "0.05", stamps))
    await posted(taker, due(taker, "-0.05", stamps))
  }, 120_000)

  it("the venue repeats the events that it has kept, and no payment is booked twice", async () => {
    const [maker, taker] = [await trader(), await trader()]
    await dealt(maker, taker, "0.03")
    const first = await world.passStamps(service, 1)
    await posted(maker, due(maker, "0.03", first))
    world.venue.restart()
    const second = await world.passStamps(service, 1)
    await posted(maker, due(maker, "0.03", [...first, ...second]))
    await posted(taker, due(taker, "-0.03", [...first, ...second]))
  }, 120_000)
})

describe("F14: random histories", () => {
  const step = fc.oneof(
    fc.record({ is: fc.constant("trade" as const), buys: fc.boolean(), lots: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ is: fc.constant("stamps" as const), count: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ is: fc.constant("loss" as const), of: fc.integer({ min: 2, max: 5 }) }),
    fc.record({ is: fc.constant("cut" as const) })
  )

  it("positions that change between stamps, with losses and cuts, are paid at each stamp as they were then", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
        const [one, other] = [await trader(), await trader()]
        let lots = 0
        const expected = { one: new Map<string, bigint>(), other: new Map<string, bigint>() }
        for (const each of steps) {
          if (each.is === "trade") {
            const qty = (each.lots / 10_000).toFixed(4)
            await (each.buys ? dealt(one, other, qty) : dealt(other, one, qty))
            lots += each.buys ? each.lots : -each.lots
          } else if (each.is === "stamps") {
            const stamps = await world.passStamps(service, each.count)
            if (lots === 0) continue
            const qty = (lots / 10_000).toFixed(4)
            for (const [name, amount] of due(one, qty, stamps)) expected.one.set(name, amount)
            for (const [name, amount] of due(other, `${-lots / 10_000}`, stamps)) expected.other.set(name, amount)
          } else if (each.is === "loss") {
            world.delivering(() => (allBut(each.of).length === 0 ? [] : [scattered(60)]))
          } else world.venue.disconnect()
        }
        world.delivering(() => [0])
        // The last event reveals that earlier ones are missing.
        await placed(one, limit("BUY", "0.001", "59500"))
        await placed(other, limit("BUY", "0.001", "59500"))
        await posted(one, expected.one)
        await posted(other, expected.other)
      }),
      { numRuns: 6 }
    )
  }, 240_000)
})
