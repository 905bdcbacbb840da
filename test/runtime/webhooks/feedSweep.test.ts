/** The sweep of the notification feeds and the retention of the delivery log (doc 3, sweep rules; A3-36, A3-38). */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Schema, Scope } from "effect"
import { feedEvents } from "../../../src/http/api/feedEvents.ts"
import type { PolledKind } from "../../../src/machines/Effects.ts"
import { notificationLimits } from "../../../src/machines/shared/Limits.ts"
import { feedEventOf } from "../../../src/machines/webhook/feedEventOf.ts"
import { deleteOldDeliveries, retentionMillis } from "../../../src/runtime/services/webhooks/DeliveryRetention.ts"
import { FeedSource } from "../../../src/runtime/ports/FeedSource.ts"
import { FeedSweep } from "../../../src/runtime/services/webhooks/FeedSweep.ts"
import { sampleRows } from "../engine/fixtures.ts"
import { deliveryOf } from "./DeliveryBench.ts"
import { startWorld, type World } from "./webhookWorld.ts"

const url = "https://127.0.0.1:1/"
let world: World
let clients = 0
let notifications = 0
let partners = 0

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

/** A sweep of a service that has just started. */
const openSweep = async () => {
  const scope = await Effect.runPromise(Scope.make())
  const context = await world.run(
    Layer.buildWithScope(Layer.fresh(FeedSweep.layer).pipe(Layer.provide(FeedSource.layer)), scope)
  )
  return {
    sweep: () => Effect.runPromise(Context.get(context, FeedSweep).sweep),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
type Sweep = Awaited<ReturnType<typeof openSweep>>
const withSweep = async (use: (sweep: Sweep) => Promise<void>) => {
  const sweep = await openSweep()
  try {
    await use(sweep)
  } finally {
    await sweep.close()
  }
}

/** A partner with an ACTIVE endpoint and one client. */
const partner = async () => {
  const partnerId = ++partners
  const clientId = ++clients
  await world.register(partnerId, url)
  await world.decide(partnerId, (turn) =>
    turn.draft.put("clients", { ...sampleRows(clientId).clients, partnerId, uid: `P-${clientId}` })
  )
  return { partnerId, clientId }
}
type Partner = Awaited<ReturnType<typeof partner>>

/** Writes a notification. `late`: the delay after its own time. Returns its id. */
const notify = async ({ partnerId, clientId }: Partner, ts: number, late = 0, kind = "RESTRICTION_SET") => {
  const id = ++notifications
  await world.decide(partnerId, (turn) =>
    turn.draft.put("notifications", { id, partnerId, clientId, kind, ref: `R${id}`, ts, writtenAt: ts + late })
  )
  return id
}
const forwarded = async ({ partnerId }: Partner) =>
  (await world.rows("webhookDeliveries", `partner_id = ${partnerId}`)).map(({ id, event, body, ts, clientId }) => {
    const sent = JSON.parse(body) as { readonly data: { readonly ref: string } }
    return { id, event, ts, clientId, sent, ref: Number(sent.data.ref.slice(1)) }
  })
const refs = async (of: Partner) => (await forwarded(of)).map(({ ref }) => ref)

describe("Feed sweep", () => {
  it("doc 3: every kind becomes its event, with kind, ref and ts, in the delivery envelope", () =>
    withSweep(async ({ sweep }) => {
      const mine = await partner()
      const now = world.now()
      const kinds = Object.keys(feedEventOf)
      for (const kind of kinds) await notify(mine, now, 5, kind)
      await sweep()
      const rows = await forwarded(mine)
      assert.deepStrictEqual(
        rows.map(({ event, sent }) => [event, sent.data]),
        kinds.map((kind, index) => [
          feedEventOf[kind as keyof typeof feedEventOf],
          { kind, ref: `R${notifications - kinds.length + 1 + index}`, ts: now } as never
        ])
      )
      for (const { id, event, ts, clientId, sent } of rows) {
        assert.strictEqual(clientId, mine.clientId)
        assert.deepStrictEqual({ ...sent, data: null } as object, {
          id,
          event,
          partnerId: mine.partnerId,
          clientId,
          clientUid: `P-${clientId}`,
          partnerClientRef: `ref-${clientId}`,
          ts,
          data: null
        })
        const described = feedEvents.find(({ name }) => name === event)
        assert.isTrue(Schema.is(described?.data as Schema.Codec<unknown>)(sent.data), event)
      }
    }))

  it("A2-64: kinds without an event are polled alone, and delay no others", () =>
    withSweep(async ({ sweep }) => {
      const mine = await partner()
      const polled: ReadonlyArray<PolledKind> = [
        "APPROPRIATENESS_RETAKE",
        "BARRIER_OPENED",
        "BARRIER_SETTLED",
        "RFQ_EXPIRED",
        "MARGIN_CALL",
        "CLOSE_OUT"
      ]
      for (const kind of [...polled, "OF_A_NEWER_VERSION", "toString"]) {
        await notify(mine, world.now(), 0, kind)
        const id = await notify(mine, world.now(), 0, "BARRIER_NEAR_KO")
        await sweep()
        assert.strictEqual((await refs(mine)).at(-1), id, kind)
      }
      const events = (await forwarded(mine)).map(({ event }) => event)
      assert.deepStrictEqual(new Set(events), new Set(["barrier.near_barrier"]))
    }))

  it("A3-38: one notification is forwarded once, however often and by however many processes it is swept", async () => {
    const mine = await partner()
    const ids = [await notify(mine, world.now()), await notify(mine, world.now())]
    const sweeps = await Promise.all([openSweep(), openSweep()])
    await Promise.all(sweeps.flatMap(({ sweep }) => [sweep(), sweep(), sweep()]))
    await sweeps[0]?.sweep()
    assert.deepStrictEqual(await refs(mine), ids)
    for (const { close } of sweeps) await close()
    await withSweep(async ({ sweep }) => {
      await sweep() // The sweep after a restart.
      assert.deepStrictEqual(await refs(mine), ids)
    })
  })

  it("SC-WHK-09: written 30 s late it is forwarded, a millisecond later it is not", () =>
    withSweep(async ({ sweep }) => {
      const mine = await partner()
      await sweep()
      world.advance(40_000)
      const at = world.now() - notificationLimits.rereadMillis
      const intime = await notify(mine, at, notificationLimits.rereadMillis)
      await notify(mine, at, notificationLimits.rereadMillis + 1)
      await sweep()
      world.advance(60_000)
      await sweep()
      assert.deepStrictEqual(await refs(mine), [intime])
    }))

  it("SC-WHK-09: a notification written late, between two sweeps and before the last one's time, is still forwarded", () =>
    withSweep(async ({ sweep }) => {
      const mine = await partner()
      world.advance(100_000)
      await sweep()
      const id = await notify(mine, world.now() - 25_000, 25_000)
      await sweep()
      assert.deepStrictEqual(await refs(mine), [id])
    }))

  it("doc 3: the first sweep after activation starts at the activation; a rotation starts nothing anew", () =>
    withSweep(async ({ sweep }) => {
      const mine = await partner()
      const row = (await world.rows("webhookEndpoints", `partner_id = ${mine.partnerId}`))[0]
      const activatedAt = row?.context["sweepFrom"] as number
      await notify(mine, activatedAt - 1)
      const first = await notify(mine, activatedAt)
      await sweep()
      assert.deepStrictEqual(await refs(mine), [first])
      const at = world.now()
      const between = await notify(mine, at)
      await world.register(mine.partnerId, url, { context: { partnerId: mine.partnerId, sweepFrom: at + 1 } })
      await sweep()
      assert.deepStrictEqual(await refs(mine), [first, between])
      await world.register(mine.partnerId, url, { state: "INACTIVE" })
      await notify(mine, world.now())
      world.advance(1_000)
      await sweep()
      await world.register(mine.partnerId, url)
      const after = await notify(mine, world.now())
      await sweep()
      assert.deepStrictEqual(await refs(mine), [first, between, after])
    }))

  it("A3-38: reads from the last sweep, however long ago, across a restart and over several pages", async () => {
    const mine = await partner()
    const early = await notify(mine, world.now())
    await withSweep(async ({ sweep }) => void (await sweep()))
    world.advance(7_200_000)
    const at = world.now()
    await world.decide(mine.partnerId, (turn) => {
      for (let n = 0; n < 1_200; n++) {
        const id = ++notifications
        turn.draft.put("notifications", {
          id,
          ...mine,
          kind: "MONEY_MOVEMENT",
          ref: `R${id}`,
          ts: at - (n % 3),
          writtenAt: at
        })
      }
    })
    world.advance(7_200_000)
    await withSweep(async ({ sweep }) => void (await sweep()))
    const found = await refs(mine)
    assert.strictEqual(found.length, 1_201)
    assert.strictEqual(new Set(found).size, 1_201)
    assert.strictEqual(found[0], early)
  })
})

describe("Retention of the delivery log", () => {
  it("A3-39: a partner's last SENT row stays, because lastDeliveryAt is read from it", async () => {
    const { partnerId } = await partner()
    const now = world.now() + 2 * retentionMillis
    const old = now - retentionMillis - 10
    const first = 6_000_000
    await world.decide(partnerId, (turn) => {
      for (const index of [0, 1, 2]) {
        const row = deliveryOf(first + index, partnerId, { state: "SENT", nextAt: old + index, ts: old })
        turn.draft.put("webhookDeliveries", { ...row, context: { ...row.context, sentAt: old + index } })
      }
    })
    await world.run(deleteOldDeliveries(now))
    const left = await world.rows("webhookDeliveries", `id >= ${first} AND id < ${first + 3}`)
    assert.deepStrictEqual(
      left.map(({ id }) => id - first),
      [2]
    )
  })

  it("A3-36: a row is deleted 90 days after it was SENT or FAILED, not sooner, and never while it waits", async () => {
    const { partnerId } = await partner()
    const now = world.now() + 2 * retentionMillis
    const old = now - retentionMillis
    const first = 5_000_000
    const states = [
      ["SENT", old - 1, old - 2],
      ["FAILED", old - 1, old - 2],
      ["SENT", old, old - 2],
      ["FAILED", now, old - 2],
      ["PENDING", old - 1, old - 2],
      ["RETRYING", old - 1, old - 2],
      ["SENT", now, now]
    ] as const
    await world.decide(partnerId, (turn) => {
      for (const [index, [state, nextAt, ts]] of states.entries())
        turn.draft.put("webhookDeliveries", {
          ...deliveryOf(first + index, partnerId, { state, nextAt, ts }),
          context: {
            attempts: 1,
            lastStatus: null,
            error: null,
            sentAt: state === "SENT" ? nextAt : null,
            nextAt,
            tries: []
          }
        })
    })
    await world.run(deleteOldDeliveries(now))
    const left = await world.rows("webhookDeliveries", `id >= ${first} AND id < ${first + 10}`)
    assert.deepStrictEqual(
      left.map(({ id }) => id - first),
      [2, 3, 4, 5, 6]
    )
    assert.strictEqual(await world.run(deleteOldDeliveries(now)), 0)
    assert.strictEqual(await world.run(deleteOldDeliveries(now + 1)), 1)
  })
})
