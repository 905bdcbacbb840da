/**
 * The guarantees of a delivery store (A3-34, D14; doc 3 Limits: claim takeover), as one suite that every implementation
 * passes: deliveryStore.test.ts runs it on Postgres and in memory.
 */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { DeliveryContext } from "../../../src/machines/webhook/Webhook.ts"
import type { Unavailable } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import type { DeliveryRow } from "../../../src/runtime/tables/webhook.ts"
import type { DeliveryChange, LeaseRequest } from "../../../src/runtime/store/writes/deliveryWrites.ts"
import { noon } from "../engine/fixtures.ts"
import { type DeliveryBench, deliveryOf } from "./DeliveryBench.ts"

const run = <A>(effect: Effect.Effect<A, Unavailable>): Promise<A> => Effect.runPromise(effect)
const ids = (rows: ReadonlyArray<DeliveryRow>): ReadonlyArray<number> => rows.map(({ id }) => id)

const sent = (before: DeliveryRow, at: number): DeliveryChange => {
  const context = before.context as unknown as DeliveryContext
  return {
    before,
    state: "SENT",
    context: { ...context, attempts: context.attempts + 1, lastStatus: 200, sentAt: at, nextAt: null },
    nextAt: at
  }
}
const retrying = (before: DeliveryRow, at: number): DeliveryChange => ({
  before,
  state: "RETRYING",
  context: {
    attempts: 1,
    lastStatus: null,
    error: "Zoë's endpoint didn't answer.",
    sentAt: null,
    nextAt: at,
    tries: []
  },
  nextAt: at
})

let bench: DeliveryBench
let leases = 0
const lease = (lanes: ReadonlyArray<readonly [number, number]>, over: Partial<LeaseRequest> = {}) =>
  run(
    bench.store.lease({
      token: `lease-${++leases}`,
      now: noon,
      lanes: lanes.map(([partnerId, limit]) => ({ partnerId, limit })),
      except: [],
      ...over
    })
  )

export const deliveryStoreConformance = (name: string, open: () => Promise<DeliveryBench>): void => {
  describe(`${name}: the promises of a delivery store`, () => {
    beforeEach(async () => {
      bench = await open()
    })
    afterEach(() => bench.close())
    describe("leases", leaseTests)
    describe("results", resultTests)
  })
}

const leaseTests = () => {
  it("A3-34: takes each lane's oldest due deliveries up to its limit, and nothing of other partners", async () => {
    await bench.put([
      deliveryOf(1, 1, { nextAt: noon - 1 }),
      deliveryOf(2, 1, { nextAt: noon - 3 }),
      deliveryOf(3, 1, { nextAt: noon - 2, state: "RETRYING" }),
      deliveryOf(4, 1, { nextAt: noon + 1 }),
      deliveryOf(5, 1, { state: "SENT", nextAt: noon - 9 }),
      deliveryOf(6, 1, { state: "FAILED", nextAt: noon - 9 }),
      deliveryOf(7, 2, { nextAt: noon - 9 }),
      deliveryOf(8, 3)
    ])
    assert.deepStrictEqual(
      ids(
        await lease([
          [1, 2],
          [3, 4]
        ])
      ),
      [2, 3, 8]
    )
    assert.deepStrictEqual(
      ids(
        await lease([
          [1, 9],
          [3, 9]
        ])
      ),
      [1]
    )
    assert.deepStrictEqual(await lease([]), [])
  })

  it("D14: a leased row carries the lease and is otherwise as stored", async () => {
    const row = deliveryOf(1, 1, { clientId: 9, state: "RETRYING", body: '{"text":"Zoë 🙂"}' })
    await bench.put([row])
    const leased = { ...row, claimToken: "t", claimedAt: noon }
    assert.deepStrictEqual(await lease([[1, 1]], { token: "t" }), [leased])
    assert.deepStrictEqual(await bench.rows(), [leased])
  })

  it("doc 3 Limits: a lease older than 60 s is taken over, one of 60 s is not, and never one's own", async () => {
    await bench.put([deliveryOf(1, 1)])
    assert.deepStrictEqual(ids(await lease([[1, 4]])), [1])
    assert.deepStrictEqual(ids(await lease([[1, 4]], { now: noon + 60_000 })), [])
    assert.deepStrictEqual(ids(await lease([[1, 4]], { now: noon + 60_001, except: [1] })), [])
    const [taken] = await lease([[1, 4]], { now: noon + 60_001, token: "second" })
    assert.deepStrictEqual([taken?.claimToken, taken?.claimedAt], ["second", noon + 60_001])
  })

  it("doc 3: workers that lease at the same moment never hold the same delivery", async () => {
    await bench.put(Array.from({ length: 200 }, (_, index) => deliveryOf(index + 1, (index % 4) + 1)))
    const lanes = [1, 2, 3, 4].map((partnerId) => [partnerId, 10] as const)
    const rounds = await Promise.all(Array.from({ length: 8 }, () => lease(lanes)))
    let all = rounds.flat()
    // Rows that were locked by concurrent leases are free again afterwards.
    for (let more = await lease(lanes); more.length > 0; more = await lease(lanes)) all = [...all, ...more]
    assert.strictEqual(all.length, 200)
    assert.strictEqual(new Set(ids(all)).size, 200)
  })
}

const resultTests = () => {
  it("D14: results end leases, several in one go, with their next time in column and context", async () => {
    await bench.put([deliveryOf(1, 1), deliveryOf(2, 1), deliveryOf(3, 1)])
    const [one, two] = (await lease([[1, 2]])) as readonly [DeliveryRow, DeliveryRow]
    assert.deepStrictEqual(
      await run(bench.store.finish([retrying(two, noon + 10_000), sent(one, noon + 5)])),
      new Set([1, 2])
    )
    const rows = new Map((await bench.rows()).map((row) => [row.id, row]))
    assert.deepStrictEqual(rows.get(1), {
      ...deliveryOf(1, 1, { state: "SENT", nextAt: noon + 5 }),
      context: { attempts: 1, lastStatus: 200, error: null, sentAt: noon + 5, nextAt: null, tries: [] }
    })
    assert.deepStrictEqual(rows.get(2), {
      ...deliveryOf(2, 1, { state: "RETRYING", nextAt: noon + 10_000 }),
      context: retrying(two, noon + 10_000).context as never
    })
    assert.deepStrictEqual(ids(await lease([[1, 9]], { now: noon + 9_999 })), [3])
    assert.deepStrictEqual(ids(await lease([[1, 9]], { now: noon + 10_000 })), [2])
    assert.deepStrictEqual(await run(bench.store.finish([])), new Set())
  })

  it("D14: a result after takeover is not written; the others of the same statement are", async () => {
    await bench.put([deliveryOf(1, 1), deliveryOf(2, 1)])
    const [one, two] = (await lease([[1, 2]])) as readonly [DeliveryRow, DeliveryRow]
    const [again] = (await lease([[1, 1]], { now: noon + 60_001 })) as readonly [DeliveryRow]
    assert.strictEqual(again.id, 1)
    assert.deepStrictEqual(await run(bench.store.finish([sent(one, noon), sent(two, noon)])), new Set([2]))
    assert.deepStrictEqual(await run(bench.store.finish([sent(again, noon)])), new Set([1]))
    assert.deepStrictEqual(await run(bench.store.finish([sent(again, noon)])), new Set())
  })

  it("A3-31: a lease given back leaves the row as it was before", async () => {
    const row = deliveryOf(1, 1, { state: "RETRYING" })
    await bench.put([row])
    const [leased] = (await lease([[1, 1]])) as readonly [DeliveryRow]
    const context = row.context as unknown as DeliveryContext
    await run(bench.store.finish([{ before: leased, state: "RETRYING", context, nextAt: row.nextAt }]))
    assert.deepStrictEqual(await bench.rows(), [row])
    assert.deepStrictEqual(ids(await lease([[1, 1]])), [1])
  })

  it("D14: reads rows as they are now, leased or not; unknown ids are missing", async () => {
    await bench.put([deliveryOf(1, 1), deliveryOf(2, 1)])
    const [leased] = await lease([[1, 1]])
    const found = (await run(bench.store.read([2, 1, 77]))).toSorted((a, b) => a.id - b.id)
    assert.deepStrictEqual(found, [leased, deliveryOf(2, 1)])
    assert.deepStrictEqual(await run(bench.store.read([])), [])
  })
}
