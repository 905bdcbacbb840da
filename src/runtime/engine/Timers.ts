/**
 * Durable timers: rows due at a business time, unique by (subject, name). A near window is held in memory and fired in
 * due order as commands of their subjects; the firing commit deletes the row, so late, early or double firing is
 * harmless. When the sandbox clock is advanced everything that became due fires, in order.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Latch, Layer } from "effect"
import type { TimerRow } from "../store/Rows.ts"
import { ActorHost, type Attribution, type DispatchError, type Turn } from "./ActorHost.ts"
import { BusinessClock } from "./BusinessClock.ts"
import { JournalUnavailable } from "./Journal.ts"

/** Decides what a due timer does; runs in its subject's mailbox. `dueAt` in Unix ms. */
export type TimerHandler = (turn: Turn, dueAt: number) => void
export type TimerHandlers = Readonly<Record<string, TimerHandler>>

const by: Attribution = { role: "SYSTEM", keyLabel: "timer", requestId: "timer", actor: "system:timers" }

/** Rows read at a time, and the longest sleep between two looks. */
const pageSize = 512
const lookEvery = Duration.seconds(30)

export class Timers extends Context.Service<
  Timers,
  {
    /** Fires everything that is due now; the number fired. */
    readonly fireDue: Effect.Effect<number, DispatchError | JournalUnavailable>
  }
>()("brokerage/runtime/engine/Timers") {
  static readonly layer = <R>(
    makeHandlers: Effect.Effect<TimerHandlers, never, R>
  ): Layer.Layer<Timers, never, R | ActorHost | BusinessClock | PgClient.PgClient> =>
    Layer.effect(
      Timers,
      Effect.gen(function* () {
        const host = yield* ActorHost
        const clock = yield* BusinessClock
        const sql = yield* PgClient.PgClient
        const handlers = yield* makeHandlers
        const wake = Latch.makeUnsafe(true)
        let nextDueAt = 0

        host.onCommitted("timers", (row) => {
          if (row.dueAt >= nextDueAt) return
          nextDueAt = row.dueAt
          wake.openUnsafe()
        })
        clock.onMove(() => {
          nextDueAt = 0
          wake.openUnsafe()
        })

        const fire = (timer: TimerRow) =>
          host.dispatch({
            subject: timer.subject,
            by,
            decide: (turn) => {
              const handler = handlers[timer.name]
              if (handler === undefined) throw new Error(`no handler for timer ${timer.name}`)
              turn.draft.clearTimer(timer.subject, timer.name)
              handler(turn, timer.dueAt)
            }
          })

        const due = (now: number) =>
          sql
            .unsafe<{ readonly subject: string; readonly name: string; readonly due_at: bigint }>(
              "SELECT subject, name, due_at FROM timers WHERE due_at <= $1 ORDER BY due_at, subject, name LIMIT $2",
              [BigInt(now), BigInt(pageSize)]
            )
            .pipe(
              Effect.map((rows) =>
                rows.map((row) => ({ subject: row.subject, name: row.name, dueAt: Number(row.due_at) }))
              ),
              Effect.mapError((error) => new JournalUnavailable({ reason: error.message }))
            )

        const fireDue = Effect.gen(function* () {
          let fired = 0
          while (true) {
            const page = yield* due(clock.now())
            // Subjects run side by side; the timers of one subject in due order.
            const groups = [...Map.groupBy(page, (timer) => timer.subject).values()]
            yield* Effect.forEach(groups, (group) => Effect.forEach(group, fire, { discard: true }), {
              concurrency: 32,
              discard: true
            })
            fired += page.length
            if (page.length < pageSize) return fired
          }
        })

        const nextDue = sql
          .unsafe<{ readonly due_at: bigint | null }>("SELECT min(due_at) AS due_at FROM timers")
          .pipe(Effect.map((rows) => (rows[0]?.due_at == null ? Number.MAX_SAFE_INTEGER : Number(rows[0].due_at))))

        const round = Effect.gen(function* () {
          wake.closeUnsafe()
          yield* fireDue
          nextDueAt = yield* nextDue
          const pause = Math.max(0, Math.min(Duration.toMillis(lookEvery), nextDueAt - clock.now()))
          yield* Effect.race(wake.await, Effect.sleep(pause))
        })
        yield* round.pipe(
          Effect.catchCause((cause) =>
            Effect.andThen(Effect.logWarning("timers could not be fired", cause), Effect.sleep("1 second"))
          ),
          Effect.forever,
          Effect.forkScoped
        )
        return Timers.of({ fireDue })
      })
    )
}
