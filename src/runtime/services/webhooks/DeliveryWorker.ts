/**
 * Sends due deliveries: leases them, passes each to the sender with the endpoint's current url and secret, applies the
 * outcome to the delivery's machine, and stores the result. It runs when a delivery is committed, every five seconds,
 * when the business clock moves, when a slot becomes free, and when an endpoint is registered. It does not lease
 * deliveries of an endpoint that is not ACTIVE (D14; A3-31).
 */
import { Clock, Context, Effect, Fiber, Latch, Layer } from "effect"
import { webhookLimits } from "../../../machines/shared/Limits.ts"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import type { DeliveryRow } from "../../tables/webhook.ts"
import { subscribe } from "../../subscriptions.ts"
import { connectionError } from "./attemptError.ts"
import { DeliveryLanes, laneLimits, type LaneLimits } from "./DeliveryLanes.ts"
import { DeliveryResults } from "./DeliveryResults.ts"
import { DeliveryStore } from "../../ports/DeliveryStore.ts"
import { WebhookEndpoints } from "./WebhookEndpoints.ts"
import { type SendOutcome, WebhookSender } from "../../ports/WebhookSender.ts"

export interface DeliveryWorkerOptions {
  /** The worker's name in leases; unique among the workers on one database. */
  readonly name: string
  readonly limits?: LaneLimits
  /** The longest wait of a stop for attempts in flight, wall clock ms. The whole stop of the service may take 15 s. */
  readonly stopMillis?: number
}

/** An endpoint that acknowledges within this time counts as quick: it may have deliveries leased ahead of its slots. */
const quickMillis = 1_000
/** The age of a lease from which no attempt starts. Another worker might take the lease over before such an attempt ends. */
const staleMillis = webhookLimits.leaseTakeoverMillis - webhookLimits.acknowledgeMillis - 5_000
const defaultStopMillis = 9_000
/**
 * The interval of checks whether internal commands still queue, ms. Many queue after a price move that ends very many
 * contracts.
 */
const yieldMillis = 100
/** The most consecutive pauses before a lease, so that internal commands can slow deliveries down but never stop them. */
const yieldsAtMost = 10
/** The pause after a failed lease, when the database is unavailable. */
const pauseAfterFailure = "1 second"

export class DeliveryWorker extends Context.Service<
  DeliveryWorker,
  {
    /** Stops leasing, waits for attempts in flight up to a limit, and writes their results. Repeated calls are safe. */
    readonly stop: Effect.Effect<void>
    /** For metrics and tests. `held`: deliveries leased here whose result is not written yet. */
    readonly stats: () => { readonly inFlight: number; readonly held: number; readonly leasing: boolean }
  }
>()("brokerage/runtime/services/webhooks/DeliveryWorker") {
  static readonly layer = (
    options: DeliveryWorkerOptions
  ): Layer.Layer<DeliveryWorker, never, ActorHost | BusinessClock | DeliveryStore | WebhookEndpoints | WebhookSender> =>
    Layer.effect(
      DeliveryWorker,
      Effect.gen(function* () {
        const worker = new Worker(options, {
          store: yield* DeliveryStore,
          endpoints: yield* WebhookEndpoints,
          sender: yield* WebhookSender,
          pressed: (yield* ActorHost).pressed,
          clock: yield* BusinessClock,
          wallClock: yield* Clock.Clock,
          fork: Effect.runForkWith(yield* Effect.context<never>())
        })
        subscribe(yield* ActorHost, "DeliveryWorker", {
          webhookDeliveries: ({ state, partnerId }) => {
            if (state === "PENDING") worker.check(partnerId)
          },
          webhookEndpoints: ({ partnerId }) => worker.check(partnerId)
        })
        ;(yield* BusinessClock).onMove(() => worker.checkAll())
        yield* Effect.forkScoped(worker.results.run)
        yield* Effect.forkScoped(worker.run)
        yield* Effect.addFinalizer(() => worker.stop)
        return DeliveryWorker.of({ stop: worker.stop, stats: () => worker.stats() })
      })
    )
}

interface Ports {
  readonly store: DeliveryStore["Service"]
  readonly endpoints: WebhookEndpoints["Service"]
  readonly sender: WebhookSender["Service"]
  readonly pressed: ActorHost["Service"]["pressed"]
  readonly clock: BusinessClock["Service"]
  readonly wallClock: Clock.Clock
  readonly fork: <A>(effect: Effect.Effect<A>) => Fiber.Fiber<A>
}

class Worker {
  readonly results: DeliveryResults
  private readonly options: DeliveryWorkerOptions
  private readonly ports: Ports
  private readonly lanes: DeliveryLanes
  /** Every delivery leased here whose result is not written yet. */
  private readonly held = new Set<number>()
  /** Sending fibers, by delivery id. */
  private readonly sends = new ShortLivedMap<number, Fiber.Fiber<void>>()
  private readonly wake = Latch.makeUnsafe(true)
  private readonly quiet = Latch.makeUnsafe(true)
  private leases = 0
  private leasing = false
  private failing = false
  /** The deadline of the stop, wall clock ms; null: no stop is requested. */
  private stopBy: number | null = null

  constructor(options: DeliveryWorkerOptions, ports: Ports) {
    this.options = options
    this.ports = ports
    this.lanes = new DeliveryLanes(options.limits ?? laneLimits)
    this.results = new DeliveryResults(ports.store, (deliveryId) => {
      this.held.delete(deliveryId)
      this.noteQuiet()
    })
  }

  private get stopping(): boolean {
    return this.stopBy !== null
  }

  check(partnerId: number): void {
    this.lanes.mayHave(partnerId)
    this.wake.openUnsafe()
  }

  checkAll(): void {
    for (const { partnerId } of this.ports.endpoints.active()) this.lanes.mayHave(partnerId)
    this.wake.openUnsafe()
  }

  stats(): { readonly inFlight: number; readonly held: number; readonly leasing: boolean } {
    return { inFlight: this.lanes.inFlight, held: this.held.size, leasing: this.leasing }
  }

  readonly run: Effect.Effect<void> = Effect.suspend(() => {
    this.checkAll()
    let nextTickAt = 0
    const round = Effect.suspend(() => {
      const now = this.ports.wallClock.currentTimeMillisUnsafe()
      if (now >= nextTickAt) {
        nextTickAt = now + webhookLimits.workerEveryMillis
        this.checkAll()
      }
      this.wake.closeUnsafe()
      return this.giveWay(yieldsAtMost).pipe(
        Effect.andThen(this.lease),
        Effect.andThen(
          Effect.suspend(() => {
            if (this.lanes.wantsLease) return Effect.void
            return Effect.race(
              this.wake.await,
              Effect.sleep(nextTickAt - this.ports.wallClock.currentTimeMillisUnsafe())
            )
          })
        ),
        Effect.catchCause((cause) => {
          // An unavailable database is logged once as a warning, not with each attempt.
          const logged = this.failing
            ? Effect.void
            : Effect.logWarning("webhook deliveries could not be leased: the service tries again each second", cause)
          this.failing = true
          return Effect.andThen(logged, Effect.sleep(pauseAfterFailure))
        })
      )
    })
    return Effect.whileLoop({ while: () => !this.stopping, body: () => round, step: () => undefined })
  })

  /**
   * Backpressure: waits while the internal queue is over its limit, because leases, sends and their results take
   * resources from callers.
   */
  private giveWay(checks: number): Effect.Effect<void> {
    return Effect.suspend(() =>
      checks > 0 && !this.stopping && this.lanes.wantsLease && this.ports.pressed()
        ? Effect.andThen(Effect.sleep(yieldMillis), this.giveWay(checks - 1))
        : Effect.void
    )
  }

  /** Makes one lease for all lanes with free capacity and starts the leased deliveries. */
  private readonly lease: Effect.Effect<void, unknown> = Effect.suspend(() => {
    const { store, endpoints, clock } = this.ports
    const wanted = this.lanes.nextLease().filter(({ partnerId }) => endpoints.find(partnerId) !== null)
    if (wanted.length === 0 || this.stopping) return Effect.void
    this.leasing = true
    const token = `${this.options.name}:${++this.leases}`
    return store.lease({ token, now: clock.now(), lanes: wanted, except: [...this.held] }).pipe(
      Effect.tapCause(() => Effect.sync(() => wanted.forEach(({ partnerId }) => this.lanes.mayHave(partnerId)))),
      Effect.map((rows) => {
        this.failing = false
        for (const row of rows) this.held.add(row.id)
        if (rows.length > 0) this.quiet.closeUnsafe()
        this.lanes.leased(wanted, rows)
        if (this.stopping) this.giveBack(this.lanes.dropAll())
        else this.start()
      }),
      Effect.ensuring(
        Effect.sync(() => {
          this.leasing = false
          this.noteQuiet()
        })
      )
    )
  })

  /** Starts every ready delivery for which a slot is free. */
  private start(): void {
    if (this.stopping) return
    for (let row = this.lanes.next(); row !== null; row = this.lanes.next()) this.send(row)
  }

  private send(row: DeliveryRow): void {
    const { endpoints, clock, wallClock, sender, fork } = this.ports
    const endpoint = endpoints.find(row.partnerId)
    // The wall clock measures the endpoint, because an advance of business time must not make it look slower.
    const startedAt = wallClock.currentTimeMillisUnsafe()
    if (endpoint === null || clock.now() - (row.claimedAt ?? 0) > staleMillis) {
      // No attempt was made, so none is counted. The row is leased again when it is due.
      const rows = [row, ...(endpoint === null ? this.lanes.drop(row.partnerId) : [])]
      this.giveBack([...rows, ...this.lanes.finished(row.partnerId, false)])
      if (endpoint !== null) this.lanes.mayHave(row.partnerId)
      return
    }
    const { url, secret } = endpoint
    const sending = sender.send({ deliveryId: row.id, event: row.event, body: row.body, url, secret }).pipe(
      // A defect must not keep the slot and the lease, so it counts as a failed attempt.
      Effect.catchDefect((defect) =>
        Effect.as(
          Effect.annotateLogs(
            Effect.logError(
              "a webhook attempt failed by a defect: it counts as a failed attempt and is retried",
              defect
            ),
            { delivery: row.id, partner: row.partnerId, event: row.event }
          ),
          { _tag: "Failed", status: null, error: connectionError(defect) } as const
        )
      )
    )
    const fiber = fork(Effect.map(sending, (outcome) => this.finished(row, outcome, startedAt)))
    this.sends.set(row.id, fiber)
    fiber.addObserver(() => this.sends.delete(row.id))
  }

  private finished(row: DeliveryRow, outcome: SendOutcome, startedAt: number): void {
    const at = this.ports.clock.now()
    const tookMillis = this.ports.wallClock.currentTimeMillisUnsafe() - startedAt
    const acknowledged = outcome._tag === "Acknowledged"
    this.results.add({
      row,
      event: acknowledged
        ? { type: "ACKNOWLEDGED", at, status: outcome.status }
        : { type: "ATTEMPT_FAILED", at, status: outcome.status, error: outcome.error }
    })
    this.giveBack(this.lanes.finished(row.partnerId, acknowledged && tookMillis < quickMillis))
    this.start()
    if (this.lanes.wants(row.partnerId)) this.wake.openUnsafe()
  }

  private giveBack(rows: ReadonlyArray<DeliveryRow>): void {
    for (const row of rows) this.results.add({ row, event: null })
  }

  private noteQuiet(): void {
    if (this.held.size === 0 && !this.leasing) this.quiet.openUnsafe()
  }

  readonly stop: Effect.Effect<void> = Effect.suspend(() => {
    const now = this.ports.wallClock.currentTimeMillisUnsafe()
    this.stopBy ??= now + (this.options.stopMillis ?? defaultStopMillis)
    this.wake.openUnsafe()
    this.giveBack(this.lanes.dropAll())
    if (!this.leasing && this.held.size === 0) return Effect.void
    this.quiet.closeUnsafe()
    // An attempt that does not end in time keeps its lease, which the next worker takes over after 60 s.
    return Effect.timeoutOption(this.quiet.await, Math.max(0, this.stopBy - now)).pipe(
      Effect.andThen(Effect.suspend(() => Fiber.interruptAll([...this.sends.values()])))
    )
  })
}
