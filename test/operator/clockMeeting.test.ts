/**
 * The clocks of a sandbox and its venue meet again, whichever of them was moved, and no message of the venue is
 * quarantined in between; outside a sandbox they never do (C4, A2-115).
 */
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { clockSlackMillis } from "../../src/machines/venue/timeChecks.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { VenueControlError } from "../../src/runtime/ports/VenueControl.ts"
import { layerVenueControlMemory } from "../../src/runtime/ports/VenueControlMemory.ts"
import { VenueMemory } from "../../src/runtime/ports/VenueMemory.ts"
import { noChange } from "../../src/venue/VenueCommand.ts"
import { query } from "../support/Builders.ts"
import { expectLog } from "../support/expectLog.ts"
import { quietVenue } from "../support/quietVenue.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

const hour = 3_600_000

const stops: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** A service at a venue whose clock runs `ahead` of wall time, with regular heartbeats. */
const opened = async (sandbox = true) => {
  const there = { ahead: 0 }
  const books = new VenueMemory({ now: () => Date.now() + there.ahead })
  const script = quietVenue()
  const service = await startOperatorService({
    layerVenue: books.layer(),
    venue: { controls: layerVenueControlMemory(script) },
    settings: { sandbox }
  })
  const beat = setInterval(() => books.send(books.heartbeat()), 50)
  stops.push(async () => {
    clearInterval(beat)
    await service.stop()
  })
  return { there, books, script, service }
}
const offset = (service: OperatorService): Promise<number> =>
  service.run(Effect.map(BusinessClock, (clock) => clock.offset()))
const closeTo = (value: number, expected: number): void => assert.isBelow(Math.abs(value - expected), 10_000)
const eventually = (assertion: () => Promise<void>) => vi.waitFor(assertion, { timeout: 20_000, interval: 20 })
const setAside = async (service: OperatorService) => (await service.done(["venue", "quarantine", "list"])).events

describe("clocks that are apart", { timeout: 60_000 }, () => {
  it("C4: a service follows a venue that another service has moved; messages of the venue in flight are accepted", async () => {
    const { there, service } = await opened()
    const client = await service.client((await service.partner({ code: "MEET" })).key)
    const probe = ["sim", "venue", "probe", String(client)]
    await service.done(probe)
    const until = String(Date.now() + 2 * hour)
    await service.done(["market", "halt", "ALL", "--message", "m", "--until", until])
    there.ahead = 3 * hour
    // The venue publishes its time at once, before the next heartbeat. A call whose deadline the clock has passed is
    // never sent.
    const [shown] = (await service.done(probe)).probes
    assert.include(["EXECUTED", "VOID"], shown.state)
    await eventually(async () => closeTo(await offset(service), 3 * hour))
    await eventually(async () => assert.deepStrictEqual((await service.done(["market", "list"])).halts, []))
    assert.deepInclude(await service.done(["sim", "verify"]), { ok: true, eventsBehind: 0 })
    assert.deepStrictEqual(await setAside(service), [])
    const [stamp] = await query<{ readonly n: bigint }>(service, "SELECT clock_offset AS n FROM service_stamp")
    assert.strictEqual(Number(stamp?.n), await offset(service))
  })

  it("C4: a venue that an advance did not reach is advanced again until it is there, then no more", async () => {
    const { there, script, service } = await opened()
    let isFrozen = true
    /** Whether the venue has answered twice: to the jump, and to the last command of the advance. */
    const isTold = () => script.sent.filter((sent) => "to" in sent && sent.to > Date.now() + 2.9 * hour).length > 2
    script.command = (command) => {
      if (command.type !== "advance") return new VenueControlError({ why: "refused", detail: "advance alone" })
      if (isFrozen && isTold()) return new VenueControlError({ why: "lost", detail: "no answer" })
      if (!isFrozen) there.ahead = command.to - Date.now()
      return { number: 0, at: command.to, id: null, ...noChange }
    }
    await service.done(["sim", "clock", "advance", "3h"])
    const { length: told } = script.sent
    await eventually(() => Promise.resolve(assert.isAtLeast(script.sent.length, told + 2)))
    // A request of that time may be executed at an earlier time.
    closeTo(
      await service.run(Effect.map(BusinessClock, (clock) => clock.venueTime().behindUntil)),
      Date.now() + 3 * hour
    )
    isFrozen = false
    await eventually(() => Promise.resolve(closeTo(there.ahead, 3 * hour)))
    const { length } = script.sent
    closeTo(await offset(service), 3 * hour)
    // The next command to the venue is a later move of the service's own clock.
    await service.done(["sim", "clock", "advance", "1h"])
    const later = script.sent.slice(length)
    assert.isAbove(later.length, 0)
    assert.isTrue(later.every((command) => command.type === "advance" && command.to > Date.now() + 2.9 * hour))
  })

  it("C4: a move that is stored, though its answer was lost, is not made twice", async () => {
    const { there, service } = await opened()
    await query(service, `UPDATE service_stamp SET clock_offset = clock_offset + ${3 * hour}`)
    there.ahead = 3 * hour
    await eventually(async () => assert.isAbove(await offset(service), 0))
    closeTo(await offset(service), 3 * hour)
    const [stamp] = await query<{ readonly n: bigint }>(service, "SELECT clock_offset AS n FROM service_stamp")
    closeTo(Number(stamp?.n), 3 * hour)
  })

  it("A2-115: outside a sandbox a message ahead of the clock is quarantined, and no clock moves", async () => {
    const { there, books, service } = await opened(false)
    const client = await service.client((await service.partner({ code: "REAL", sandbox: false })).key)
    const { clientUid } = await service.done(["client", "show", String(client)])
    // The board of offers also has a future time.
    expectLog(/quarantined[^]*(more than 5 s ahead|time to come)/)
    there.ahead = 3 * hour
    books.publish(clientUid, (stamp) => ({
      type: "bust",
      ...stamp,
      tradeId: 1,
      orderId: 1,
      reason: "taken back"
    }))
    await eventually(async () => {
      const reasons = (await setAside(service)).map(({ reason }: { readonly reason: string }) => reason)
      assert.include(reasons.join(), "more than 5 s ahead")
    })
    assert.strictEqual(await offset(service), 0)
  })

  it("A2-115: in a sandbox, too, a message further ahead than the venue's own clock is quarantined", async () => {
    const { books, service } = await opened()
    const client = await service.client((await service.partner({ code: "LIE" })).key)
    const { clientUid } = await service.done(["client", "show", String(client)])
    expectLog(/quarantined[^]*more than 5 s ahead/)
    const said = (stamp: { readonly account: string; readonly sequence: number }) =>
      ({ type: "bust", ...stamp, tradeId: 1, orderId: 1, reason: "taken back" }) as const
    books.publish(clientUid, said, Date.now() + hour)
    await eventually(async () => assert.include((await setAside(service))[0]?.reason, "more than 5 s ahead"))
    assert.strictEqual(await offset(service), 0)
  })
})

describe("an advance that fails after the venue has moved", () => {
  it("C4: expects nothing any more, and the next one works", async () => {
    const script = quietVenue()
    const service = await startOperatorService({ venue: { controls: layerVenueControlMemory(script) } })
    stops.push(() => service.stop())
    const ahead = () =>
      service.run(
        Effect.map(BusinessClock, (clock) => {
          const { latest, lead } = clock.venueTime()
          return latest - lead - clockSlackMillis - clock.now()
        })
      )
    await query(service, "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''not now''; END'")
    await query(service, "CREATE TRIGGER refuse BEFORE UPDATE ON service_stamp EXECUTE FUNCTION refuse()")
    expectLog(/operator request failed by a defect[^]*the server refused/)
    const failed = await service.cli(["sim", "clock", "advance", "3h"])
    assert.notStrictEqual(failed.status, 0)
    await query(service, "DROP TRIGGER refuse ON service_stamp")
    assert.strictEqual(await ahead(), 0)
    assert.strictEqual((await service.done(["sim", "clock", "advance", "1h"])).offsetMillis, hour)
    assert.strictEqual(await ahead(), 0)
  })
})
