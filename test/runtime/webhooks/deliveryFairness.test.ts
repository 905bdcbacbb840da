/**
 * One partner's endpoint must not delay another's deliveries, and a stop loses none (architecture section 4, Webhooks;
 * section 8, shutdown; A3-34).
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import type { DeliveryRow } from "../../../src/runtime/tables/webhook.ts"
import { DeliveryLanes } from "../../../src/runtime/services/webhooks/DeliveryLanes.ts"
import { deliveryOf } from "./DeliveryBench.ts"
import { type Behaviour, startReceiver, startWorld, until, type World } from "./webhookWorld.ts"

let world: World
const closers: Array<() => Promise<unknown>> = []

beforeAll(async () => {
  world = await startWorld()
})
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})
afterAll(() => world.stop())

const receiver = async (behave?: Behaviour) => {
  const made = await startReceiver(world.tls, behave)
  closers.push(made.close)
  return made
}
const worker = async (options?: Parameters<World["startWorker"]>[0]) => {
  const made = await world.startWorker(options)
  closers.push(made.close)
  return made
}

describe("Partners beside each other", () => {
  it("a healthy partner's 200 deliveries arrive while hanging, dead and unsteady endpoints keep failing", async () => {
    const hanging: Array<() => void> = []
    const hangs = await receiver((_delivery, response) => {
      hanging.push(() => response.writeHead(200).end())
    })
    const dead = await receiver()
    await dead.close()
    let flaps = 0
    const flapping = await receiver((_delivery, _response, request) => {
      if (++flaps % 2 === 1) return void request.socket.destroy()
      return 500
    })
    const healthy = await receiver()
    for (const [index, url] of [hangs.url, hangs.url, hangs.url, dead.url, flapping.url, healthy.url].entries())
      await world.register(index + 1, url)
    // The bad ones are queued first, so that they could delay every other delivery.
    for (const partnerId of [1, 2, 3, 4, 5]) await world.queue(partnerId, 60)
    const mine = await worker()
    await until("the hanging ones to hold their slots", () => hanging.length === 12)
    const queued = await world.queue(6, 200)
    await until("all of the healthy partner's", () => new Set(healthy.received.map(({ id }) => id)).size === 200)
    assert.sameMembers(
      healthy.received.map(({ id }) => id),
      [...queued]
    )
    // Four requests of each slow partner are open, and none was answered.
    assert.strictEqual(hanging.length, 12)
    assert.isAtLeast(mine.stats().inFlight, 12)
    for (const answer of hanging.splice(0)) answer()
  })
})

describe("Internal work beside deliveries", () => {
  it("while internal commands wait for space a lease is delayed, by ten checks at the most: deliveries become few, and continue", async () => {
    const to = await receiver()
    await world.register(7, to.url)
    let pressed = true
    let looks = 0
    const looksBeforeLease: Array<number> = []
    await worker({
      pressed: () => {
        looks++
        return pressed
      },
      store: (real) => ({
        ...real,
        lease: (asked) => {
          looksBeforeLease.push(looks)
          looks = 0
          return real.lease(asked)
        }
      })
    })
    const [first] = await world.queue(7)
    await until("the first one, under pressure", () => to.received.some(({ id }) => id === first))
    assert.strictEqual(looksBeforeLease[0], 10)
    pressed = false
    const [second] = await world.queue(7)
    await until("the second one, without", () => to.received.some(({ id }) => id === second))
    assert.isBelow(looksBeforeLease.at(-1) ?? 10, 10)
  })
})

describe("Stop and start", () => {
  it("SC-WHK-06: 1,000 due deliveries, the worker closed in the middle and started again: each arrives, the same bytes", async () => {
    const to = await receiver()
    const partnerIds = [11, 12, 13, 14, 15]
    for (const id of partnerIds) await world.register(id, to.url)
    const queued = (await Promise.all(partnerIds.map((id) => world.queue(id, 200)))).flat()
    const first = await world.startWorker()
    await until("some to arrive", () => to.received.length > 100)
    await first.close()
    const before = to.received.length
    assert.isBelow(before, 1_000)
    // A stop that ended in time has returned every lease or written its result.
    assert.deepStrictEqual(await world.rows("webhookDeliveries", "claim_token IS NOT NULL AND partner_id > 10"), [])
    await worker()
    await until("all to arrive", () => new Set(to.received.map(({ id }) => id)).size === 1_000)
    await until("all results", async () => {
      const [row] = await world.query<{ readonly n: bigint }>(
        "SELECT count(*) AS n FROM webhook_deliveries WHERE partner_id > 10 AND state = 'SENT'"
      )
      return Number(row?.n) === 1_000
    })
    assert.strictEqual(to.received.length, 1_000) // An orderly stop sends no delivery twice.
    assert.sameMembers(
      to.received.map(({ id }) => id),
      [...queued]
    )
  })

  it("a stop does not wait for a hanging endpoint longer than its share, and the lease stays for takeover", async () => {
    const to = await receiver(() => undefined)
    await world.register(21, to.url)
    const mine = await world.startWorker({ stopMillis: 100 })
    const [deliveryId = 0] = await world.queue(21)
    await until("the attempt", () => to.received.length === 1)
    await mine.close()
    await until("the connection to be closed", () => to.openSockets() === 0)
    const row = await world.delivery(deliveryId)
    assert.deepStrictEqual([row.state, row.claimToken === null], ["PENDING", false])
  })

  it("a defect of the sender counts as a failed attempt and keeps no slot", async () => {
    await world.register(22, "https://127.0.0.1:1/")
    const mine = await worker({ receive: () => Effect.die(new Error("broken")) })
    const queued = await world.queue(22, 9)
    await until("all to have failed", async () =>
      (await world.rows("webhookDeliveries", `id = ANY('{${queued.join(",")}}')`)).every(
        ({ state }) => state === "RETRYING"
      )
    )
    assert.strictEqual(mine.stats().inFlight, 0)
  })
})

describe("Lanes", () => {
  const limits = { perPartner: 4, total: 6, reserved: 0, ahead: 8, held: 12, perLease: 3 }

  it("A3-34: in any sequence no limit of a lane or of all lanes is exceeded, and every delivery is started or returned once", () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.record({ type: fc.constant("hunger" as const), partner: fc.integer({ min: 1, max: 5 }) }),
            fc.record({ type: fc.constant("lease" as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
            fc.record({ type: fc.constant("start" as const) }),
            fc.record({ type: fc.constant("finish" as const), index: fc.nat(), quick: fc.boolean() }),
            fc.record({ type: fc.constant("drop" as const), partner: fc.integer({ min: 1, max: 5 }) })
          ),
          { maxLength: 200 }
        ),
        (moves) => {
          const lanes = new DeliveryLanes(limits)
          const inFlight: Array<DeliveryRow> = []
          const open = new Set<number>()
          const leave = ({ id }: DeliveryRow) => assert.isTrue(open.delete(id))
          let ids = 0
          for (const move of moves) {
            if (move.type === "hunger") lanes.mayHave(move.partner)
            if (move.type === "lease") {
              const wanted = lanes.nextLease()
              assert.isAtMost(wanted.length, limits.perLease)
              const rows = wanted.flatMap(({ partnerId, limit }) =>
                Array.from({ length: Math.round(limit * move.share) }, () => deliveryOf(++ids, partnerId))
              )
              for (const { id } of rows) open.add(id)
              lanes.leased(wanted, rows)
              assert.isAtMost(open.size, limits.held)
            }
            if (move.type === "start") for (let row = lanes.next(); row !== null; row = lanes.next()) inFlight.push(row)
            if (move.type === "finish" && inFlight.length > 0) {
              const [row] = inFlight.splice(move.index % inFlight.length, 1) as [DeliveryRow]
              leave(row)
              lanes.finished(row.partnerId, move.quick).forEach(leave)
            }
            if (move.type === "drop") lanes.drop(move.partner).forEach(leave)
            assert.strictEqual(lanes.inFlight, inFlight.length)
            assert.isAtMost(inFlight.length, limits.total)
            for (const [, rows] of Map.groupBy(inFlight, (row) => row.partnerId))
              assert.isAtMost(rows.length, limits.perPartner)
          }
          lanes.dropAll().forEach(leave)
          inFlight.forEach(leave)
          assert.strictEqual(open.size, 0)
        }
      ),
      { numRuns: 500 }
    ))

  it("lanes take turns while slots are short", () => {
    const lanes = new DeliveryLanes({ ...limits, total: 16 })
    for (const partner of [1, 2]) lanes.mayHave(partner)
    lanes.leased(
      lanes.nextLease(),
      [1, 2].flatMap((partner) => Array.from({ length: 4 }, (_, n) => deliveryOf(partner * 10 + n, partner)))
    )
    const started: Array<number> = []
    for (let row = lanes.next(); row !== null; row = lanes.next()) started.push(row.id)
    assert.deepStrictEqual(started, [10, 20, 11, 21, 12, 22, 13, 23])
  })

  it("A3-34: however many endpoints hang, a quick lane finds slots, and slow ones are reduced to one attempt each", () => {
    const many = new DeliveryLanes({ ...limits, total: 24, reserved: 8, held: 1_000, perLease: 100 })
    const give = (partner: number, count: number) => {
      many.mayHave(partner)
      many.leased(
        many.nextLease(),
        Array.from({ length: count }, (_, n) => deliveryOf(partner * 100 + n, partner))
      )
    }
    const startAll = () => {
      const started: Array<number> = []
      for (let row = many.next(); row !== null; row = many.next()) started.push(row.partnerId)
      return started
    }
    give(1, 1)
    assert.deepStrictEqual(startAll(), [1])
    many.finished(1, true)
    for (let partner = 2; partner <= 30; partner++) give(partner, 4)
    const hanging = startAll()
    assert.lengthOf(hanging, 16)
    assert.isAtLeast(new Set(hanging).size, 10)
    give(1, 4)
    assert.deepStrictEqual(startAll(), [1, 1, 1, 1])
  })
})
