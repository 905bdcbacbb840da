/**
 * Writes the results of attempts in batches: one statement for all results that were queued during the last write. A
 * result stays in memory until the database has stored it. If another worker has taken the lease over, a failure is
 * dropped, because that worker's result counts. A 2xx still makes the delivery SENT, because the receiver has it (D14).
 */
import { Effect, Latch } from "effect"
import type { DeliveryEvent } from "../../../machines/webhook/Webhook.ts"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { DeliveryRow } from "../../tables/webhook.ts"
import type { DeliveryStore } from "../../ports/DeliveryStore.ts"
import type { DeliveryChange } from "../../store/writes/deliveryWrites.ts"
import { nextRow } from "../../effects/machineRow.ts"

/** A finished attempt of a leased delivery. `event` null: no attempt was made, and the lease is returned. */
export interface AttemptResult {
  readonly row: DeliveryRow
  readonly event: Exclude<DeliveryEvent, { readonly type: "REDELIVER" | "PARTNER_CLOSED" }> | null
}

type Late = AttemptResult & { readonly event: Extract<DeliveryEvent, { readonly type: "ACKNOWLEDGED" }> }

/** Limit on the results that one statement writes. */
const batchLimit = 256
/** The pause between two attempts to write results while the database is unavailable. */
const retryEvery = "500 millis"
/** Limit on the attempts to store a late 2xx. An attempt fails if another worker changes the delivery first. */
const lateTries = 3

/** The change that an event makes to a delivery; null if its machine ignores the event in the present state. */
const changeOf = (row: DeliveryRow, event: NonNullable<AttemptResult["event"]>): DeliveryChange | null => {
  const moved = nextRow("webhookDeliveries", row, event)
  if (moved === null) return null
  const { state, context } = moved.row
  return { before: row, state, context, nextAt: context.nextAt ?? event.at }
}

const giveBack = (row: DeliveryRow): DeliveryChange => ({
  before: row,
  state: row.state,
  context: row.context,
  nextAt: row.nextAt
})

export class DeliveryResults {
  private readonly store: DeliveryStore["Service"]
  private readonly settled: (deliveryId: number) => void
  private readonly queue: Array<AttemptResult> = []
  private readonly work = Latch.makeUnsafe(false)
  private writing = 0

  /** `settled` is called for every result that is written or has become obsolete. */
  constructor(store: DeliveryStore["Service"], settled: (deliveryId: number) => void) {
    this.store = store
    this.settled = settled
  }

  add(result: AttemptResult): void {
    this.queue.push(result)
    this.work.openUnsafe()
  }

  /** The number of results that are not stored yet, those of the running write included. */
  get pending(): number {
    return this.queue.length + this.writing
  }

  /** Writes queued results in batches, in an endless loop. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.work.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        const batch = this.queue.splice(0, batchLimit)
        if (this.queue.length === 0) this.work.closeUnsafe()
        this.writing = batch.length
        return this.write(batch)
      })
    ),
    Effect.andThen(Effect.sync(() => (this.writing = 0))),
    Effect.forever({ disableYield: true })
  )

  private write(batch: ReadonlyArray<AttemptResult>): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.insistently(
        this.store.finish(
          batch.flatMap(({ row, event }) => (event === null ? giveBack(row) : (changeOf(row, event) ?? [])))
        )
      )
    ).pipe(
      Effect.flatMap((written) => this.afterTakeover(batch.filter(({ row }) => !written.has(row.id)))),
      Effect.andThen(Effect.sync(() => batch.forEach(({ row }) => this.settled(row.id)))),
      Effect.catchDefect((defect) => this.apart(batch, defect))
    )
  }

  /** Writes each result of a rejected batch alone, so that one bad row does not block the others. */
  private apart(batch: ReadonlyArray<AttemptResult>, defect: unknown): Effect.Effect<void> {
    const [only, ...more] = batch
    if (only === undefined) return Effect.void
    if (more.length > 0) return Effect.forEach(batch, (result) => this.write([result]), { discard: true })
    this.settled(only.row.id)
    return Effect.logError(
      "the result of a webhook attempt could not be stored: the result is dropped, and the delivery is sent again after its lease",
      defect
    ).pipe(Effect.annotateLogs({ delivery: only.row.id }))
  }

  /** Stores a 2xx although another worker has taken the lease over. */
  private afterTakeover(lost: ReadonlyArray<AttemptResult>, tries = lateTries): Effect.Effect<void> {
    const late = new Map(
      lost.flatMap(({ row, event }) => (event?.type === "ACKNOWLEDGED" ? [[row.id, { row, event }] as const] : []))
    )
    if (late.size === 0 || tries === 0) return Effect.void
    return Effect.gen({ self: this }, function* () {
      const rows = yield* this.insistently(this.store.read([...late.keys()]))
      const changes = rows.flatMap((row) => changeOf(row, (late.get(row.id) as Late).event) ?? [])
      const written = yield* this.insistently(this.store.finish(changes))
      const rest = changes.flatMap(({ before }) => (written.has(before.id) ? [] : (late.get(before.id) ?? [])))
      yield* this.afterTakeover(rest, tries - 1)
    })
  }

  /**
   * Repeats the work until it succeeds. The first failure is logged, the others are not, so that an outage does not flood
   * the log.
   */
  private insistently<A>(work: Effect.Effect<A, Unavailable>): Effect.Effect<A> {
    const again: Effect.Effect<A> = Effect.suspend(() => Effect.catch(work, () => Effect.delay(again, retryEvery)))
    return Effect.catch(work, () =>
      Effect.andThen(
        Effect.logWarning("the database is away: results of webhook attempts wait, and are stored when it is back"),
        again
      )
    )
  }
}
