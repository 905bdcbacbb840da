/**
 * Durable timers: rows due at a business time, unique by (subject, name). A near window is held in memory and fired in
 * due order as commands of their subjects; the firing commit deletes the row it fired, and one pass waits for the other, so
 * that a handler runs once per row. A timer set again between its look-up and its turn does not fire: the new row stands.
 * When the sandbox clock is advanced everything that became due fires, in order.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Latch, Layer, Semaphore } from "effect"
import type { TimerRow } from "../../store/Rows.ts"
import { ActorHost, type Attribution, type DispatchError, type Turn } from "../mailbox/ActorHost.ts"
import { BusinessClock } from "../clock/BusinessClock.ts"
import { JournalUnavailable } from "../journal/Journal.ts"

/** Decides what a due timer does; runs in its subject's mailbox. `dueAt` in Unix ms. */
export type TimerHandler = (turn: Turn, dueAt: number) => void
export type TimerHandlers = Readonly<Record<string, TimerHandler>>

const by: Attribution = { role: "SYSTEM", keyLabel: "timer", requestId: "timer", actor: "system:timers" }

/** Rows read at a time, and the longest sleep between two looks. */
const pageSize = 512
const lookEvery = Duration.seconds(30)

const nameOf = ({ subject, name }: TimerRow): string => `${subject} ${name}`
const keyOf = (timer: TimerRow): string => `${nameOf(timer)} ${timer.dueAt}`

/** Timers committed since a look-up began: when each is due now, by subject and name. */
type SetSince = Map<string, number>

export class Timers extends Context.Service<
  Timers,
  {
    /** Fires everything that is due now; the number fired. */
    readonly fireDue: Effect.Effect<number, DispatchError | JournalUnavailable>
  }
>()("brokerage/runtime/engine/timers/Timers") {
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
        const lookUps = new Set<SetSince>()

        host.onCommitted("timers", (row) => {
          for (const since of lookUps) since.set(nameOf(row), row.dueAt)
          if (row.dueAt >= nextDueAt) return
          nextDueAt = row.dueAt
          wake.openUnsafe()
        })
        clock.onMove(() => {
          nextDueAt = 0
          wake.openUnsafe()
        })

        // Timers whose firing is a defect: told once and left alone until the next start, so that they hold up no other.
        const stuck = new Set<string>()
        const isStuck = (timer: TimerRow): boolean => stuck.has(keyOf(timer))

        const leave = (timer: TimerRow, why: unknown) => {
          stuck.add(keyOf(timer))
          return Effect.logError("a timer could not be fired", why).pipe(
            Effect.annotateLogs({ subject: timer.subject, timer: timer.name })
          )
        }

        const fire = (timer: TimerRow, since: SetSince) =>
          host
            .dispatch({
              subject: timer.subject,
              by,
              decide: (turn) => {
                if ((since.get(nameOf(timer)) ?? timer.dueAt) !== timer.dueAt) return
                const handler = handlers[timer.name]
                if (handler === undefined) throw new Error(`no handler for timer ${timer.name}`)
                turn.draft.clearFired(timer)
                handler(turn, timer.dueAt)
              }
            })
            .pipe(
              Effect.catchTag("CommitRejected", ({ cause }) => leave(timer, cause)),
              Effect.catchDefect((defect) => leave(timer, defect))
            )

        /** The first due timers, stuck ones included; `limit` rows at most. */
        const due = (now: number, limit: number) =>
          sql
            .unsafe<{ readonly subject: string; readonly name: string; readonly due_at: bigint }>(
              "SELECT subject, name, due_at FROM timers WHERE due_at <= $1 ORDER BY due_at, subject, name LIMIT $2",
              [BigInt(now), BigInt(limit)]
            )
            .pipe(
              Effect.map((rows): ReadonlyArray<TimerRow> =>
                rows.map((row) => ({ subject: row.subject, name: row.name, dueAt: Number(row.due_at) }))
              ),
              Effect.mapError((error) => new JournalUnavailable({ reason: error.message }))
            )

        /** Fires the first page of what is due; the number fired, and whether there may be more. */
        const firePage = (since: SetSince) =>
          Effect.gen(function* () {
            const limit = pageSize + stuck.size
            const page = yield* due(clock.now(), limit)
            const known = stuck.size
            const free = page.filter((timer) => !isStuck(timer))
            // Subjects run side by side; the timers of one subject in due order.
            const groups = [...Map.groupBy(free, (timer) => timer.subject).values()]
            yield* Effect.forEach(
              groups,
              (group) => Effect.forEach(group, (timer) => fire(timer, since), { discard: true }),
              { concurrency: 32, discard: true }
            )
            return { fired: free.length - (stuck.size - known), more: page.length === limit }
          })

        // Two passes at once would look up the same rows and fire them twice.
        const onePass = yield* Semaphore.make(1)
        const fireDue = Effect.gen(function* () {
          let fired = 0
          while (true) {
            const page = yield* Effect.acquireUseRelease(
              Effect.sync(() => {
                const since: SetSince = new Map()
                lookUps.add(since)
                return since
              }),
              firePage,
              (since) => Effect.sync(() => lookUps.delete(since))
            )
            fired += page.fired
            if (!page.more) return fired
          }
        }).pipe(onePass.withPermits(1))

        const nextDue = Effect.suspend(() => due(Number.MAX_SAFE_INTEGER, stuck.size + 1)).pipe(
          Effect.map((rows) => rows.find((timer) => !isStuck(timer))?.dueAt ?? Number.MAX_SAFE_INTEGER)
        )

        const round = Effect.gen(function* () {
          wake.closeUnsafe()
          yield* fireDue
          // Every timer committed while the next one is looked up counts, so none is missed between look and note.
          nextDueAt = Number.MAX_SAFE_INTEGER
          const found = yield* nextDue
          nextDueAt = Math.min(nextDueAt, found)
          const pause = Math.max(0, Math.min(Duration.toMillis(lookEvery), nextDueAt - clock.now()))
          yield* Effect.race(wake.await, Effect.sleep(pause))
        })
        // Told once until a round succeeds: a database that is away or full is no place for a line a second.
        let failing = false
        yield* round.pipe(
          Effect.tap(Effect.sync(() => (failing = false))),
          Effect.catchCause((cause) => {
            const told = failing
              ? Effect.logDebug("timers could still not be fired", cause)
              : Effect.logWarning("timers could not be fired", cause)
            failing = true
            return Effect.andThen(told, Effect.sleep("1 second"))
          }),
          Effect.forever,
          Effect.forkScoped
        )
        return Timers.of({ fireDue })
      })
    )
}
