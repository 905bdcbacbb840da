/**
 * The venue's answer to an order carries its trades (decision 17). A false answer loses no trade and books none that
 * the venue does not have: the order ends in the venue's state.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { VenueOutcome } from "../../src/machines/venue/venueCalls.ts"
import { Venue } from "../../src/runtime/ports/Venue.ts"
import { brokenInvariants, ofClient } from "../support/Builders.ts"
import { mayLog } from "../support/expectLog.ts"
import { orderSteps, orderVenue } from "../support/orderSteps.ts"
import { openScenario } from "../support/Scenario.ts"

type Bend = (outcome: VenueOutcome) => VenueOutcome
const honest: Bend = (outcome) => outcome
let bend = honest
const world = orderVenue()
const bent = (venue: Venue["Service"]): Venue["Service"] => ({
  ...venue,
  write: (name, request) =>
    Effect.map(venue.write(name, request), (outcome) => (outcome.fills === undefined ? outcome : bend(outcome)))
})
const layerVenue = Layer.effect(Venue, Effect.map(Venue, bent)).pipe(Layer.provide(world.layerVenue))
const { service, key, call, report } = await openScenario({ layerVenue })
const { trader, placed, place, limit, poll } = orderSteps(service, key, { call, report })

const lies: ReadonlyArray<readonly [string, Bend]> = [
  [
    "covers events that do not exist yet",
    (of) => ({ ...of, events: { first: of.events?.first ?? 1, last: (of.events?.last ?? 1) + 1_000 } })
  ],
  ["has no order", (of) => ({ ...of, order: null })],
  ["refuses the order", (of) => ({ ...of, outcome: "REFUSED", reason: "no" })],
  [
    "has a price off the grid",
    (of) => ({
      ...of,
      fills: (of.fills ?? []).map((each) => ({ ...each, fill: { ...each.fill, price: "59999.98765" } }))
    })
  ]
]

describe("A2-115: an answer with trades", () => {
  const traded = async (lie: Bend) => {
    const [maker, taker] = [await trader(), await trader()]
    await placed(maker, limit("SELL", "0.01", "60000"))
    bend = lie
    await place(taker, { symbol: limit("BUY", "1", "1").symbol, side: "BUY", type: "MARKET", qty: "0.01" })
    bend = honest
    const [order] = await poll(
      () => ofClient(service, "orders", taker),
      ([found]) => found?.state === "FILLED"
    )
    const fills = await ofClient(service, "fills", taker)
    assert.deepStrictEqual(
      fills.map(({ qty, price }) => [Number(qty), Number(price)]),
      [[0.01, 60_000]]
    )
    assert.isNotNull(order?.context.venueOrderId)
    return { maker, taker }
  }

  it("books its trades and gives the order its id at the venue", () => traded(honest))

  it.each(lies)("that %s: the order ends in the venue's state, and later trades are booked", async (_, lie) => {
    mayLog(/quarantined|does not fit/)
    const { maker, taker } = await traded(lie)
    const orderId = await placed(taker, limit("BUY", "0.02", "59990"))
    await place(maker, limit("SELL", "0.02", "59990"))
    const orders = await poll(
      () => ofClient(service, "orders", taker),
      (found) => found.some(({ id, state }) => id === orderId && state === "FILLED")
    )
    assert.lengthOf(orders, 2)
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })
})
