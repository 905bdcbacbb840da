/**
 * Webhooks of the real service under kill -9 and SIGTERM of the service, kill -9 of its database, and kills before and
 * after a commit. Every committed event is delivered at least once, a rolled-back cause has no delivery, and no
 * delivery goes to a private address (doc 3, Webhook registration and delivery; D14; A3-30..A3-34; SC-WHK-06).
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Redacted, Schema } from "effect"
import { readFileSync } from "node:fs"
import { makePartnerClient } from "../../simulator/partner/PartnerClient.ts"
import { makePartnerReads } from "../../simulator/partner/PartnerReads.ts"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { acknowledge, type WebhookBehaviour } from "../../simulator/partner/WebhookBehaviour.ts"
import { laneLimits } from "../../src/runtime/services/webhooks/DeliveryLanes.ts"
import { notPublic } from "../../src/runtime/services/webhooks/WebhookAddresses.ts"
import { isDeep } from "../support/every.ts"
import { type Canary, lure } from "./canary.ts"
import { bounded, until, untilFound } from "./patience.ts"
import { killPostmaster } from "./postmaster.ts"
import { readyAgain } from "./strike.ts"
import { auditWebhooks, duplicatesOf, type WebhookAudit } from "./webhookAudit.ts"
import { receiverHosts, settle, type WebhookCrashWorld, withWebhookCrashWorld } from "./WebhookCrashWorld.ts"

const seed = 20_263
const limit = 120_000
const manyDue = isDeep ? 1_000 : 300

/** So slow that a backlog grows under load. */
const slow: WebhookBehaviour = () => ({ ...acknowledge, delayMillis: 50 })
const silent: WebhookBehaviour = () => ({ type: "silent" })
/** One in eight answers fails: an error, a broken connection, a redirect to an internal address. */
const flaky = (random: SeededRandom, canary: Canary): WebhookBehaviour => {
  const failures = [
    { type: "answer", status: 500 },
    { type: "reset" },
    { type: "answer", status: 302, location: lure(canary) }
  ] as const
  return () => (random.chance(1 / 8) ? random.pick(failures) : acknowledge)
}

/** Sends load until this number of deliveries is due at a slow endpoint. The fiber continues until `stopLoad`. */
const pileUp = Effect.fnUntraced(function* (world: WebhookCrashWorld, count: number) {
  world.react(slow)
  const load = yield* Effect.forkChild(world.crash.bot.work)
  yield* world.untilDue(count)
  return load
})

const stopLoad = (world: WebhookCrashWorld, load: Fiber.Fiber<void>) =>
  Effect.suspend(() => {
    world.crash.bot.stopPlanning()
    return bounded("every request to be acknowledged", Fiber.join(load))
  })

/** Delivers everything and checks every fact. */
const deliverAll = Effect.fnUntraced(function* (world: WebhookCrashWorld) {
  world.react(() => acknowledge)
  const settled = yield* settle(world)
  const audit: WebhookAudit = yield* auditWebhooks(world)
  assert.deepStrictEqual(audit.faults.slice(0, 20), [], `seed ${seed}`)
  return { ...settled, ...audit }
})

/** Partners whose endpoint is the canary, registered while its host was allowed. Each gets two events later. */
const registerShadow = Effect.fnUntraced(function* (world: WebhookCrashWorld, host: string, n: number) {
  const { cli, canary, crash } = world
  const code = `SHADOW${n}`
  const profile = ["--name", code, "--legal-name", `${code} AG`, "--country", "DE", "--licence", "MICA_CASP"]
  yield* cli("partner", "create", "--code", code, ...profile, "--sandbox")
  const issued = yield* cli("key", "issue", code, "--label", "shadow", "--scope", "TRADE")
  const { key } = Schema.decodeUnknownSync(Schema.Struct({ key: Schema.String }))(issued)
  const client = yield* makePartnerClient({
    origin: () => crash.service().url,
    key: Redacted.make(key),
    ca: readFileSync(crash.service().caFile, "utf8"),
    connections: 1
  })
  const url = `https://${host}:${canary.port}/webhook`
  const send = (call: Parameters<typeof client.send>[0]) =>
    Effect.map(Effect.orDie(client.send(call)), ({ status }) => assert.strictEqual(status, 200))
  yield* send({ method: "PUT", path: "/partner/v1/webhook", body: JSON.stringify({ url }) })
  const partnerId = yield* world.books.partnerOf(url)
  return {
    queue: Effect.forEach(["one", "two"], (idempotencyKey) =>
      send({ method: "POST", path: "/partner/v1/webhook/test", idempotencyKey })
    ),
    /** Waits until each has been attempted. */
    tried: Effect.andThen(
      untilFound(
        "the forbidden deliveries to be tried",
        Effect.map(
          world.books.deliveries(partnerId),
          (rows) => rows.length > 0 && rows.every((row) => row.attempts > 0)
        )
      ),
      world.books.deliveries(partnerId)
    )
  }
})

describe("webhooks through crashes", () => {
  it.live(
    `SC-WHK-06: killed with ${manyDue} deliveries due, the service makes each of them after its restart; a host no longer allowed gets none`,
    () =>
      withWebhookCrashWorld({ seed, alsoAllowed: ["127.0.0.2", "localhost"] }, (world) =>
        Effect.gen(function* () {
          const { crash, books, partnerId } = world
          const shadows = yield* Effect.forEach(["127.0.0.2", "localhost"], (host, n) => registerShadow(world, host, n))
          const load = yield* pileUp(world, manyDue + 300)
          world.react(flaky(crash.random.fork(), world.canary))
          yield* world.untilArrived(150)
          crash.service().signal("SIGKILL")
          yield* bounded("the service to end", crash.service().exited)
          const left = yield* books.backlog(partnerId)
          assert.isAtLeast(left.due, manyDue)
          assert.isAbove(left.claimed, 0, "killed in the middle of sending")
          const seen = world.arrivals.length
          yield* crash.start({ webhookHosts: receiverHosts })
          yield* world.replaceReceiver
          yield* Effect.forEach(shadows, ({ queue }) => queue)
          yield* stopLoad(world, load)
          const made = yield* deliverAll(world)
          assert.isAbove(made.waiting, 0, "claims of the dead and failed attempts had to wait for their time")
          assert.strictEqual(duplicatesOf(world.arrivals.slice(seen)), 0, "twice comes only what the kill cut off")
          assert.isTrue(world.arrivals.some(({ reaction }) => reaction.type === "answer" && reaction.status === 302))
          for (const { tried } of shadows)
            for (const { state, error, lastStatus } of yield* tried)
              assert.deepStrictEqual(
                { state, error, lastStatus },
                { state: "RETRYING", error: notPublic, lastStatus: null }
              )
        }).pipe(Effect.scoped)
      ),
    limit
  )

  it.live.runIf(isDeep)(
    "SC-WHK-06: while the database is killed repeatedly, the service recovers by itself and makes all deliveries",
    () =>
      withWebhookCrashWorld({ seed: seed + 1 }, (world) =>
        Effect.gen(function* () {
          const { crash } = world
          const load = yield* pileUp(world, manyDue)
          world.react(flaky(crash.random.fork(), world.canary))
          const left: Array<number> = []
          for (let blow = 0; blow < 3; blow++) {
            yield* world.untilArrived(80)
            yield* readyAgain(crash, killPostmaster(crash.cluster))
            left.push((yield* world.books.backlog(world.partnerId)).open)
          }
          yield* world.untilArrived(80)
          assert.isFalse(crash.service().hasExited())
          yield* stopLoad(world, load)
          const made = yield* deliverAll(world)
          assert.isAtLeast(left[0] ?? 0, manyDue)
          assert.strictEqual(made.duplicates, 0, "the worker still knows what it has sent")
        })
      ),
    limit
  )

  it.live.runIf(isDeep)(
    "SC-PLT-04: SIGTERM while the endpoint hangs ends with 0 within 15 s; hanging deliveries are made after the restart",
    () =>
      withWebhookCrashWorld({ seed: seed + 2 }, (world) =>
        Effect.gen(function* () {
          const { crash } = world
          world.react(silent)
          const load = yield* Effect.forkChild(crash.bot.work)
          yield* world.untilDue(100)
          yield* until("the endpoint to hang", () => world.arrivals.length >= laneLimits.perPartner)
          const at = yield* Clock.currentTimeMillis
          crash.service().signal("SIGTERM")
          const { code } = yield* bounded("the service to stop", crash.service().exited)
          const tookMillis = (yield* Clock.currentTimeMillis) - at
          assert.strictEqual(code, 0)
          assert.isAtMost(tookMillis, 15_000)
          world.react(() => acknowledge)
          yield* crash.start({ webhookHosts: receiverHosts })
          yield* stopLoad(world, load)
          const made = yield* deliverAll(world)
          assert.strictEqual(made.duplicates, 0, "nothing that hung had been acknowledged")
        })
      ),
    limit
  )

  it.live.runIf(isDeep)(
    "D14: killed before a commit, a rolled-back cause has no delivery; killed after it, each cause has one",
    () =>
      withWebhookCrashWorld({ seed: seed + 3 }, (world) =>
        Effect.gen(function* () {
          assert.isAbove(yield* diesUntil(world, "before-commit", ({ rolledBack }) => rolledBack), 0)
          assert.isAbove(yield* diesUntil(world, "after-commit", ({ committed }) => committed), 0)
        })
      ),
    limit
  )
})

/** Repeats kills at the point until one hits requests, because a batch may hold only the worker's own commits. */
const diesUntil = Effect.fnUntraced(function* (
  world: WebhookCrashWorld,
  point: string,
  figure: (death: { readonly committed: number; readonly rolledBack: number }) => number
) {
  for (let round = 0; round < 5; round++) {
    const hit = figure(yield* dieAt(world, point))
    if (hit > 0) return hit
  }
  return 0
})

/**
 * Kills the service at the point under load. Requests in flight are never repeated, and each has one delivery or none.
 */
const dieAt = Effect.fnUntraced(function* (world: WebhookCrashWorld, point: string) {
  const { bot, client, random, service, start } = world.crash
  service().signal("SIGTERM")
  yield* bounded("the service to stop", service().exited)
  yield* start({ webhookHosts: receiverHosts, killAt: { point, times: random.between(20, 60) } })
  bot.addClients(64)
  const load = yield* Effect.forkChild(bot.work)
  const { signal } = yield* bounded("the service to kill itself", service().exited)
  yield* Fiber.interrupt(load)
  assert.strictEqual(signal, "SIGKILL")
  const underWay = [...bot.open.values()].filter((each) => each.kind === "onboarding" || each.repeats === null)
  bot.open.clear()
  yield* start({ webhookHosts: receiverHosts })
  const made = yield* deliverAll(world)
  const reads = makePartnerReads(client, random.fork())
  const reports = new Set((yield* Effect.orDie(reads.reports)).map(({ partnerRef }) => partnerRef))
  const clients = new Set((yield* Effect.orDie(reads.clients)).map(({ partnerClientRef }) => partnerClientRef))
  const told = (event: string, ref: string) =>
    new Set(
      world.arrivals.flatMap(({ body }) =>
        body?.event === event && (body.data.partnerRef ?? body.partnerClientRef) === ref ? [body.id] : []
      )
    ).size
  let committed = 0
  for (const request of underWay) {
    const [there, times] =
      request.kind === "collateral"
        ? [reports.has(request.partnerRef), told("collateral.booked", request.partnerRef)]
        : [clients.has(request.partnerClientRef), told("client.onboarded", request.partnerClientRef)]
    assert.strictEqual(times, there ? 1 : 0, request.idempotencyKey)
    if (there) committed++
  }
  return { ...made, committed, rolledBack: underWay.length - committed }
})
