/**
 * A crash world whose partner has a webhook. The receiver is in this process, answers as configured and records every
 * arrival. A canary listens at an address that no delivery may reach (architecture, Proof; SC-WHK-06).
 */
import { Clock, Effect, Scope } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { issueReceiverCertificate } from "../../simulator/partner/receiverCertificate.ts"
import { registerWebhook } from "../../simulator/partner/registerWebhook.ts"
import { acknowledge, type WebhookBehaviour } from "../../simulator/partner/WebhookBehaviour.ts"
import { type ReceivedDelivery, startWebhookReceiver } from "../../simulator/partner/WebhookReceiver.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { type Canary, makeCanary } from "./canary.ts"
import { type CrashWorld, withCrashWorld } from "./CrashWorld.ts"
import { type DeliveryBooks, makeDeliveryBooks } from "./deliveryBooks.ts"
import { bounded, until, untilFound } from "./patience.ts"

export interface WebhookCrashWorld {
  readonly crash: CrashWorld
  readonly partnerId: number
  readonly books: DeliveryBooks
  readonly canary: Canary
  /** All arrivals at all receivers, in order. */
  readonly arrivals: ReadonlyArray<ReceivedDelivery>
  /** Sets the answers of the receivers from now on. */
  readonly react: (behaviour: WebhookBehaviour) => void
  /** Replaces the receiver by a new one, which knows only the new secret. */
  readonly replaceReceiver: Effect.Effect<void>
  /** Runs a command line of an operator. Returns its JSON document. */
  readonly cli: (...line: ReadonlyArray<string>) => Effect.Effect<unknown>
  readonly untilDue: (count: number) => Effect.Effect<void>
  /** Waits for this number of further arrivals. */
  readonly untilArrived: (more: number) => Effect.Effect<void>
}

/** The host of the receivers, which every service of a world allows. */
export const receiverHosts: ReadonlyArray<string> = ["127.0.0.1"]

const makeWebhookCrashWorld = Effect.fnUntraced(function* (
  crash: CrashWorld
): Effect.fn.Return<WebhookCrashWorld, never, Scope.Scope> {
  const books = makeDeliveryBooks(crash.dataDir)
  const canary = yield* makeCanary
  const arrivals: Array<ReceivedDelivery> = []
  let behaviour: WebhookBehaviour = () => acknowledge
  const authority = (name: string) => readFileSync(join(crash.dataDir, "tls", name), "utf8")
  const tls = yield* Effect.orDie(
    issueReceiverCertificate(
      { certificate: authority("ca.pem"), key: authority("ca.key") },
      yield* Clock.currentTimeMillis
    )
  )
  const scope = yield* Effect.scope
  const newReceiver = Effect.gen(function* () {
    const receiver = yield* startWebhookReceiver({
      tls,
      port: 0,
      onDelivery: (delivery) => void arrivals.push(delivery),
      behaviour: (index, arrived) => behaviour(index, arrived)
    })
    yield* registerWebhook(crash.client, receiver)
    return receiver
  }).pipe(Effect.orDie, (made) => Effect.provideService(made, Scope.Scope, scope))
  const { url } = yield* newReceiver
  const partnerId = yield* books.partnerOf(url)
  return {
    crash,
    partnerId,
    books,
    canary,
    arrivals,
    react: (next) => void (behaviour = next),
    replaceReceiver: Effect.asVoid(newReceiver),
    cli: (...line) =>
      Effect.promise(async () => {
        const ran = await runRecorded([...line, "--json", "--yes", "--data-dir", crash.dataDir])
        if (ran.status !== 0) throw new Error(`${line.join(" ")}: ${ran.stderr}`)
        return ran.json as unknown
      }),
    untilDue: (count) =>
      untilFound(
        `${count} deliveries to be due`,
        Effect.map(books.backlog(partnerId), ({ due }) => due >= count)
      ),
    untilArrived: (more) =>
      Effect.suspend(() => {
        const enough = arrivals.length + more
        return until("deliveries to flow", () => arrivals.length >= enough)
      })
  }
})

/** Runs an effect in a world of its own. `alsoAllowed`: further hosts that the first service allows. */
export const withWebhookCrashWorld = <A>(
  options: { readonly seed: number; readonly alsoAllowed?: ReadonlyArray<string> },
  use: (world: WebhookCrashWorld) => Effect.Effect<A>
): Effect.Effect<A> =>
  withCrashWorld(
    {
      seed: options.seed,
      rate: 2_000,
      workers: 24,
      webhookHosts: [...receiverHosts, ...(options.alsoAllowed ?? [])]
    },
    (crash) => Effect.scoped(Effect.flatMap(makeWebhookCrashWorld(crash), use))
  )

export interface Settled {
  /** Deliveries that only the passage of time can free: leases of dead workers, and pauses between attempts. */
  readonly waiting: number
  /** From the call to the last delivery, ms. */
  readonly tookMillis: number
}

/** Moves business time until everything is delivered, because only time ends old leases and makes retries due. */
export const settle = (world: WebhookCrashWorld): Effect.Effect<Settled> => {
  const backlog = world.books.backlog(world.partnerId)
  const idle = untilFound(
    "everything due to be sent",
    Effect.map(backlog, ({ due }) => due === 0)
  )
  const settling = Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    yield* idle
    const waiting = (yield* backlog).open
    for (;;) {
      yield* world.cli("sim", "clock", "advance", "75s")
      yield* idle
      const { open, unforwarded } = yield* backlog
      if (open + unforwarded === 0) return { waiting, tookMillis: (yield* Clock.currentTimeMillis) - startedAt }
    }
  })
  return bounded("all deliveries to be made", settling)
}
