/**
 * Durable timers: rows due at a business time, unique by (subject, name). The name is the handler's name, or `<handler>:<id>`
 * for one of the many objects that a subject may have. Due timers fire in due order as commands of their subjects. The firing
 * commit deletes the row that it fired, and passes run one at a time, so that a handler runs once for each row. A timer set
 * again between the query and its turn does not fire: the new row stays. When the sandbox clock is advanced, all timers that
 * became due fire in order. A subject that can't be written now delays no timers of other subjects.
 */
import { Context, Duration, Effect, Latch, Layer, type Scope, Semaphore } from "effect"
import { DueTimers } from "./DueTimers.ts"
import type { TimerRow } from "../../tables/engine.ts"
import { subscribe } from "../../subscriptions.ts"
import { ActorHost, type Attribution, type DispatchError, type Turn } from "../mailbox/ActorHost.ts"
import { BusinessClock } from "../clock/BusinessClock.ts"
import type { JournalUnavailable } from "../journal/Journal.ts"

/** The action of a due timer; runs in its subject's mailbox. `dueAt` in Unix ms; `id`: the object's, null without one. */
export type TimerHandler = (turn: Turn, dueAt: number, id: string | null) => void
/** The handlers by the part of a timer's name before its first colon. */
export type TimerHandlers = Readonly<Record<string, TimerHandler>>

export class Timers extends Context.Service<
  Timers,
  {
    /**
     * Fires all timers that are due now, and returns their number. Fails if some could not be fired now, after all others were: a
     * later round fires those.
     */
    readonly fireDue: Effect.Effect<number, DispatchError | JournalUnavailable>
    /** The number of timers of each handler that this process has fired. */
    readonly fired: () => ReadonlyMap<string, number>
    /** Timers due at `now` (Unix ms) or before, the earliest first; at most `limit` of them. */
    readonly due: (now: number, limit: number) => Effect.Effect<ReadonlyArray<TimerRow>, JournalUnavailable>
  }
>()("brokerage/runtime/engine/timers/Timers") {
  static readonly layer = <R>(
    makeHandlers: Effect.Effect<TimerHandlers, never, R>
  ): Layer.Layer<Timers, never, R | ActorHost | BusinessClock | DueTimers> =>
    Layer.effect(
      Timers,
      Effect.gen(function* () {
        const due = yield* DueTimers
        const firing = new Firing({
          host: yield* ActorHost,
          clock: yield* BusinessClock,
          due,
          handlers: yield* makeHandlers,
          onePass: yield* Semaphore.make(1)
        })
        yield* firing.rounds
        return Timers.of({ fireDue: firing.fireDue, fired: () => new Map(firing.fired), due: due.first })
      })
    )
}

const by: Attribution = { role: "SYSTEM", keyLabel: "timer", requestId: "timer", actor: "system:timers" }

/** The most rows that one query reads, and the longest sleep between two queries. */
const pageSize = 512
const checkEvery = Duration.seconds(30)
/** A pass with more postponed timers than this fails: so many subjects can't be at fault by themselves. */
const putOffLimit = 4 * pageSize

const nameOf = ({ subject, name }: TimerRow): string => `${subject} ${name}`
const keyOf = (timer: TimerRow): string => `${nameOf(timer)} ${timer.dueAt}`

/** Timers committed since a query began: the current due time of each, by subject and name. */
type SetSince = Map<string, number>

interface FiringParts {
  readonly host: ActorHost["Service"]
  readonly clock: BusinessClock["Service"]
  readonly due: DueTimers["Service"]
  readonly handlers: TimerHandlers
  /** Passes run one at a time, because two concurrent passes would read the same rows and fire them twice. */
  readonly onePass: Semaphore.Semaphore
}

/** The timers that one pass could not fire now, and the last error. */
class PutOff {
  readonly keys = new Set<string>()
  error: DispatchError | null = null
}

class Firing {
  private readonly parts: FiringParts
  private readonly wake = Latch.makeUnsafe(true)
  private nextDueAt = 0
  private readonly lookUps = new Set<SetSince>()
  /** Timers whose firing is a defect: logged once and skipped until the next start, so that they delay no other timer. */
  private readonly stuck = new Set<string>()
  /** The number of fired timers by handler. */
  readonly fired = new Map<string, number>()

  constructor(parts: FiringParts) {
    this.parts = parts
    subscribe(parts.host, "Timers", {
      timers: (row) => {
        for (const since of this.lookUps) since.set(nameOf(row), row.dueAt)
        if (row.dueAt < this.nextDueAt) this.wakeAt(row.dueAt)
      }
    })
    parts.clock.onMove(() => this.wakeAt(0))
  }

  readonly fireDue: Effect.Effect<number, DispatchError | JournalUnavailable> = Effect.suspend(() =>
    this.parts.onePass.withPermits(1)(this.pass)
  )

  /** Fires timers as they become due, for as long as the scope lives. */
  readonly rounds: Effect.Effect<void, never, Scope.Scope> = Effect.suspend(() => {
    // Only the first failure is logged until a round succeeds, so that a database outage does not log a line each second.
    let failing = false
    return this.round.pipe(
      Effect.tap(() => Effect.sync(() => (failing = false))),
      Effect.catchCause((cause) => {
        const logged = failing
          ? Effect.logDebug("timers could still not be fired: the service tries again in a second", cause)
          : Effect.logWarning("timers could not be fired: the service tries again in a second", cause)
        failing = true
        return Effect.andThen(logged, Effect.sleep("1 second"))
      }),
      Effect.forever,
      Effect.forkScoped,
      Effect.asVoid
    )
  })

  private readonly round = Effect.gen({ self: this }, function* () {
    this.wake.closeUnsafe()
    yield* this.fireDue
    // Timers committed during the query lower this value, so that none is missed between the query and the line after it.
    this.nextDueAt = Number.MAX_SAFE_INTEGER
    const found = yield* this.nextDue
    this.nextDueAt = Math.min(this.nextDueAt, found)
    const pause = Math.max(0, Math.min(Duration.toMillis(checkEvery), this.nextDueAt - this.parts.clock.now()))
    yield* Effect.race(this.wake.await, Effect.sleep(pause))
  })

  private readonly nextDue = Effect.suspend(() =>
    Effect.map(
      this.parts.due.first(Number.MAX_SAFE_INTEGER, this.stuck.size + 1),
      (rows) => rows.find((timer) => !this.stuck.has(keyOf(timer)))?.dueAt ?? Number.MAX_SAFE_INTEGER
    )
  )

  private wakeAt(dueAt: number): void {
    this.nextDueAt = dueAt
    this.wake.openUnsafe()
  }

  /** Fires page after page until only postponed timers are due. */
  private readonly pass: Effect.Effect<number, DispatchError | JournalUnavailable> = Effect.gen(
    { self: this },
    function* () {
      const putOff = new PutOff()
      let fired = 0
      for (let more = true; more && putOff.keys.size <= putOffLimit;) {
        const page = yield* Effect.acquireUseRelease(
          Effect.sync(() => {
            const since: SetSince = new Map()
            this.lookUps.add(since)
            return since
          }),
          (since) => this.firePage(since, putOff),
          (since) => Effect.sync(() => this.lookUps.delete(since))
        )
        fired += page.fired
        more = page.more
      }
      return putOff.error === null ? fired : yield* Effect.fail(putOff.error)
    }
  )

  /** Fires the timers on the first page of due ones. Returns how many were fired, and whether more may be due. */
  private firePage(since: SetSince, putOff: PutOff) {
    return Effect.gen({ self: this }, function* () {
      const limit = pageSize + this.stuck.size + putOff.keys.size
      const page = yield* this.parts.due.first(this.parts.clock.now(), limit)
      const free = page.filter((timer) => !this.stuck.has(keyOf(timer)) && !putOff.keys.has(keyOf(timer)))
      // Subjects run concurrently; the timers of one subject run in due order.
      const fired = yield* Effect.forEach(
        Map.groupBy(free, (timer) => timer.subject).values(),
        (group) => this.fireInOrder(group, since, putOff),
        { concurrency: 32 }
      )
      return { fired: fired.reduce((sum, count) => sum + count, 0), more: page.length === limit }
    })
  }

  /** Fires the timers of one subject up to the first that has to be postponed. Returns the number fired. */
  private fireInOrder(group: ReadonlyArray<TimerRow>, since: SetSince, putOff: PutOff): Effect.Effect<number> {
    return Effect.gen({ self: this }, function* () {
      let fired = 0
      for (const [at, timer] of group.entries()) {
        const error = yield* this.fire(timer, since)
        if (error === null && !this.stuck.has(keyOf(timer))) fired++
        if (error === null) continue
        putOff.error = error
        for (const later of group.slice(at)) putOff.keys.add(keyOf(later))
        break
      }
      return fired
    })
  }

  /** Fires one timer. Returns the error if the timer can't be fired now; null if it was fired or is not due any more. */
  private fire(timer: TimerRow, since: SetSince): Effect.Effect<DispatchError | null> {
    const colon = timer.name.indexOf(":")
    const name = colon === -1 ? timer.name : timer.name.slice(0, colon)
    const id = colon === -1 ? null : timer.name.slice(colon + 1)
    let ran = false
    return this.parts.host
      .dispatch({
        subject: timer.subject,
        by,
        lane: "internal",
        decide: (turn) => {
          ran = (since.get(nameOf(timer)) ?? timer.dueAt) === timer.dueAt
          if (!ran) return
          const handler = this.parts.handlers[name]
          if (handler === undefined) throw new Error(`no handler for timer ${name}`)
          turn.draft.clearFired(timer)
          handler(turn, timer.dueAt, id)
        }
      })
      .pipe(
        Effect.map(() => {
          if (ran) this.fired.set(name, (this.fired.get(name) ?? 0) + 1)
          return null
        }),
        Effect.catchTag("CommitRejected", ({ cause }) => this.leave(timer, cause)),
        Effect.catch((error) => Effect.succeed(error)),
        Effect.catchDefect((defect) => this.leave(timer, defect))
      )
  }

  private leave(timer: TimerRow, why: unknown): Effect.Effect<null> {
    this.stuck.add(keyOf(timer))
    return Effect.logError("a timer could not be fired: it is left out until the service restarts", why).pipe(
      Effect.annotateLogs({ subject: timer.subject, timer: timer.name }),
      Effect.as(null)
    )
  }
}
