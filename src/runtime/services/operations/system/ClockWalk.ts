/**
 * Moves the clocks of a sandbox forward, the venue's and this service's together, from one due time to the next. Each event of
 * the venue carries this service's clock to its own time before it is applied, and due timers fire at theirs. So nothing is
 * booked before it happened, and everything in order. The offset of each step is stored before a clock shows it (C4).
 */
import type { PgClient } from "@effect/sql-pg"
import { type Clock, Duration, Effect, Option, Semaphore } from "effect"
import type { AccountFact } from "../../../../machines/venue/VenueEvent.ts"
import { type ActorHost, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { BusinessClock, ClockCarrier } from "../../../engine/clock/BusinessClock.ts"
import { passPausePoint } from "../../../engine/PausePoints.ts"
import type { Timers } from "../../../engine/timers/Timers.ts"
import type { VenueControl, VenueControlError } from "../../../ports/VenueControl.ts"
import type { VenueProgress } from "../../../ports/VenueProgress.ts"
import { aimClock, raiseClock, storedClock } from "../../../store/ServiceStamp.ts"
import { whenAway, whenUnsure } from "../../../store/whenAway.ts"
import { subscribe } from "../../../subscriptions.ts"
import { type DueNext, dueOfFact, handlerOf } from "./dueNext.ts"
import { playVenue } from "./playVenue.ts"

/** Clocks that differ by at most this much count as equal, ms, because both run while they are compared. */
export const together = 2_000
/** The longest wait for a next event of a step before the clock goes on without it; it is then booked later than it happened. */
const eventPatience = Duration.seconds(10)
/** The longest wait for the events of a step, also while events arrive: a venue may publish faster than the service applies. */
const stepPatience = Duration.seconds(60)
/**
 * The most steps of a jump that end at due times; closer due times share a step. The order holds within a step too, so this
 * limits only how far the venue is ahead while an event is applied.
 */
const mostDueSteps = 64
/**
 * In a jump that is longer than this, timers fire at most at `mostFirings` times between the venue's events, closer ones together.
 * Otherwise a timer of each night would make a jump of ten years slow. Ms.
 */
const longJump = 100 * 86_400_000
const mostFirings = 100
/** The longest wait for the end of a step, wall ms. */
const stillPatience = 30_000
/** The pause between two checks of the clock by a work that waits for it, wall ms. */
const checkEvery = 20
/** The most timers that one query for the next due time reads. */
const timersRead = 512

interface ClockWalkParts {
  readonly control: VenueControl["Service"]
  readonly progress: VenueProgress["Service"]
  readonly clock: BusinessClock["Service"]
  readonly host: ActorHost["Service"]
  readonly timers: Timers["Service"]
  readonly sql: PgClient.PgClient
  readonly wall: Clock.Clock
  /** The name of this process as the owner of the database. Only the owner stores a clock. */
  readonly owner: string
}

/** Moves of the clocks; one at a time (`SimClock`). */
export class ClockWalk implements ClockCarrier {
  private readonly parts: ClockWalkParts
  /** The stored offset up to which this clock may be raised, ms. It stays after a failure, because the clock will get there. */
  private stored = 0
  /** True while the venue may be ahead of this clock in a step. */
  private isStepping = false
  /** The offset at which the jump under way ends, ms; null: no jump has begun. */
  private aim: number | null
  /** The number of events that have arrived. */
  private arrived = 0
  /** The shortest time between two firings of timers in this jump, business ms. */
  private pause = 0
  /** No timer is due before this time, Unix ms. While timers are read and fired it is not valid, so the clock is raised in turn. */
  private nextTimer = 0
  private readonly raising = Semaphore.makeUnsafe(1)
  /** True: an event waits until this clock has followed the venue. No heartbeat is read meanwhile. */
  isAwaited = false
  private noted: ((due: DueNext) => void) | null = null

  /**
   * `aim`: the stored end of a jump that an earlier process began, as an offset in ms; null: there is none. `carries`: the venue's
   * events carry the clock, as in a sandbox.
   */
  constructor(parts: ClockWalkParts, aim: number | null, carries: boolean) {
    this.parts = parts
    this.aim = aim
    if (!carries) return
    parts.clock.carriedBy(this)
    subscribe(parts.host, "ClockWalk", {
      timers: ({ dueAt }) => void (this.nextTimer = Math.min(this.nextTimer, dueAt))
    })
  }

  /** The offset at which a jump ends that has begun and is not complete, ms; null: there is none. */
  get pending(): number | null {
    return this.aim
  }

  /** Stores the end of a jump (ms of offset). From then on the jump is completed, by a later process if need be. */
  begin(target: number): Effect.Effect<void, Unavailable> {
    const aimed = Effect.sync(() => void (this.aim = target))
    // If the outcome is unknown, the end may be stored, and the next start would complete the jump: so this process does.
    return Effect.catch(aimClock(this.parts.sql, target, this.parts.owner), whenUnsure).pipe(
      Effect.filterOrFail((stored) => stored, notOwner),
      Effect.tapError(({ unknown }) => (unknown ? aimed : Effect.void)),
      Effect.andThen(aimed)
    )
  }

  /** Completes the pending jump, step by step. An interrupt or a failure leaves the rest pending. */
  readonly finish: Effect.Effect<void, VenueControlError | Unavailable> = Effect.suspend(() => {
    const { clock, control } = this.parts
    const target = this.aim
    if (target === null) return Effect.void
    const play = (from: number) => this.play(from, this.wallNow + target)
    this.begun(target)
    const walked = control.attached
      ? // The second walk covers the time that the first one took. It may fail: the venue then follows later.
        Effect.andThen(
          play(clock.now()),
          Effect.suspend(() => Effect.ignore(play(clock.now())))
        )
      : Effect.void
    return Effect.ensuring(Effect.andThen(walked, this.end(target)), this.stepped)
  })

  /** Moves this clock to `offset` (ms), at which the venue already is. `number`: the venue's last event; null: unknown. */
  follow(offset: number, number: number | null): Effect.Effect<void, Unavailable> {
    return Effect.gen({ self: this }, function* () {
      this.begun(offset)
      yield* this.open(offset)
      if (number !== null) yield* this.progress.reached(number)
      yield* this.end(offset)
    }).pipe(Effect.ensuring(this.stepped))
  }

  /** Moves the venue's clock from its time `there` (Unix ms) to this service's. */
  pull(there: number): Effect.Effect<void, VenueControlError> {
    return Effect.suspend(() => playVenue(this.parts, there, this.parts.clock.now()))
  }

  /** Runs work and gives each due event and timer of the jump meanwhile to `note`. */
  noting<A, E>(note: (due: DueNext) => void, work: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.ensuring(
      Effect.andThen(
        Effect.sync(() => void (this.noted = note)),
        work
      ),
      Effect.sync(() => void (this.noted = null))
    )
  }

  event(at: number, fact: AccountFact): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.arrived++
      return Effect.tap(this.reach(at, this.wallNow + Duration.toMillis(eventPatience)), () =>
        Effect.sync(() => {
          const due = this.noted === null ? null : dueOfFact(fact, at)
          if (due !== null) this.noted?.(due)
        })
      )
    })
  }

  /** Completes once the clock is at `at` (Unix ms), or does not follow the venue there by the wall time `until`. */
  private reach(at: number, until: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { clock } = this.parts
      const ahead = at - clock.now()
      this.isAwaited = false
      if (ahead <= 0) return Effect.void
      if (this.hasRoom(at)) return this.raiseTo(at)
      // An implausible time is quarantined. A plausible one was reached by a move of another service, which this clock
      // follows (`ClockMeeting`).
      const isWaiting = ahead > together && at <= clock.venueTime().latest && this.wallNow < until
      this.isAwaited = isWaiting
      return isWaiting
        ? Effect.delay(
            Effect.suspend(() => this.reach(at, until)),
            checkEvery
          )
        : Effect.void
    })
  }

  answer(at: number): void {
    if (this.hasRoom(at)) this.parts.clock.raise(at - this.wallNow)
  }

  readonly still: Effect.Effect<void> = Effect.suspend(() => this.stillBy(this.wallNow + stillPatience))

  private stillBy(until: number): Effect.Effect<void> {
    return Effect.suspend(() =>
      !this.isStepping || this.wallNow >= until ? Effect.void : Effect.delay(this.stillBy(until), checkEvery)
    )
  }

  private begun(target: number): void {
    const length = target - this.parts.clock.offset()
    this.pause = length > longJump ? length / mostFirings : 0
  }

  private get wallNow(): number {
    return this.parts.wall.currentTimeMillisUnsafe()
  }

  private hasRoom(at: number): boolean {
    return at - this.wallNow <= this.stored
  }

  private play(from: number, to: number): Effect.Effect<void, VenueControlError | Unavailable> {
    const shortest = (to - from) / mostDueSteps
    const { control } = this.parts
    return playVenue({ control, progress: this.progress }, from, to, {
      before: (at, limit) =>
        Effect.gen({ self: this }, function* () {
          const due = yield* this.dueAfter(at)
          // A step that was stored before a failure is completed first: the venue may have made it.
          const least = Math.max(at + shortest, this.wallNow + this.stored)
          const end = Math.max(at + 1, Math.floor(Math.min(limit, Math.max(due, least))))
          yield* this.open(end - this.wallNow)
          return end
        }),
      // Another service has moved the venue further: this clock follows.
      moved: (at, end) => (at > end + together ? Effect.as(this.open(at - this.wallNow), at) : Effect.succeed(end)),
      after: (end) => Effect.andThen(Effect.andThen(this.raiseTo(end), this.stepped), this.show)
    })
  }

  /** The wait for the venue's events: at most `stepPatience` while events arrive, and `eventPatience` without one. */
  private get progress(): VenueProgress["Service"] {
    const { progress } = this.parts
    const reached = (number: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        const before = this.arrived
        return Effect.flatMap(Effect.timeoutOption(progress.reached(number), eventPatience), (done) =>
          Option.isSome(done) || this.arrived === before ? Effect.void : reached(number)
        )
      })
    return { ...progress, reached: (number) => Effect.asVoid(Effect.timeoutOption(reached(number), stepPatience)) }
  }

  /** Stores the end of a step, an offset in ms. Times up to it are then plausible. */
  private open(offset: number): Effect.Effect<void, Unavailable> {
    return Effect.uninterruptible(
      Effect.flatMap(Effect.catch(raiseClock(this.parts.sql, offset, this.parts.owner), whenUnsure), (stored) => {
        passPausePoint("clock-stepped")
        if (stored === null) return Effect.fail(notOwner())
        this.stored = stored
        this.isStepping = true
        this.parts.clock.expect(this.wallNow + stored)
        return Effect.void
      })
    )
  }

  private readonly stepped = Effect.sync(() => void (this.isStepping = false))

  /** Ends a jump: stores its offset, fires the timers that are due, and moves the clock. */
  private end(offset: number): Effect.Effect<void, Unavailable> {
    return Effect.gen({ self: this }, function* () {
      yield* this.open(offset)
      // A move of another service may have been stored beyond this jump's end.
      yield* this.raiseTo(this.wallNow + this.stored)
      this.parts.clock.raise(this.stored)
      if (this.aim !== null && this.aim <= offset) this.aim = null
      yield* this.show
    })
  }

  /** Notifies the workers that follow the clock. */
  private readonly show = Effect.sync(() => this.parts.clock.setOffset(this.parts.clock.offset()))

  /** Raises the clock to `at` (Unix ms), and fires the timers that become due on the way, each at its time. */
  private raiseTo(at: number): Effect.Effect<void> {
    return this.raising.withPermits(1)(this.raiseInTurn(at))
  }

  private raiseInTurn(at: number): Effect.Effect<void> {
    const { clock, timers } = this.parts
    return Effect.gen({ self: this }, function* () {
      for (let fired = Number.NEGATIVE_INFINITY; this.nextTimer <= at;) {
        // Timers that are set meanwhile lower this bound again.
        this.nextTimer = Number.POSITIVE_INFINITY
        const rows = yield* timers.due(Number.MAX_SAFE_INTEGER, timersRead)
        const left = rows.filter(({ dueAt }) => dueAt > fired)
        const next = left[0]?.dueAt ?? Number.POSITIVE_INFINITY
        this.nextTimer = Math.min(this.nextTimer, next)
        if (next > at) continue
        fired = Math.floor(Math.min(at, Math.max(next, clock.now(), fired + this.pause)))
        clock.raise(fired - this.wallNow)
        for (const { name, subject, dueAt } of left) {
          if (dueAt <= fired) this.noted?.({ name: handlerOf(name), subject, dueAt })
        }
        yield* timers.fireDue
      }
    }).pipe(
      Effect.onInterrupt(() => Effect.sync(() => void (this.nextTimer = 0))),
      // The rounds of `Timers` log the failure, and fire the timers later.
      Effect.catch(() => Effect.sync(() => void (this.nextTimer = 0))),
      Effect.andThen(Effect.sync(() => clock.raise(at - this.wallNow)))
    )
  }

  /** The next due time of the service or the venue after `at`, Unix ms; infinity if none is known. */
  private dueAfter(at: number): Effect.Effect<number, VenueControlError | Unavailable> {
    const { timers, control } = this.parts
    return Effect.gen(function* () {
      const rows = yield* Effect.mapError(
        timers.due(Number.MAX_SAFE_INTEGER, timersRead),
        () => new Unavailable({ unknown: false })
      )
      const { due = [] } = yield* control.show
      const times = [...rows.map(({ dueAt }) => dueAt), ...due.map((each) => each.at)]
      return times.reduce((least, time) => (time > at ? Math.min(least, time) : least), Number.POSITIVE_INFINITY)
    })
  }
}

const notOwner = () => new Unavailable({ unknown: false })

/** The stored clock, as the caller's error when the database is away. */
export const readClock = (sql: PgClient.PgClient) => Effect.catch(storedClock(sql), whenAway)
