/**
 * The answer to an order that takes liquidity if the venue's confirmation arrives separately from its trades, and the
 * answer of the call is lost (doc 2, POST .../orders; A2-92).
 */
import { assert, it } from "@effect/vitest"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { get } from "../support/Builders.ts"
import { perp } from "../support/perpVenue.ts"
import { openScenario } from "../support/Scenario.ts"

const world = contractVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
const { trader, post, poll } = contractSteps(service, key, { call, report })

/** The delay of a trade after the confirmation of its order, ms. */
const apart = 400

it.each([
  ["MARKET", {}, "FILLED"],
  ["LIMIT", { price: "60500", tif: "FOK" }, "FILLED"],
  ["LIMIT", { price: "59000", tif: "IOC" }, "CANCELLED"]
])("A2-92: %s with %o is answered %s, not with a state that it can't stay in", async (type, more, state) => {
  const clientId = await trader()
  world.venue.apply({ type: "command", command: { type: "price", symbol: perp, price: "60000", only: null } })
  await poll(
    () => get(service, key, `/ticker?symbol=${perp}`),
    ({ status, json }) => status === 200 && json.data.markPrice === "60000.0"
  )
  let said = 0
  world.failing((asked) => (asked === "placeOrder" ? { lost: "after" } : {}))
  world.delivering(({ fact }: VenueEvent) => [fact.type === "order" && said++ === 0 ? 0 : apart])
  const { status, json } = await post(clientId, "/orders", { symbol: perp, side: "BUY", type, qty: "0.01", ...more })
  world.failing(() => ({}))
  world.delivering(() => [0])
  assert.deepStrictEqual([status, json], [200, { orderId: json.orderId, clOrdId: `O-${json.orderId}`, state }])
  const { positions } = (await get(service, key, `/clients/${clientId}/positions`)).json
  assert.lengthOf(positions, state === "FILLED" ? 1 : 0)
})
