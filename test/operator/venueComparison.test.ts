/**
 * The comparison with the venue, started by `sim verify`: differences open breaks, once each, and change nothing; ends
 * at the venue are applied, and an overdue contract is queried (A2-103, D5).
 */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { VenueAccount, VenueContract } from "../../src/machines/venue/venueObjects.ts"
import { Venue } from "../../src/runtime/ports/Venue.ts"
import { VenueComparison } from "../../src/runtime/services/reconciliation/VenueComparison.ts"
import { VenueLink } from "../../src/runtime/services/venue/VenueLink.ts"
import { query } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { inTurn, putPosition } from "../support/orderRows.ts"
import { expectLog } from "../support/expectLog.ts"
import { progressOn, quickClock } from "../support/quickClock.ts"
import { type Members, stepsOf } from "../support/steps.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

const world = contractVenue()
/** The number of reads of an account at the venue. */
let looks = 0
/** A contract that the venue shows although its books lack it, by the number of the read. */
let foreign: (read: number) => VenueContract | null = () => null
const showing = (account: VenueAccount | null, read: number): VenueAccount | null => {
  const contract = foreign(read)
  return account === null || contract === null ? account : { ...account, contracts: [...account.contracts, contract] }
}
const layerVenue = Layer.effect(
  Venue,
  Effect.map(Venue, (port) =>
    Venue.of({
      ...port,
      account: (name) => Effect.map(port.account(name), (found) => showing(found, ++looks))
    })
  )
).pipe(Layer.provide(world.layerVenue))
/** The pause between the two reads of a comparison, ms. The tests end it. */
const betweenLooks = 5_000
const clock = quickClock()
let service: OperatorService
let steps: ReturnType<typeof contractSteps>
let clientId: number
let uid: string
beforeAll(async () => {
  service = await startOperatorService({ layerVenue, venue: { progress: progressOn(clock) } })
  const { key } = await service.partner({ code: "CMP", custody: "PARTNER" })
  steps = contractSteps(service, key, stepsOf(service, key))
  clientId = await steps.trader("5000.00")
  uid = (await service.done(["client", "show", String(clientId)])).clientUid
})
afterAll(() => service.stop())
beforeEach(async () => {
  world.forget(false)
  world.hide(false)
  world.lying(null)
  await connected(true)
})

/** Waits until the service knows that it is connected, or not. */
const connected = async (wanted: boolean): Promise<void> => {
  const link = () => service.run(Effect.map(VenueLink, (link) => link.state()))
  await steps.poll(link, (found) => found.connected === wanted)
  if (wanted) await steps.priced()
}
const hideEvents = async (): Promise<void> => {
  world.hide("events")
  world.venue.disconnect()
  await connected(false)
  // The cut ends the market feed too: a knock-out during the cut would have no exact mark.
  await steps.fed()
}

const opened = async (paths: Members = {}): Promise<number> => {
  const answer = await steps.post(clientId, "/rfq", steps.rfqBody(paths))
  assert.strictEqual(answer.status, 200, answer.text)
  const { rfqId } = answer.json.data
  world.quote(rfqId, "60000")
  return (await steps.until(clientId, rfqId, ({ state }) => state === "ACCEPTED")).contractId
}
/** Moves the price, and waits until the service knows the mark: a knock-out at an unknown mark would have to wait. */
const moved = async (price: string): Promise<void> => {
  world.price(price)
  await steps.priced(price)
}
const verify = () => service.cli(["sim", "verify"])
type Break = { readonly reason: string; readonly amount: string; readonly pausesMoneyOut: boolean }
const breaks = async (): Promise<ReadonlyArray<Break>> =>
  (await service.done(["break", "list", "--status", "OPEN"])).breaks
const compare = () =>
  clock.during(betweenLooks, () => service.run(Effect.flatMap(VenueComparison, ({ compare }) => compare(uid))))
const reconcile = (...words: ReadonlyArray<string>) =>
  clock.during(betweenLooks, () => service.done(["venue", "reconcile", ...words]))
const venueAccount = () => service.run(Effect.flatMap(Venue, ({ account }) => account(uid)))
const shownContract = async (): Promise<VenueContract> =>
  (await venueAccount())?.contracts[0] ?? assert.fail("the venue shows no contract")
const contract = (contractId: number) => service.done(["contract", "show", String(contractId)])

describe("A2-103: service and venue are compared", () => {
  it("contracts and requests are held against the venue's; equal ones are counted", async () => {
    await opened()
    await steps.post(clientId, "/rfq", steps.rfqBody({ autoAccept: false }))
    const { status, json } = await verify()
    assert.deepStrictEqual([status, json.ok], [0, true], JSON.stringify(json))
    assert.deepInclude(json.compared, { contract: 1, request: 1 })
  })

  it("D5: a contract that the venue does not know is a break of its premium, once, and stays open", async () => {
    const [{ id }] = (await query<{ readonly id: bigint }>(
      service,
      "SELECT id FROM barrier_contracts WHERE state = 'OPEN'"
    )) as [{ readonly id: bigint }]
    expectLog(/service and venue differ/)
    world.forget(true)
    const differs = await verify()
    assert.strictEqual(differs.status, 1)
    assert.match(differs.json.first, new RegExp(`^contract .* of ${uid}: the service has 0.1000, the venue none$`))
    const found = await clock.during(betweenLooks, () => steps.poll(breaks, ({ length }) => length > 0))
    assert.deepStrictEqual(
      found.map(({ reason, amount }) => [reason, amount]),
      [[`The venue does not know contract ${id}.`, "190.000000"]]
    )
    assert.deepInclude(await contract(Number(id)), { state: "OPEN" })
    assert.deepStrictEqual([await compare(), (await breaks()).length], [[], 1])
    assert.match((await service.done(["metrics"])).metrics, /^brokerage_venue_differences_total 1$/m)
    world.forget(false)
    assert.strictEqual((await verify()).status, 0)
  }, 60_000)

  it("D5: the venue's report of an end was lost: the comparison adopts the end, with one settlement", async () => {
    const contractId = await opened()
    await hideEvents()
    await moved("57900")
    assert.deepStrictEqual(await compare(), [])
    assert.deepInclude(await contract(contractId), { state: "KNOCKED_OUT", pnl: "-190.000000" })
    world.hide(false)
    world.price("60000")
    assert.strictEqual((await verify()).status, 0)
  }, 60_000)

  it("A2-115: venue reconcile describes an object that does not fit until the venue's report is true, and books nothing", async () => {
    const contractId = await opened()
    await hideEvents()
    world.lying("false-knock-out")
    await moved("57900")
    expectLog(/service and venue differ/)
    const sentence = /^The venue's report of rfq:\d+ does not fit the request: .*116000/
    for (const { differences } of [await reconcile(uid), await reconcile(uid)]) {
      assert.match(differences[0], sentence)
      assert.match(differences.slice(1).join(), /^(|A call in flight, or a report that is read again, may explain .*)$/)
    }
    assert.deepInclude(await contract(contractId), { state: "OPEN", pnl: null })
    world.lying(null)
    await reconcile(uid)
    const ended = await steps.poll(
      () => contract(contractId),
      ({ state }) => state !== "OPEN"
    )
    assert.deepInclude(ended, { state: "KNOCKED_OUT", pnl: "-190.000000" })
    assert.deepStrictEqual((await reconcile(uid)).differences, [])
    world.hide(false)
    world.price("60000")
  }, 60_000)

  it("A2-115: venue reconcile answers in words where a difference can't be written, and the log has the defect", async () => {
    expectLog(/differences of an account could not be applied/)
    await opened()
    const contract = { ...(await shownContract()), id: 9_999, ref: "X-1", qty: "?" }
    foreign = () => contract
    const { differences } = await reconcile(uid)
    foreign = () => null
    assert.deepStrictEqual(differences, [
      `The venue's report of ${uid} can't be applied: the log names the difference.`
    ])
    assert.deepStrictEqual((await reconcile(uid)).differences, [])
  }, 60_000)

  it.each([
    [
      "a difference that the third pass is the first to find is found by the fourth",
      2,
      /^The venue has contract 9002 /
    ],
    ["after five passes, each with another difference, the account waits for its slice", Infinity, /^$/]
  ])(
    "%s",
    async (_, lastChange, found) => {
      await opened()
      const shown = await shownContract()
      const before = looks + 1
      foreign = (read) => {
        const id = 9_000 + Math.min(read - before, lastChange)
        return { ...shown, id, ref: `X-${id}` }
      }
      if (Number.isFinite(lastChange)) expectLog(/service and venue differ/)
      const { differences } = await reconcile(uid)
      foreign = () => null
      assert.match(differences.join(), found)
    },
    60_000
  )

  it("D5: a contract whose expiry has passed without a report is queried, and gets the venue's end", async () => {
    const contractId = await opened({ "barrier.expiryTs": Date.now() + 3_600_000 })
    await hideEvents()
    // The venue's clock and prices are stopped. The service's timer fires and queries the venue, where nothing has
    // ended.
    world.freeze()
    expectLog(/past its expiry, and the venue has reported no end/)
    await service.done(["sim", "clock", "advance", "62m"])
    await steps.poll(
      () => query(service, "SELECT 1 FROM audit WHERE action = 'contract.overdue'"),
      ({ length }) => length > 0
    )
    assert.deepInclude(await contract(contractId), { state: "OPEN" })
    world.venue.advance(Date.now() + 62 * 60_000)
    await service.done(["sim", "clock", "advance", "2m"])
    const ended = await clock.during(betweenLooks, () =>
      steps.poll(
        () => contract(contractId),
        ({ state }) => state !== "OPEN"
      )
    )
    assert.strictEqual(ended.state, "EXPIRED")
  }, 60_000)

  it("venue reconcile compares one account or all now; a position without a booking is a break of both figures", async () => {
    const all = await service.done(["venue", "reconcile"], "FINANCE")
    assert.deepStrictEqual([all.differences, all.more], [[], false])
    assert.isAtLeast(all.accounts, 1)
    await inTurn(service, clientId, (turn) => putPosition(turn, { symbol: "ETH-USDC-PERP", netQty: "0.500" }))
    expectLog(/service and venue differ/)
    const one = await reconcile(uid)
    const sentence = "The position in ETH-USDC-PERP is 0.500 here and 0 at the venue."
    assert.deepStrictEqual([one.accounts, one.differences], [1, [sentence]])
    assert.include(
      (await breaks()).map(({ reason }) => reason),
      sentence
    )
    assert.deepStrictEqual((await reconcile(uid)).differences, [])
    const differs = await verify()
    assert.strictEqual(differs.json.first, `position ETH-USDC-PERP of ${uid}: the service has 0.500, the venue none`)
    const nobody = await service.cli(["venue", "reconcile", "NO-00000001"])
    assert.strictEqual(nobody.refusal.code, 4004)
  }, 60_000)

  it("the house account of the venue is compared with the venue's books: a difference that two passes see, once", async () => {
    assert.deepStrictEqual((await reconcile(uid)).differences, [])
    const plant = (more: bigint) =>
      inTurn(service, clientId, (turn) => {
        const row = turn.state.get("balances", `${clientId}\u0000USDC`)
        if (row === undefined) throw new Error("no balance")
        turn.draft.put("balances", { ...row, fromVenue: row.fromVenue + more })
      })
    // The second read no longer finds the difference.
    await plant(5_000_000n)
    const before = looks
    const passing = service.done(["venue", "reconcile", uid])
    await steps.poll(
      () => Promise.resolve(looks),
      (seen) => seen > before
    )
    await plant(-5_000_000n)
    const { differences } = await clock.during(betweenLooks, () => passing)
    assert.deepStrictEqual(differences, [])
    // The comparison in the background may read the account as well.
    assert.isAtLeast(looks - before, 2)
    await plant(5_000_000n)
    expectLog(/service and venue differ/)
    const [sentence, ...others] = (await reconcile(uid)).differences
    assert.deepStrictEqual(others, [])
    assert.strictEqual(sentence, "The ledger has -565 USDC of the venue, and the venue's own books have -570.")
    const found = (await breaks()).find(({ reason }) => reason === sentence)
    assert.deepInclude(found, { amount: "5.000000", pausesMoneyOut: true })
    const again = await reconcile(uid)
    assert.deepStrictEqual([again.differences, again.withoutMoney], [[], 0])
    await plant(-5_000_000n)
  }, 60_000)
})
