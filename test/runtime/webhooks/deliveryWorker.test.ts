/**
 * The delivery worker on Postgres and real sockets: the machine's table (D14) and doc 3, Webhook registration and
 * delivery. Tests move business time and never wait for it.
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { webhookLimits } from "../../../src/machines/shared/Limits.ts"
import { Unavailable } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { queueDelivery } from "../../../src/runtime/effects/queueDelivery.ts"
import { signatureOf } from "../../../src/runtime/services/webhooks/signature.ts"
import { retrySeconds } from "../../fixtures/webhookSignatures.ts"
import { type Behaviour, secretOf, startReceiver, startWorld, until, type World } from "./webhookWorld.ts"

let world: World
const closers: Array<() => Promise<unknown>> = []
let partners = 0

beforeAll(async () => {
  world = await startWorld()
})
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
  // Ends the deliveries of a test, so that the next test's workers do not get them.
  for (let id = 1; id <= partners; id++) await world.register(id, "https://127.0.0.1:1/", { state: "INACTIVE" })
})
afterAll(() => world.stop())

const receiver = async (behave?: Behaviour) => {
  const made = await startReceiver(world.tls, behave)
  closers.push(made.close)
  return made
}
/** A receiver that answers only on request. */
const holding = async () => {
  const waiting: Array<(status: number) => void> = []
  let open = false
  const made = await receiver((_delivery, response) => {
    if (open) return 200
    waiting.push((status) => response.writeHead(status).end())
    return undefined
  })
  return {
    ...made,
    waiting: () => waiting.length,
    answer: (status: number) => waiting.shift()?.(status),
    hold: () => (open = false),
    release: () => {
      open = true
      for (const answer of waiting.splice(0)) answer(200)
    }
  }
}
const worker = async (options?: Parameters<World["startWorker"]>[0]) => {
  const made = await world.startWorker(options)
  closers.push(made.close)
  return made
}
const partner = async (url: string): Promise<number> => {
  const id = ++partners
  await world.register(id, url)
  return id
}
const reached = (id: number, state: string, attempts?: number) =>
  until(`delivery ${id} to be ${state}`, async () => {
    const row = await world.delivery(id)
    return row.state === state && (attempts === undefined || row.context["attempts"] === attempts) ? row : false
  })

describe("Webhook delivery", () => {
  it("doc 3: one POST with the stored bytes, four headers and a signature that verifies; then SENT", async () => {
    const to = await receiver()
    const id = await partner(to.url)
    await worker()
    const [deliveryId = 0] = await world.queue(id)
    const row = await reached(deliveryId, "SENT")
    assert.strictEqual(to.received.length, 1)
    const [got] = to.received
    assert.strictEqual(got?.body, row.body)
    assert.deepStrictEqual(
      [got?.headers["content-type"], got?.headers["x-brokerage-event"], got?.headers["x-brokerage-delivery"]],
      ["application/json", "webhook.test", String(deliveryId)]
    )
    const timestamp = String(got?.headers["x-brokerage-timestamp"])
    assert.match(timestamp, /^\d{10}$/)
    assert.isAtMost(Math.abs(Number(timestamp) - Date.now() / 1_000), 30)
    assert.strictEqual(got?.headers["x-brokerage-signature"], signatureOf(secretOf(id), Number(timestamp), row.body))
    assert.deepInclude(row.context, { attempts: 1, lastStatus: 200, error: null, nextAt: null })
    assert.deepStrictEqual([row.claimToken, row.claimedAt, row.nextAt], [null, null, row.context["sentAt"] as number])
  })

  it("SC-WHK-02, WHK-001: ten failures on the ladder, FAILED, and a redelivery with the same id and bytes", async () => {
    let status = 500
    const to = await receiver(() => status)
    const id = await partner(to.url)
    await worker()
    const [deliveryId = 0] = await world.queue(id)
    for (const [index, seconds] of retrySeconds.entries()) {
      const row = await reached(deliveryId, "RETRYING", index + 1)
      assert.strictEqual(row.nextAt, row.context["nextAt"])
      assert.deepInclude(row.context, { lastStatus: 500, error: "The endpoint answered 500." })
      // Due exactly this long after the failure, which happened at some moment of the previous attempt.
      const failedAt = row.nextAt - seconds * 1_000
      assert.isAtMost(failedAt, world.now())
      assert.isAtLeast(failedAt, world.now() - 20_000)
      world.advance(row.nextAt - world.now())
    }
    await reached(deliveryId, "FAILED", webhookLimits.attempts)
    assert.strictEqual(to.received.length, 10)
    world.advance(3_600_000)
    const failed = await world.delivery(deliveryId)
    const redelivered = (now: number) => ({
      ...failed,
      state: "PENDING" as const,
      context: { ...failed.context, attempts: 0, nextAt: now },
      nextAt: now
    })
    status = 204
    await world.decide(id, (turn) => turn.draft.put("webhookDeliveries", redelivered(turn.now)))
    assert.deepInclude((await reached(deliveryId, "SENT")).context, { attempts: 1, lastStatus: 204 })
    assert.strictEqual(new Set(to.received.map(({ id: of, body }) => `${of} ${body}`)).size, 1)
  })

  it("SC-WHK-10: every attempt has its own timestamp and signature", async () => {
    const to = await receiver(({ headers }) => (headers["x-brokerage-timestamp"] === first() ? 503 : 200))
    const first = () => to.received[0]?.headers["x-brokerage-timestamp"]
    const id = await partner(to.url)
    await worker()
    const [deliveryId = 0] = await world.queue(id)
    await reached(deliveryId, "RETRYING")
    await until("a new second", () => String(Math.floor(Date.now() / 1_000)) !== first())
    world.advance(10_000)
    await reached(deliveryId, "SENT")
    const signatures = to.received.map(({ headers }) => headers["x-brokerage-signature"])
    assert.strictEqual(new Set(signatures).size, 2)
  })

  it("SC-WHK-01: waiting deliveries go to the new url under the new secret", async () => {
    const old = await receiver(() => 500)
    const now = await receiver()
    const id = await partner(old.url)
    await worker()
    const [deliveryId = 0] = await world.queue(id)
    await reached(deliveryId, "RETRYING")
    await world.register(id, now.url, { secret: secretOf(999) })
    world.advance(10_000)
    await reached(deliveryId, "SENT")
    const [got] = now.received
    assert.strictEqual(old.received.length, 1)
    assert.strictEqual(
      got?.headers["x-brokerage-signature"],
      signatureOf(secretOf(999), Number(got?.headers["x-brokerage-timestamp"]), String(got?.body))
    )
  })

  it("A3-31, SC-WHK-08: while the endpoint is INACTIVE rows wait untried; a new PUT resumes them at once", async () => {
    let status = 500
    const to = await receiver(() => status)
    const id = await partner(to.url)
    await worker()
    const [deliveryId = 0] = await world.queue(id)
    const before = await reached(deliveryId, "RETRYING")
    await world.register(id, to.url, { state: "INACTIVE" })
    world.advance(86_400_000)
    const control = await receiver()
    const [other = 0] = await world.queue(await partner(control.url))
    await reached(other, "SENT")
    assert.deepStrictEqual(await world.delivery(deliveryId), before)
    assert.strictEqual(to.received.length, 1)
    status = 200
    await world.register(id, to.url, { secret: secretOf(998) })
    await reached(deliveryId, "SENT", 2)
  })

  it("doc 3: a queued delivery is sent at once, without waiting for the next poll", async () => {
    const to = await receiver()
    const id = await partner(to.url)
    await worker()
    await reached((await world.queue(id))[0] ?? 0, "SENT")
    const startedAt = Date.now()
    for (let n = 0; n < 5; n++) await reached((await world.queue(id))[0] ?? 0, "SENT")
    // Five polls at intervals of five seconds would take far longer.
    assert.isBelow(Date.now() - startedAt, webhookLimits.workerEveryMillis * 2)
  })

  it("output gate: a rolled back cause delivers nothing", async () => {
    const to = await receiver()
    const id = await partner(to.url)
    await worker()
    await world.decide(id, (turn) => turn.draft.claim(`taken:${id}`, 1))
    const outcome = await world
      .decide(id, (turn) => {
        const endpoint = turn.state.one("webhookEndpoints") ?? null
        queueDelivery(turn, { partnerId: id, clientId: null, endpoint }, { name: "webhook.test", data: {} })
        turn.draft.claim(`taken:${id}`, 2)
      })
      .catch((error: unknown) => (error as { readonly _tag: string })._tag)
    assert.strictEqual(outcome, "ClaimLost")
    const [kept = 0] = await world.queue(id)
    await reached(kept, "SENT")
    assert.deepStrictEqual(
      to.received.map((got) => got.id),
      [kept]
    )
  })
})

describe("Claims of a worker", () => {
  it("SC-WHK-07: killed after the send and before the result: taken over after 60 s, sent again with the same id", async () => {
    const to = await receiver()
    const id = await partner(to.url)
    const doomed = await worker({ stopMillis: 0, store: (real) => ({ ...real, finish: () => Effect.never }) })
    const [deliveryId = 0] = await world.queue(id)
    await until("the first attempt", () => to.received.length === 1)
    await doomed.close()
    const leased = await world.delivery(deliveryId)
    assert.deepStrictEqual([leased.state, leased.claimToken === null], ["PENDING", false])
    await worker()
    world.advance(59_000 - (world.now() - (leased.claimedAt ?? 0)))
    const [control = 0] = await world.queue(id)
    await reached(control, "SENT")
    assert.deepStrictEqual(
      to.received.map((got) => got.id),
      [deliveryId, control]
    )
    world.advance(2_000)
    const row = await reached(deliveryId, "SENT")
    assert.strictEqual(row.context["attempts"], 1)
    assert.deepStrictEqual(
      to.received.filter((got) => got.id === deliveryId).map(({ body }) => body),
      [row.body, row.body]
    )
  })

  it("D14: a 2xx that arrives after the takeover still sets SENT; a failure that arrives after it is ignored", async () => {
    const answers: Array<(status: number) => void> = []
    const to = await receiver((_delivery, response) => {
      answers.push((status) => response.writeHead(status).end())
    })
    const id = await partner(to.url)
    const slow = await worker()
    const [late = 0, ignored = 0] = await world.queue(id, 2)
    await until("both attempts", () => to.received.length === 2)
    await slow.stop.pipe(Effect.timeoutOption(0), Effect.runPromise)
    world.advance(61_000)
    const other = await worker()
    await until("both taken over", () => to.received.length === 4)
    const order = to.received.map((got) => got.id)
    const answer = (index: number, status: number) => answers[index]?.(status)
    // The second worker fails for the first delivery, then the first worker's 2xx comes in.
    answer(2 + order.slice(2).indexOf(late), 500)
    await reached(late, "RETRYING", 1)
    answer(order.indexOf(late), 200)
    assert.deepInclude((await reached(late, "SENT")).context, { lastStatus: 200, error: null })
    // For the other delivery, the first worker fails while the second still tries.
    answer(order.indexOf(ignored), 500)
    await until("the slow worker to be done", () => slow.stats().held === 0)
    assert.deepInclude(await world.delivery(ignored), { state: "PENDING" })
    answer(2 + order.slice(2).indexOf(ignored), 201)
    assert.deepInclude((await reached(ignored, "SENT")).context, { attempts: 1, lastStatus: 201 })
    await until("the other worker to be done", () => other.stats().held === 0)
  })

  it("doc 3: two workers on one database share the work and never send a delivery twice", async () => {
    const to = await receiver()
    const ids = [await partner(to.url), await partner(to.url)]
    for (const id of ids) await world.register(id, to.url, { state: "INACTIVE" })
    const counts = [0, 0]
    const counting = (n: number) =>
      worker({
        store: (real) => ({
          ...real,
          lease: (request) =>
            Effect.tap(real.lease(request), (rows) => Effect.sync(() => (counts[n] = (counts[n] ?? 0) + rows.length)))
        })
      })
    for (const id of ids) await world.register(id, to.url)
    const queued = (await Promise.all(ids.map((id) => world.queue(id, 150)))).flat()
    await Promise.all([counting(0), counting(1)])
    await until("all to arrive", () => to.received.length >= queued.length)
    await until("all results", async () =>
      (await world.rows("webhookDeliveries", `id = ANY('{${queued.join(",")}}')`)).every(
        ({ state }) => state === "SENT"
      )
    )
    assert.sameMembers(
      to.received.map(({ id }) => id),
      [...queued]
    )
    // A slow worker may return a lease without a request, so the leases may outnumber the deliveries.
    for (const count of counts) assert.isAbove(count, 0)
  })

  it("A3-34: never more than four in flight for a partner, whatever its backlog", async () => {
    const held = await holding()
    const id = await partner(held.url)
    await world.queue(id, 40)
    const mine = await worker()
    for (let answered = 0; answered < 12; answered++) {
      await until("four in flight", () => held.waiting() === 4)
      // After a further round of the worker there are still four.
      const control = await receiver()
      await reached((await world.queue(await partner(control.url)))[0] ?? 0, "SENT")
      assert.deepStrictEqual([held.waiting(), mine.stats().inFlight], [4, 4])
      held.answer(200)
    }
    held.release()
    await until("all to arrive", () => held.received.length === 40)
  })

  it("A3-34: oldest nextAt first", async () => {
    const held = await holding()
    const id = await partner(held.url)
    const queued = await world.queue(id, 12)
    // The delivery that was queued last is due first.
    await world.query(`UPDATE webhook_deliveries SET next_at = next_at - id WHERE partner_id = ${id}`)
    const oldest = queued.toReversed()
    await worker()
    await until("the first four", () => held.waiting() === 4)
    assert.sameMembers(
      held.received.map((got) => got.id),
      oldest.slice(0, 4)
    )
    for (let next = 4; next < oldest.length; next++) {
      held.answer(500)
      await until("the next", () => held.received.length === next + 1)
      assert.strictEqual(held.received.at(-1)?.id, oldest[next])
    }
    held.release()
  })

  /** A worker with four deliveries in flight at an endpoint that was quick so far, and more leased ahead. */
  const leasedAhead = async () => {
    const held = await holding()
    const id = await partner(held.url)
    const mine = await worker()
    held.release()
    for (const first of await world.queue(id, 2)) await reached(first, "SENT")
    held.hold()
    const queued = await world.queue(id, 30)
    await until("leases ahead of the slots", () => held.waiting() === 4 && mine.stats().held > 4)
    return { held, id, mine, queued }
  }
  const rowsOf = (ids: ReadonlyArray<number>) => world.rows("webhookDeliveries", `id = ANY('{${ids.join(",")}}')`)

  it("A3-31: a leased delivery that has not begun is returned when the endpoint becomes INACTIVE", async () => {
    const { held, id, mine, queued } = await leasedAhead()
    await world.register(id, held.url, { state: "INACTIVE" })
    held.release()
    await until("all to be given back", () => mine.stats().held === 0)
    const rows = await rowsOf(queued)
    assert.deepStrictEqual(
      [rows.filter(({ state }) => state === "SENT").length, rows.filter(({ state }) => state === "PENDING").length],
      [4, 26]
    )
    assert.isTrue(rows.every(({ claimToken, context }) => claimToken === null && Number(context["attempts"]) <= 1))
    assert.strictEqual(held.received.length, 6)
    await world.register(id, held.url)
    for (const queuedId of queued) await reached(queuedId, "SENT", 1)
  })

  it("a stop waits for attempts in flight and returns leases that have not begun", async () => {
    const { held, mine, queued } = await leasedAhead()
    const stopped = mine.close()
    await until("all but the four to be given back", () => mine.stats().held === 4)
    held.release()
    await stopped
    const rows = await rowsOf(queued)
    assert.strictEqual(rows.filter(({ state }) => state === "SENT").length, 4)
    assert.isTrue(rows.every(({ claimToken }) => claimToken === null))
    assert.strictEqual(held.received.length, 6)
  })

  it("an endpoint that is no longer quick keeps no leases in advance", async () => {
    const { held, mine } = await leasedAhead()
    held.answer(500)
    await until("the surplus to be given back", () => mine.stats().held <= 8)
    held.release()
  })

  it("architecture 8: results wait while the database is away and are written once it is back", async () => {
    const to = await receiver()
    const id = await partner(to.url)
    let away = false
    let refused = 0
    const gone = <A>(work: Effect.Effect<A, Unavailable>) =>
      Effect.suspend(() => {
        if (!away) return work
        refused++
        return Effect.fail(new Unavailable({ unknown: false }))
      })
    const mine = await worker({
      store: (real) => ({
        lease: (request) =>
          Effect.tap(gone(real.lease(request)), (rows) => Effect.sync(() => (away ||= rows.length > 0))),
        finish: (changes) => gone(real.finish(changes)),
        read: (ids) => gone(real.read(ids))
      })
    })
    const [deliveryId = 0] = await world.queue(id)
    await until("an attempt whose result is refused", () => to.received.length === 1 && refused > 0)
    assert.strictEqual(mine.stats().held, 1)
    away = false
    await reached(deliveryId, "SENT", 1)
    assert.strictEqual(to.received.length, 1)
  })
})
