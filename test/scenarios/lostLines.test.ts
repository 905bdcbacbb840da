/** Unreadable lines of an account: a true trade of the venue that follows them is booked (A2-97). */
import { assert, it, vi } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { Venue } from "../../src/runtime/ports/Venue.ts"
import { ofClient, query } from "../support/Builders.ts"
import { expectLog } from "../support/expectLog.ts"
import { orderSteps, orderVenue } from "../support/orderSteps.ts"
import { perp } from "../support/perpVenue.ts"
import { openScenario } from "../support/Scenario.ts"

const world = orderVenue()
let lost: string | null = null
/** Makes the line of the lost order's fill unreadable. */
const spoiled = <L extends object>(line: L): L => {
  const text = JSON.stringify(line)
  if (lost === null || !text.includes(`"ref":"${lost}"`) || !text.includes('"type":"fill"')) return line
  const { number, fact } = JSON.parse(text)
  return { unreadable: text, reason: "spoiled", number, account: fact.account } as unknown as L
}
const layerVenue = Layer.effect(
  Venue,
  Effect.map(Venue, (whole) =>
    Venue.of({
      ...whole,
      events: (after) => Stream.map(whole.events(after), spoiled),
      accountEvents: (account, after) => Effect.map(whole.accountEvents(account, after), (lines) => lines.map(spoiled))
    })
  )
).pipe(Layer.provide(world.layerVenue))
const opened = await openScenario({ layerVenue })
const { service, key } = opened
const { trader, placed, limit } = orderSteps(service, key, opened)

it("A2-97: a liquidation waits for the trade whose line was lost before it", async () => {
  expectLog(/quarantined.*reason: 'spoiled'/)
  const [anna, ben] = [await trader("90000.00"), await trader("90000.00")]
  const [account] = (await query(service, `SELECT uid FROM clients WHERE id = ${anna}`)) as ReadonlyArray<{
    uid: string
  }>
  const order = await placed(anna, limit("BUY", "0.1", "60000"))
  lost = `O-${order}`
  await placed(ben, limit("SELL", "0.1", "60000"))
  const reason = "liquidation"
  world.command({ type: "execute", account: account?.uid ?? "", symbol: perp, qty: "-0.1", price: null, reason })
  const sides = async () => (await ofClient(service, "fills", anna)).map(({ side }) => side)
  await vi.waitUntil(async () => (await sides()).length === 2, { timeout: 20_000 })
  assert.deepStrictEqual(await sides(), ["BUY", "SELL"])
  const aside = await query(service, "SELECT reason FROM venue_quarantine")
  assert.notInclude(JSON.stringify(aside), "does not reduce")
})
