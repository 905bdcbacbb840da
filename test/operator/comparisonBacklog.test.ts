/**
 * A comparison while the service lacks events that the venue has published, because the stream is silent or
 * disconnected. It reads and applies the account's events first. Without them no difference counts, and no break opens
 * (A2-103).
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Venue, VenueUnanswered } from "../../src/runtime/ports/Venue.ts"
import { WaitingAccounts, waitsMost } from "../../src/runtime/services/reconciliation/publishedEvents.ts"
import { VenueLink } from "../../src/runtime/services/venue/VenueLink.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { knockOut } from "../support/contractVenue.ts"
import { ofClient, query } from "../support/Builders.ts"
import { expectLog } from "../support/expectLog.ts"
import { orderSteps } from "../support/orderSteps.ts"
import { perp } from "../support/perpVenue.ts"
import { progressOn, quickClock } from "../support/quickClock.ts"
import { stakingSteps, stakingVenue } from "../support/stakingSteps.ts"
import { stepsOf } from "../support/steps.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

const world = stakingVenue()
/** The pause between two passes of a comparison, and the longest wait for an account's events, ms. */
const [passPause, eventsMost] = [5_000, 10_000]
const clock = quickClock()
/** Queries of single objects get no answer, so events alone can explain a difference. */
let isBlind = false
/** The venue's answer to a query of an account's events. */
let eventsAre: "given" | "unanswered" | "lost" = "given"
const unanswered = Effect.fail(new VenueUnanswered({ reason: "away" }))
const layerVenue = Layer.effect(
  Venue,
  Effect.map(Venue, (port) =>
    Venue.of({
      ...port,
      lookup: (refs) => (isBlind ? unanswered : port.lookup(refs)),
      orderFills: (ref) => (isBlind ? unanswered : port.orderFills(ref)),
      accountEvents: (account, after) =>
        eventsAre === "unanswered"
          ? unanswered
          : eventsAre === "lost"
            ? Effect.succeed([])
            : port.accountEvents(account, after)
    })
  )
).pipe(Layer.provide(world.layerVenue))

let service: OperatorService
let contracts: ReturnType<typeof contractSteps>
let orders: ReturnType<typeof orderSteps>
let swaps: ReturnType<typeof stakingSteps>
beforeAll(async () => {
  service = await startOperatorService({ layerVenue, clock: world.clock, venue: { progress: progressOn(clock) } })
  const { key } = await service.partner({ code: "BHD", custody: "PARTNER" })
  const steps = stepsOf(service, key)
  contracts = contractSteps(service, key, steps)
  orders = orderSteps(service, key, steps)
  swaps = stakingSteps(service, key, world, steps)
})
afterAll(() => service.stop())
afterEach(async () => {
  isBlind = false
  eventsAre = "given"
  world.price("60000")
  if (isHidden) await hide("stream")
  world.hide(false)
  isHidden = false
  await connected(true)
  await contracts.fed()
  await contracts.priced("60000")
})

const connected = (wanted: boolean) =>
  contracts.poll(
    () => service.run(Effect.map(VenueLink, (link) => link.state())),
    (found) => found.connected === wanted
  )
let isHidden = false
/** From now on the stream delivers no events: it is closed, or open with heartbeats alone. */
const hide = async (how: "stream" | "silence" | "events"): Promise<void> => {
  isHidden = true
  world.hide(how)
  world.venue.disconnect()
  await connected(how === "silence")
  // A knock-out during the cut of the market feed would have no exact mark.
  await contracts.fed()
}

const uidOf = async (clientId: number): Promise<string> =>
  (await service.done(["client", "show", String(clientId)])).clientUid
const reconcile = async (clientId: number): Promise<ReadonlyArray<string>> => {
  const uid = await uidOf(clientId)
  return (await clock.during(passPause, () => service.done(["venue", "reconcile", uid]))).differences
}
const breaksOf = async (clientId: number) =>
  (await ofClient(service, "reconBreaks", clientId)).map(({ state, context }) => `${state} ${context.reason}`)
const sequenceOf = async (clientId: number): Promise<number> =>
  Number((await query(service, `SELECT sequence FROM venue_accounts WHERE client_id = ${clientId}`))[0]?.sequence ?? 0)

/** A client with an object at the venue, and a change there that only events report to the service. */
interface Story {
  readonly clientId: number
  readonly change: (account: string) => void
  /** The state of this service after the events. */
  readonly after: () => Promise<unknown>
}

const holding = async (): Promise<Story> => {
  const clientId = await orders.trader("5000.00")
  const bought = { symbol: perp, side: "BUY", type: "MARKET", qty: "0.01" }
  await orders.until(clientId, await orders.placed(clientId, bought), ({ state }) => state === "FILLED")
  return {
    clientId,
    change: (account) => {
      const trade = { account, symbol: perp, qty: "-0.01", price: null, reason: "liquidation" } as const
      world.command({ type: "execute", ...trade })
    },
    after: async () => (await ofClient(service, "fills", clientId)).length
  }
}

const resting = async (): Promise<Story> => {
  const clientId = await orders.trader("5000.00")
  const orderId = await orders.placed(clientId, orders.limit("BUY", "0.01", "59000"))
  return {
    clientId,
    change: () => world.command({ type: "price", symbol: perp, price: "58500", only: null }),
    after: async () => (await orders.orderOf(clientId, orderId)).state
  }
}

const inContract = async (): Promise<Story> => {
  const clientId = await contracts.trader("5000.00")
  const { rfqId } = (await contracts.post(clientId, "/rfq", contracts.rfqBody())).json.data
  world.quote(rfqId, "60000")
  const { contractId } = await contracts.until(clientId, rfqId, ({ state }) => state === "ACCEPTED")
  return {
    clientId,
    change: () => world.command({ type: "price", symbol: knockOut, price: "57900", only: null }),
    after: async () => (await service.done(["contract", "show", String(contractId)])).state
  }
}

const lending = async (): Promise<Story> => {
  const clientId = await swaps.lender()
  const { swapId, contractId } = await swaps.taken(clientId, "ETH-SWAP", "10")
  return {
    clientId,
    change: () => world.pay(contractId, "4"),
    after: async () => (await swaps.swap(clientId, swapId)).paid
  }
}

describe("A2-103: a comparison behind the venue's events", () => {
  it.each([
    ["a position, its trade and its money", "stream", holding, 2],
    ["a position, its trade and its money", "silence", holding, 2],
    ["an order and its trade", "stream", resting, "FILLED"],
    ["a contract", "stream", inContract, "KNOCKED_OUT"],
    ["a swap", "stream", lending, "4.00000000"]
  ] as const)(
    "%s (%s): reads and applies them, and finds no difference",
    async (_, how, begin, after) => {
      const story = await begin()
      const { clientId } = story
      await hide(how)
      isBlind = true
      story.change(await uidOf(clientId))
      assert.deepStrictEqual(await reconcile(clientId), [])
      assert.deepStrictEqual(await breaksOf(clientId), [])
      assert.strictEqual(await story.after(), after)
      assert.strictEqual(await sequenceOf(clientId), world.venue.account(await uidOf(clientId))?.sequence)
    },
    60_000
  )

  it("opens and closes nothing while they can't be read, and reports it", async () => {
    const { clientId, change } = await holding()
    const open = ["break", "open", "--scope", await uidOf(clientId), "--currency", "USDC"]
    await service.done([...open, "--amount", "5", "--reason", "by hand"])
    const before = await breaksOf(clientId)
    assert.lengthOf(before, 1)
    await hide("stream")
    change(await uidOf(clientId))
    eventsAre = "unanswered"
    const found = await clock.during(eventsMost, () => reconcile(clientId))
    const uid = await uidOf(clientId)
    const sentence = `The venue has published events of ${uid} that could not be applied yet: the account was not compared.`
    assert.deepStrictEqual([found, await breaksOf(clientId)], [[sentence], before])
    eventsAre = "given"
    assert.deepStrictEqual([await reconcile(clientId), await breaksOf(clientId)], [[], before])
  }, 60_000)

  it("waits for the events of an account ten times in a row at most", () => {
    const waiting = new WaitingAccounts()
    const waits = (): ReadonlyArray<boolean> => Array.from({ length: waitsMost + 2 }, () => waiting.mayWait(1))
    const most = [...Array.from({ length: waitsMost }, () => true), false, false]
    assert.deepStrictEqual(waits(), most)
    waiting.end(1)
    assert.deepStrictEqual(waits(), most)
  })

  it.each([
    [
      "finds an event that the venue never publishes: its number shows no further event",
      "events",
      "given",
      /BUY|and 0 /
    ],
    ["names the events that the venue has published and no longer gives", "stream", "lost", /no longer gives all/]
  ] as const)(
    "%s",
    async (_, how, given, named) => {
      const { clientId, change } = await holding()
      await hide(how)
      eventsAre = given
      change(await uidOf(clientId))
      expectLog(/service and venue differ/)
      if (given === "lost") expectLog(/a message of the venue is quarantined/)
      const [position, money, ...others] = await reconcile(clientId)
      assert.strictEqual(position, `The position in ${perp} is 0.0100 here and 0 at the venue.`)
      assert.match(money ?? "", /^The ledger has -600.* USDC of the venue, and the venue's own books have /)
      assert.match(`${position} ${money}`, named)
      assert.deepStrictEqual(others, [])
      assert.lengthOf(await breaksOf(clientId), 2)
    },
    60_000
  )
})
