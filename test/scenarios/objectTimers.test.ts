/**
 * Each timer of a client's objects fires at its time, also in the process that takes over (D4, D7; A2-26): the window
 * of a request whose end at the venue is lost, and the next attempt to place a refused leg.
 */
import { afterAll, assert, it } from "@effect/vitest"
import { expectLog } from "../support/expectLog.ts"
import { brokenInvariants, get, query } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { orderSteps, orderVenue } from "../support/orderSteps.ts"
import { perp } from "../support/perpVenue.ts"
import { type Service, startService } from "../support/Service.ts"
import { stepsOf } from "../support/steps.ts"

const world = contractVenue()
const lives: Array<Service> = []
afterAll(async () => {
  for (const life of lives.toReversed()) await life.stop()
})

it("D4: windows of requests elapse after a restart, each its own", async () => {
  const first = await startService({ layerVenue: world.layerVenue })
  lives.push(first)
  const { key } = await first.partner()
  const before = contractSteps(first, key, stepsOf(first, key))
  const clientId = await before.trader()
  const request = async (expiresInMs: number): Promise<number> =>
    (await before.post(clientId, "/rfq", before.rfqBody({ autoAccept: false, expiresInMs }))).json.data.rfqId
  const [short, long] = [await request(1_500), await request(600_000)]
  assert.deepStrictEqual(
    (
      await query<{ readonly name: string }>(
        first,
        "SELECT name FROM timers WHERE name LIKE 'rfq.window:%' ORDER BY name"
      )
    ).map(({ name }) => name),
    [`rfq.window:${short}`, `rfq.window:${long}`].toSorted()
  )
  // The venue ends the short one too, and its event is lost.
  world.hide("events")
  const second = await startService({ database: first.database, layerVenue: world.layerVenue })
  lives.push(second)
  const after = contractSteps(second, key, stepsOf(second, key))
  await after.until(clientId, short, ({ state }) => state === "EXPIRED")
  assert.deepInclude(await after.rfqOf(clientId, long), { state: "OPEN" })
  const { items } = (await get(second, key, `/clients/${clientId}/notifications`)).json.data
  assert.deepStrictEqual(
    items
      .filter(({ kind }: { readonly kind: string }) => kind === "RFQ_EXPIRED")
      .map(({ ref }: { readonly ref: string }) => ref),
    [String(short)]
  )
  world.hide(false)
  assert.deepStrictEqual(await brokenInvariants(second), [])
}, 40_000)

it("D7: a leg that the venue refused is placed again after a restart, and the partner gets one notice", async () => {
  const venue = orderVenue()
  let orders = 0
  let isRefusing = true
  venue.failing((asked) => (asked === "placeOrder" && ++orders > 2 && isRefusing ? { refused: "too busy" } : {}))
  expectLog(
    /^\[.*\] ERROR .*: the venue refused a leg that protects a position: the service places the leg again \{[^}]*\}$/s
  )
  const first = await startService({ layerVenue: venue.layerVenue })
  lives.push(first)
  const { key } = await first.partner()
  const before = orderSteps(first, key, stepsOf(first, key))
  const [anna, ben] = [await before.trader(), await before.trader()]
  await before.placed(ben, before.limit("SELL", "0.05", "60000"))
  const attach = { stopLoss: { price: "59000" } }
  const parent = await before.placed(anna, { symbol: perp, side: "BUY", type: "MARKET", qty: "0.05", attach })
  const refused = "stop loss not placed, attempt 2: too busy; it is placed again"
  const shown = await before.until(anna, parent, ({ note }) => note === refused)
  assert.lengthOf(shown.attach.legs, 1)
  assert.deepInclude(await before.orderOf(anna, shown.attach.legs[0]), {
    state: "REJECTED",
    reject: "too busy",
    note: "attempt 2"
  })
  const second = await startService({ database: first.database, layerVenue: venue.layerVenue })
  lives.push(second)
  isRefusing = false
  const after = orderSteps(second, key, stepsOf(second, key))
  const placed = await after.until(anna, parent, ({ note }) => note === "stop loss placed")
  assert.lengthOf(placed.attach.legs, 1)
  assert.deepInclude(await after.orderOf(anna, placed.attach.legs[0]), { state: "PENDING_TRIGGER", qty: "0.0500" })
  const { items } = (await after.read(anna, "/notifications")).data
  const kinds = items.map(({ kind }: { readonly kind: string }) => kind)
  assert.lengthOf(
    kinds.filter((kind: string) => kind === "ORDER_REJECTED"),
    1
  )
  assert.deepStrictEqual(await brokenInvariants(second), [])
}, 40_000)
