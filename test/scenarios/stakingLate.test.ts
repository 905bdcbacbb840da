/**
 * Late, repeated and missing reports of a staking swap: a take found executed after it was given up, a writer without
 * any report, money beyond the claim, an asset without a price (D8; A2-57, A2-59, A2-116, STS-9; SC-STK-05).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { swapRef } from "../../src/machines/swap/Swap.ts"
import {
  type ResolveRequest,
  VenueResolutions
} from "../../src/runtime/services/operations/registries/VenueResolutions.ts"
import { ofClient, query, rowsOf } from "../support/Builders.ts"
import { answerWithin, progressOn, quickClock } from "../support/quickClock.ts"
import { openScenario } from "../support/Scenario.ts"
import { operator } from "../support/Service.ts"
import { stakingSteps, stakingVenue } from "../support/stakingSteps.ts"

const day = 86_400_000
const world = stakingVenue()
/** The service queries the outcome of a call once before a test ends the wait of a route. */
const routes = quickClock()
const steps = await openScenario({
  layerVenue: world.layerVenue,
  clock: world.clock,
  venue: { progress: progressOn(routes) }
})
const { service, key } = steps
const { lender, offered, take, taken, until, later, held, swap, poll, read } = stakingSteps(service, key, world, steps)

const audited = async (clientId: number) => (await ofClient(service, "audit", clientId)).map(({ action }) => action)

/** A take that never reached the venue, released here. */
const releasedTake = async (clientId: number) => {
  const offerId = await offered("ETH-SWAP")
  world.failing((asked) => (asked === "takeOffer" ? { lost: "before" } : {}))
  world.deny(true)
  const { json } = await take(clientId, offerId, "10").finally(() => world.failing(() => ({})))
  const { swapId } = json.data
  await poll(
    () => ofClient(service, "venueCalls", clientId),
    ({ length }) => length === 0
  )
  world.deny(false)
  await later(310_000)
  await until(clientId, swapId, ({ state }) => state === "REJECTED")
  return { swapId, offerId }
}

/** A venue with a false earlier answer: it executes a take after all, under its ref. */
const executedAfterAll = async (clientId: number, swapId: number, offerId: number): Promise<void> => {
  const row = (await rowsOf(service, "clients")).find(({ id }) => id === clientId)
  const request = { ref: swapRef(swapId), account: row?.uid ?? "", offerId, qty: "10" }
  const { outcomes } = world.venue.apply({ type: "call", name: "takeOffer", request })
  assert.deepStrictEqual(
    outcomes.map(({ outcome }) => outcome),
    ["EXECUTED"]
  )
}

describe("a take that is found executed after it was released", () => {
  it("SC-STK-05: is taken over and reserved again, with an alarm; nothing is short, so no break opens", async () => {
    const anna = await lender()
    const { swapId, offerId } = await releasedTake(anna)
    assert.deepStrictEqual(await held(anna, "ETH"), ["20.00000000", "0.00000000"])
    await executedAfterAll(anna, swapId, offerId)
    const found = await until(anna, swapId, ({ state }) => state === "OPEN")
    assert.deepInclude(found, { notional: "10.00000000", rejectReason: null })
    assert.deepStrictEqual(await held(anna, "ETH"), ["9.99500000", "0.00000000"])
    assert.include(await audited(anna), "swap.found")
    assert.deepStrictEqual(await ofClient(service, "reconBreaks", anna), [])
  }, 90_000)

  it("SC-STK-05: the missing part of the balance is a break that pauses money out, and the principal is posted all the same", async () => {
    const anna = await lender()
    const { swapId, offerId } = await releasedTake(anna)
    await steps.adjust(anna, "-15", "ETH")
    await executedAfterAll(anna, swapId, offerId)
    await until(anna, swapId, ({ state }) => state === "OPEN")
    assert.deepStrictEqual(await held(anna, "ETH"), ["-5.00500000", "0.00000000"])
    const [opened] = await ofClient(service, "reconBreaks", anna)
    assert.match(opened?.context.reason ?? "", /needs 5\.00500000 ETH more than is free/)
    assert.isTrue(opened?.context.pausesMoneyOut)
    // The books allow no account below zero, so the client's debt is covered before the check.
    await steps.adjust(anna, "6", "ETH")
  }, 90_000)
})

/** Staff's resolution of a take that the venue never answers. */
const resolve = async (request: ResolveRequest) => {
  const verdict = await service.run(
    Effect.provide(
      VenueResolutions.use((resolutions) => resolutions.resolve(operator, request)),
      VenueResolutions.layer
    )
  )
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.refusal))
  return verdict.value
}

describe("a take that the venue never answers", () => {
  const silent = async (clientId: number): Promise<number> => {
    // The maturity is later than every other step of this file.
    const offerId = await offered("ETH-SWAP", { tenorDays: 30 })
    world.failing((asked) => (asked === "takeOffer" || asked === "voidRefs" ? { lost: "before" } : {}))
    const { json } = await routes.after(world.requested("voidRefs"), answerWithin, take(clientId, offerId, "10"))
    return json.data.swapId
  }

  it("A2-116: void by staff's decision gives the reserve back at once", async () => {
    const anna = await lender()
    const swapId = await silent(anna)
    const done = await resolve({ object: `swap:${swapId}`, as: "void", reason: "the venue's list of the day" })
    world.failing(() => ({}))
    assert.deepInclude(done, { object: `swap:${swapId}`, state: "REJECTED", breakId: null })
    assert.deepStrictEqual(await held(anna, "ETH"), ["20.00000000", "0.00000000"])
  }, 60_000)

  it("A2-116: executed by staff's decision is OPEN without a contract until the venue names it", async () => {
    const anna = await lender()
    const swapId = await silent(anna)
    const evidence = {
      object: `swap:${swapId}`,
      as: "executed",
      tradeId: 1,
      qty: "10",
      reason: "a confirmation"
    } as const
    assert.deepInclude(await resolve(evidence), { state: "OPEN", breakId: null })
    world.failing(() => ({}))
    assert.deepInclude(await swap(anna, swapId), { state: "OPEN", contractId: null, notional: "10.00000000" })
    assert.deepStrictEqual(await held(anna, "ETH"), ["9.99500000", "0.00000000"])
  }, 60_000)
})

describe("a maturity without the venue's report", () => {
  it("A2-59: a swap that was paid in time does not default while its payment is still to be applied, however late it is", async () => {
    const anna = await lender()
    const { swapId, contractId } = await taken(anna, "ETH-SWAP", "10")
    world.hide("events")
    world.venue.disconnect()
    await later(7 * day)
    await later(3_600_000 + 1_000)
    await later(day)
    assert.strictEqual((await swap(anna, swapId)).state, "OPEN")
    world.hide(false)
    const matured = await until(anna, swapId, ({ state }) => state !== "OPEN")
    assert.deepInclude(matured, { contractId, state: "MATURED", claim: "0.00000000" })
    assert.notInclude(await audited(anna), "swap.default")
  }, 90_000)

  it("A2-59: a writer without a report of the venue is in default an hour after maturity; a payment cures it", async () => {
    const anna = await lender()
    world.omit(true)
    const { swapId, contractId } = await taken(anna, "ETH-SWAP", "10")
    await later(7 * day)
    assert.strictEqual((await swap(anna, swapId)).state, "OPEN")
    await later(3_600_000 + 1_000)
    await until(anna, swapId, ({ state }) => state === "DEFAULTED")
    world.omit(false)
    world.correctFee(contractId, "0.004")
    const cured = await until(anna, swapId, ({ state }) => state === "CURED")
    assert.deepInclude(cured, { contractId, claim: "0.00000000" })
  }, 90_000)
})

describe("money beyond the expected amount", () => {
  it("D8: is the client's all the same, with an alarm, and no more reward is charged", async () => {
    const anna = await lender()
    const { swapId, contractId } = await taken(anna, "ETH-SWAP", "10")
    world.pay(contractId, "11")
    const matured = await until(anna, swapId, ({ state }) => state === "MATURED")
    assert.deepInclude(matured, { paid: "11.00000000", outstanding: "0.00000000", commission: "0.00076712" })
    world.pay(contractId, "1")
    await until(anna, swapId, ({ paid }) => paid === "12.00000000")
    assert.include(await audited(anna), "swap.beyond")
    assert.include(await audited(anna), "swap.latePayment")
  }, 60_000)
})

describe("the value of a swap's posting", () => {
  it("STS-9: is in its refs at the mark of the booking, signed as the amount is", async () => {
    const anna = await lender()
    const { swapId } = await taken(anna, "ETH-SWAP", "10")
    const [row] = await query(service, `SELECT refs FROM ledger_transactions WHERE key = 'swapPrincipal:${swapId}'`)
    const { mark, markTs, valueUsdc } = (row as { refs: Record<string, unknown> }).refs
    assert.match(String(mark), /^[0-9]+\.[0-9]{2}$/)
    assert.isNumber(markTs)
    assert.match(String(valueUsdc), /^-[0-9]+\.[0-9]{6}$/)
  }, 60_000)
})

describe("repeated or late events of a swap", () => {
  it("D8: each payment is booked once, in any order of the stream", async () => {
    const anna = await lender()
    const { swapId, contractId } = await taken(anna, "ETH-SWAP", "10")
    world.delivering(() => [40, 0, 10])
    world.pay(contractId, "1")
    world.pay(contractId, "2")
    world.pay(contractId, "3")
    await until(anna, swapId, ({ paid }) => paid === "6.00000000")
    world.delivering(() => [0])
    world.pay(contractId)
    await until(anna, swapId, ({ state }) => state === "MATURED")
    const settled = (await read(anna, "/ledger")).data.postings.filter(
      ({ type }: { type: string }) => type === "SWAP_SETTLE"
    )
    assert.deepStrictEqual(settled.map(({ amount }: { amount: string }) => amount).toReversed(), [
      "1.00000000",
      "2.00000000",
      "3.00000000",
      "4.00767123"
    ])
  }, 60_000)
})
