/**
 * Timers of many objects of a client end theirs, each at its time, also in the process that takes over (D4; A2-26): the window
 * of a request whose end at the venue nobody hears, while another one goes on.
 */
import { afterAll, assert, it } from "@effect/vitest"
import { brokenInvariants, get, query } from "../support/Builders.ts"
import { barrierSteps } from "../support/barrierSteps.ts"
import { barrierVenue } from "../support/barrierVenue.ts"
import { type Service, startService } from "../support/Service.ts"
import { stepsOf } from "../support/steps.ts"

const world = barrierVenue()
const lives: Array<Service> = []
afterAll(async () => {
  for (const life of lives.toReversed()) await life.stop()
})

it("D4: windows of requests elapse after a restart, each its own", async () => {
  const first = await startService({ layerVenue: world.layerVenue })
  lives.push(first)
  const { key } = await first.partner()
  const before = barrierSteps(first, key, stepsOf(first, key))
  const clientId = await before.trader()
  const request = async (expiresInMs: number): Promise<number> =>
    (await before.post(clientId, "/rfq", before.asked({ autoAccept: false, expiresInMs }))).json.data.rfqId
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
  // The venue ends the short one too, and nobody hears it.
  world.hide("events")
  const second = await startService({ database: first.database, layerVenue: world.layerVenue })
  lives.push(second)
  const after = barrierSteps(second, key, stepsOf(second, key))
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
