/**
 * Impossible or unknown reports of a staking swap: a payment with two amounts, a take that staff resolved, an
 * unreadable board; and USDC that a take found late has lent (D8; A2-57, A2-111, A2-116, STS-1, F10).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { swapRef } from "../../src/machines/swap/Swap.ts"
import { VenueComparison } from "../../src/runtime/services/reconciliation/VenueComparison.ts"
import { VenueLink } from "../../src/runtime/services/venue/VenueLink.ts"
import { VenueResolutions } from "../../src/runtime/services/operations/registries/VenueResolutions.ts"
import { get, ofClient, rowsOf } from "../support/Builders.ts"
import { answerWithin, progressOn, quickClock } from "../support/quickClock.ts"
import { openScenario } from "../support/Scenario.ts"
import { operator } from "../support/Service.ts"
import { stakingSteps, stakingVenue } from "../support/stakingSteps.ts"

const world = stakingVenue()
/** The service queries the outcome of a call once before a test ends the wait of a route. */
const routes = quickClock()
/** Timeout of a read of the board, ms. */
const readLimit = 2_000
/** The pause between the two reads of a comparison, ms. */
const betweenLooks = 5_000
const steps = await openScenario({
  layerVenue: world.layerVenue,
  clock: world.clock,
  venue: { progress: progressOn(routes) }
})
const { service, key, report } = steps
const { lender, offered, take, taken, until, later, held, poll, read, swap } = stakingSteps(service, key, world, steps)

const breaksOf = async (clientId: number) =>
  (await ofClient(service, "reconBreaks", clientId)).map(({ context }) => context.reason)
const audited = async (clientId: number) => (await ofClient(service, "audit", clientId)).map(({ action }) => action)
const uidOf = async (clientId: number): Promise<string> =>
  (await rowsOf(service, "clients")).find(({ id }) => id === clientId)?.uid ?? ""

/** A take with an unknown outcome, once the venue is connected. Returns its id. */
const unknownTake = async (clientId: number, offerId: number, qty: string): Promise<number> => {
  const { json } = await poll(
    () => take(clientId, offerId, qty),
    (answer) => answer.json.data?.swapId !== undefined
  )
  return json.data.swapId
}

/** A take that the venue has executed and whose outcome is lost, resolved by staff as this trade. */
const resolvedTake = async (clientId: number, tradeOf: (real: number) => number) => {
  const offerId = await offered("ETH-SWAP")
  world.failing((asked) => {
    if (asked === "takeOffer") world.hide("events")
    return asked === "takeOffer" ? { lost: "after" } : asked === "voidRefs" ? { lost: "before" } : {}
  })
  const swapId = await routes.after(world.requested("voidRefs"), answerWithin, unknownTake(clientId, offerId, "10"))
  const [real] = world.venue.account(await uidOf(clientId))?.swaps ?? []
  const verdict = await service.run(
    Effect.provide(
      VenueResolutions.use((resolutions) =>
        resolutions.resolve(operator, {
          object: `swap:${swapId}`,
          as: "executed",
          reason: "the venue's statement says so",
          tradeId: tradeOf(real?.tradeId ?? 0),
          qty: "10"
        })
      ),
      VenueResolutions.layer
    )
  )
  assert.isTrue(verdict.ok, JSON.stringify(verdict))
  world.failing(() => ({}))
  return { swapId, contractId: real?.id ?? 0 }
}

describe("a payment that is reported again with another amount", () => {
  it("stays as booked, with one break, however often it is reported", async () => {
    const anna = await lender()
    const { swapId, contractId } = await taken(anna, "ETH-SWAP", "10")
    world.pay(contractId, "1")
    await until(anna, swapId, ({ paid }) => paid === "1.00000000")
    world.restate(true)
    for (const n of [2, 3, 4]) {
      world.pay(contractId, "1")
      await until(anna, swapId, ({ paid }) => paid === `${n}.00000000`)
    }
    world.restate(false)
    const reasons = await breaksOf(anna)
    assert.isNotEmpty(reasons)
    assert.strictEqual(new Set(reasons).size, reasons.length)
  }, 90_000)
})

describe("A2-116: a take that staff resolved as executed", () => {
  it("is named by the comparison, and differs in nothing", async () => {
    const anna = await lender()
    const { swapId, contractId } = await resolvedTake(anna, (real) => real)
    assert.strictEqual((await swap(anna, swapId)).state, "OPEN")
    const uid = await uidOf(anna)
    // Once the service has detected the disconnection, the comparison waits for no event of the lost connection.
    world.venue.disconnect()
    await poll(
      () => service.run(Effect.map(VenueLink, (link) => link.state())),
      ({ connected }) => !connected
    )
    await routes.during(betweenLooks, () => service.run(VenueComparison.use(({ compare }) => compare(uid))))
    world.hide(false)
    await until(anna, swapId, (found) => found.contractId === contractId)
    assert.deepStrictEqual(await breaksOf(anna), [])
  }, 90_000)

  it("is paid though staff mistyped its trade, with an alarm: its name is our own", async () => {
    const ben = await lender()
    const { swapId, contractId } = await resolvedTake(ben, (real) => real + 1_000)
    world.hide(false)
    world.pay(contractId, "4")
    await until(ben, swapId, ({ paid }) => paid === "4.00000000")
    const actions = await audited(ben)
    assert.deepStrictEqual(
      actions.filter((action) => action === "swap.otherTrade"),
      ["swap.otherTrade"]
    )
    assert.notInclude(actions, "swap.otherContract")
  }, 90_000)
})

describe("F10: USDC that a take found late has lent", () => {
  it("is behind a write-off at once, and repays it when the swap is paid", async () => {
    const cleo = await lender({ usdc: "1000.00", eth: "0" })
    const offerId = await offered("USDC-SWAP", { qty: "5000" })
    world.failing((asked) => (asked === "takeOffer" ? { lost: "before" } : {}))
    world.deny(true)
    const swapId = await unknownTake(cleo, offerId, "900")
    world.failing(() => ({}))
    await poll(
      () => ofClient(service, "venueCalls", cleo),
      ({ length }) => length === 0
    )
    world.deny(false)
    await later(310_000)
    await until(cleo, swapId, ({ state }) => state === "REJECTED")
    assert.strictEqual((await report(cleo, { direction: "WITHDRAWAL", amount: "600.00" })).status, 201)
    const request = { ref: swapRef(swapId), account: await uidOf(cleo), offerId, qty: "900" }
    world.venue.apply({ type: "call", name: "takeOffer", request })
    const { contractId } = await until(cleo, swapId, ({ state }) => state === "OPEN")
    const off = async () =>
      (await read(cleo, "/ledger")).data.postings
        .filter(({ type }: { type: string }) => type === "NBP_WRITEOFF")
        .map(({ amount }: { amount: string }) => amount)
    await poll(off, ({ length }) => length === 1)
    const [writtenOff = ""] = await off()
    assert.deepStrictEqual(await held(cleo, "USDC"), ["0.000000", "0.000000"])
    assert.isAtLeast(Number(writtenOff), 500)
    world.pay(contractId, "100")
    await until(cleo, swapId, ({ paid }) => paid === "100.000000")
    assert.deepStrictEqual(await held(cleo, "USDC"), ["0.000000", "0.000000"])
    world.pay(contractId)
    await until(cleo, swapId, ({ state }) => state === "MATURED")
    assert.deepStrictEqual(await off(), [(100 - Number(writtenOff)).toFixed(6), "-100.000000", writtenOff])
    assert.match((await breaksOf(cleo))[0] ?? "", /USDC more than is free/)
    assert.isAbove(Number((await held(cleo, "USDC"))[0]), 0)
    const items = (await get(service, key, `/settlement/items?clientId=${cleo}&limit=500`)).json
    assert.include(JSON.stringify(items), "-100.000000")
  }, 120_000)
})

describe("STS-1: a board that can't be read", () => {
  it("is used for three seconds, then a take is answered as if the venue were away; waiting takes share one read", async () => {
    const dora = await lender()
    const explained = async () =>
      (await steps.call("POST", dora, `/staking/${offerId}/explain`, { qty: "1" })).json.data.outcome
    const offerId = await offered("ETH-SWAP")
    let readings = 0
    const unread = (whenAsked: () => void) =>
      world.failing((asked) => {
        if (asked !== "read") return {}
        readings++
        whenAsked()
        return { lost: "before", silent: true }
      })
    // Before the board is too old, no take waits for a failing read; the takes below share one read until its timeout.
    unread(() => void setImmediate(() => world.clock.end(readLimit)))
    assert.strictEqual(await poll(explained, (outcome) => outcome === "REFUSED"), "REFUSED")
    unread(() => {})
    const before = readings
    const answers = await Promise.all(Array.from({ length: 12 }, () => take(dora, offerId, "1")))
    assert.deepStrictEqual(
      answers.map(({ status, json }) => [status, json.code]),
      answers.map(() => [502, 5020])
    )
    assert.isBelow(readings - before, 12)
    world.failing(() => ({}))
    const again = await poll(
      () => take(dora, offerId, "1"),
      ({ status }) => status === 200
    )
    assert.deepInclude(again.json.data, { state: "OPEN" })
  }, 90_000)
})
