/**
 * Time travel of the sandbox: moves the business clock forward together with that of an attached venue (`ClockWalk`), and a
 * restart keeps its offset and completes a jump that was under way (C4).
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Duration, Effect, Layer, Result, Semaphore } from "effect"
import { accept, conflict, invalidFields, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { maxAdvanceMillis } from "../../../../machines/shared/Limits.ts"
import { ActorHost, type DispatchError, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { Journal } from "../../../engine/journal/Journal.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { currentDryRun } from "../../../engine/mailbox/dryRun.ts"
import { inTurn } from "../../../engine/withinTime.ts"
import { Timers } from "../../../engine/timers/Timers.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { VenueControl, VenueControlError } from "../../../ports/VenueControl.ts"
import { Venue } from "../../../ports/Venue.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { VenueProgress } from "../../../ports/VenueProgress.ts"
import { Settings } from "../../../Settings.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "../../shared/OperatorCaller.ts"
import { VenueLink } from "../../venue/VenueLink.ts"
import type { VenueView } from "../../../../venue/VenueCommand.ts"
import { storedClock } from "../../../store/ServiceStamp.ts"
import { clockEnd } from "../../shared/clockEnd.ts"
import { ClockMeeting } from "./ClockMeeting.ts"
import { ClockWalk, readClock, together } from "./ClockWalk.ts"
import {
  Became,
  type BecameList,
  countsOf,
  type DueList,
  dueNext,
  type DueParts,
  handlerOf,
  jobsDueBy,
  wouldBecome
} from "./dueNext.ts"
import { venueRefusal } from "./venueTexts.ts"

export interface ClockView {
  /** Business time of this service, Unix ms. */
  readonly now: number
  readonly wallNow: number
  /** The lead of business time over wall time, ms. */
  readonly offsetMillis: number
  /** Business time at the venue; null: no venue is attached, or it does not respond. */
  readonly venueNow: number | null
  /**
   * True if a jump is not complete, the attached venue shows another time, its last event is not applied yet, or it does not
   * respond.
   */
  readonly behind: boolean
  /** The business time at which the jump under way ends, Unix ms; null: no jump is under way. */
  readonly movingTo: number | null
}

/** The clock, with the timers and jobs that are due next. */
export interface ClockShown extends ClockView, DueList {}

/** How far to move the clock: by a number of ms, or to a moment in Unix ms. */
export interface Move {
  readonly advanceMillis?: number
  readonly to?: number
}

/** Became: in a dry run, the work that would become due. */
export interface AdvanceView extends ClockShown, BecameList {
  /** How many timers fired, by handler; in a dry run, how many are due by the new time. */
  readonly fired: ReadonlyArray<{ readonly name: string; readonly count: number }>
  /** Statement jobs that became due in the interval. They run in the background, one after the other. */
  readonly jobs: ReadonlyArray<{ readonly name: string; readonly count: number }>
}

const tooFar = "The clock can't be moved into the year 2100 or later."

const needed = "The advance in milliseconds is required."
const oneOfTwo = "It can't be given beside advanceMillis."
const tooLong = "It must not be more than ten years ahead."
const neverBack = "It must be later than the business clock, which never goes back."
/** Limit on the timers that a dry run counts. */
const rehearsedTimers = 10_000

/** Limit on the time for which a caller waits for a jump, and on the jump's wait for an earlier one (C4). */
const patience = Duration.seconds(30)
/** Pause between two attempts to move a venue that did not respond. */
const tryAgain = Duration.millis(200)

const sandboxOnly = refuse(conflict("SANDBOX_ONLY", "The clock can be seen and moved in a sandbox service only."))

export class SimClock extends Context.Service<
  SimClock,
  {
    readonly show: Effect.Effect<Verdict<ClockShown>, Unavailable>
    /**
     * Returns once service and venue have the new time and the due timers have fired. After 30 s, or if the venue or the
     * database is lost on the way, it returns with `behind` set, and the service completes the jump by itself.
     */
    advance(caller: OperatorCaller, move: Move): Effect.Effect<Verdict<AdvanceView>, DispatchError>
  }
>()("brokerage/runtime/services/operations/system/SimClock") {
  static readonly layer = Layer.effect(
    SimClock,
    Effect.gen(function* () {
      const parts = {
        clock: yield* BusinessClock,
        control: yield* VenueControl,
        progress: yield* VenueProgress,
        sql: yield* PgClient.PgClient
      }
      const timers = yield* Timers
      const due = { sql: parts.sql, timers, stored: yield* RowReads }
      const wall = yield* Clock.Clock
      const { sandbox } = yield* Settings
      const begun = sandbox ? (yield* Effect.orDie(storedClock(parts.sql))).target : null
      const host = yield* ActorHost
      const { owner, owns } = yield* Journal
      const walk = new ClockWalk({ ...parts, host, timers, wall, owner }, begun, sandbox)
      const jump = new Jump({ ...parts, host, timers, due, walk })
      // Jumps run one at a time, because each moves the clock by steps that another jump must not see half done.
      const one = yield* Semaphore.make(1)
      const meeting = new ClockMeeting({
        ...parts,
        venue: yield* Venue,
        link: yield* VenueLink,
        walk,
        wall,
        owns,
        one
      })
      if (sandbox) yield* Effect.forkScoped(meeting.run)
      return SimClock.of({
        show: sandbox ? Effect.map(jump.shown, accept) : Effect.succeed(sandboxOnly),
        advance: (caller, move) =>
          sandbox
            ? inTurn(one, Effect.uninterruptible(jump.advance(caller, move)), patience)
            : Effect.succeed(sandboxOnly)
      })
    })
  )
}

interface JumpParts {
  readonly host: ActorHost["Service"]
  readonly clock: BusinessClock["Service"]
  readonly control: VenueControl["Service"]
  readonly progress: VenueProgress["Service"]
  readonly timers: Timers["Service"]
  readonly sql: PgClient.PgClient
  readonly due: DueParts
  readonly walk: ClockWalk
}

class Jump {
  private readonly parts: JumpParts

  constructor(parts: JumpParts) {
    this.parts = parts
  }

  /** The view of the clocks, and what the venue shows; null: there is none, or it does not respond. */
  private readonly seen: Effect.Effect<{ readonly view: ClockView; readonly venue: VenueView | null }> = Effect.suspend(
    (): Effect.Effect<{ readonly view: ClockView; readonly venue: VenueView | null }> => {
      const { control, progress } = this.parts
      const view = (venueNow: number | null, behind: boolean): ClockView => {
        const { movingTo, ...own } = this.own()
        return { ...own, venueNow, behind: behind || movingTo !== null, movingTo }
      }
      if (!control.attached) return Effect.succeed({ view: view(null, false), venue: null })
      return Effect.match(control.show, {
        onSuccess: (venue) => {
          const { at, number } = venue
          const behind = this.parts.clock.now() - at > together || !progress.isAt(number)
          return { view: view(at, behind), venue }
        },
        onFailure: () => ({ view: view(null, true), venue: null })
      })
    }
  )

  readonly shown: Effect.Effect<ClockShown, Unavailable> = Effect.suspend(() =>
    Effect.flatMap(this.seen, ({ view, venue }) =>
      Effect.map(dueNext(this.parts.due, venue?.due ?? [], view.now), (due) => ({ ...view, ...due }))
    )
  )

  advance(caller: OperatorCaller, move: Move): Effect.Effect<Verdict<AdvanceView>, DispatchError> {
    return Effect.gen({ self: this }, function* () {
      const { clock, sql, walk } = this.parts
      const moved = millisOf(move, clock.now())
      if (!moved.ok) return moved
      const stored = yield* readClock(sql)
      // A jump that an earlier caller has begun is part of this one.
      const from = Math.max(stored.offset, clock.offset())
      // A step under way may be stored beyond the clock: the end at a given moment does not move with it.
      const start = move.to === undefined ? from : clock.offset()
      const target = Math.max(start + moved.value, from, walk.pending ?? 0)
      if (this.own().wallNow + target >= clockEnd) {
        return refuse(invalidFields({ [move.to === undefined ? "advanceMillis" : "to"]: tooFar }))
      }
      if (currentDryRun() !== null) return yield* this.rehearse(caller, from, target)
      return yield* this.jump(caller, from, target)
    })
  }

  /** Moves both clocks from one offset to another, in ms. */
  private jump(
    caller: OperatorCaller,
    before: number,
    target: number
  ): Effect.Effect<Verdict<AdvanceView>, DispatchError> {
    return Effect.gen({ self: this }, function* () {
      const { clock, timers, walk } = this.parts
      const firedBefore = timers.fired()
      const { jobs, due } = yield* jobsDueBy(this.parts.due.stored, clock.now(), this.own().wallNow + target)
      const began = performance.now()
      const left = () => Math.max(0, Duration.toMillis(patience) - (performance.now() - began))
      // A venue that can't be reached moves no clock.
      const reached = yield* Effect.result(this.bring(left))
      if (Result.isFailure(reached)) return refuse(venueRefusal(reached.failure))
      yield* this.audit(caller, before, target)
      // The jump is on record by now. The caller must not retry because of a failed write or read, so the outcome is reported
      // as unknown.
      yield* Effect.mapError(walk.begin(target), unsure)
      const became = new Became()
      for (const each of due) became.add(each)
      const complete = yield* within(left(), walk.noting(became.add, this.persist(walk.finish)))
      const met = complete && (yield* this.meet(left))
      const shown = yield* Effect.mapError(this.shown, unsure)
      const fired = firedSince(firedBefore, timers.fired())
      return accept({ ...shown, behind: shown.behind || !met, fired, jobs, ...became.list() })
    })
  }

  private own() {
    const { clock, walk } = this.parts
    const now = clock.now()
    const wallNow = now - clock.offset()
    const movingTo = walk.pending === null ? null : wallNow + walk.pending
    return { now, wallNow, offsetMillis: clock.offset(), movingTo }
  }

  /** The result that the jump would have, without moving a clock. Refused if the venue can't be reached. */
  private rehearse(caller: OperatorCaller, before: number, offset: number) {
    return Effect.gen({ self: this }, function* () {
      const { control, clock } = this.parts
      const seen = control.attached ? yield* Effect.result(control.show) : null
      if (seen !== null && Result.isFailure(seen)) return refuse(venueRefusal(seen.failure))
      const venue = seen?.success.due ?? []
      yield* this.audit(caller, before, offset)
      const { wallNow } = this.own()
      const [from, now] = [clock.now(), wallNow + offset]
      const away = () => new Unavailable({ unknown: false })
      const timers = yield* Effect.mapError(this.parts.timers.due(now, rehearsedTimers), away)
      const later = yield* dueNext(this.parts.due, venue, from, now)
      const { jobs, due } = yield* jobsDueBy(this.parts.due.stored, from, now)
      const venueNow = control.attached ? now : null
      const view = { now, wallNow, offsetMillis: offset, venueNow, behind: false, movingTo: null, ...later }
      const fired = countsOf(timers.map(({ name }) => handlerOf(name)))
      return accept({ ...view, fired, jobs, ...wouldBecome(timers, due, venue, from, now) })
    })
  }

  /** Retries after a lost or failed call of the venue, and after a failed query. */
  private persist(walk: Effect.Effect<void, VenueControlError | Unavailable>): Effect.Effect<void> {
    return Effect.catch(walk, () =>
      Effect.delay(
        Effect.suspend(() => this.persist(walk)),
        tryAgain
      )
    )
  }

  /**
   * Moves the venue to the service's present moment. An attempt with a lost reply is repeated, which is safe because it names
   * its end.
   */
  private bring(left: () => number): Effect.Effect<void, VenueControlError> {
    const { control, clock } = this.parts
    if (!control.attached) return Effect.void
    const to = clock.now()
    let isUnsure = false
    const attempt: Effect.Effect<void, VenueControlError> = Effect.catchIf(
      Effect.asVoid(Effect.suspend(() => control.command({ type: "advance", to }))),
      ({ why }) => why === "lost" || isUnsure,
      () => {
        isUnsure = true
        return Effect.delay(attempt, tryAgain)
      }
    )
    const late = () => Effect.fail(new VenueControlError({ why: "lost", detail: "no answer within 30 seconds" }))
    return Effect.interruptible(Effect.timeoutOrElse(attempt, { duration: Duration.millis(left()), orElse: late }))
  }

  /** Moves the venue to the service's present moment, and waits for its events. False: timeout, or it did not respond. */
  private meet(left: () => number): Effect.Effect<boolean> {
    const { control, progress, clock } = this.parts
    if (!control.attached) return Effect.succeed(true)
    return within(
      left(),
      Effect.flatMap(
        Effect.suspend(() => control.command({ type: "advance", to: clock.now() })),
        ({ number }) => progress.reached(number)
      )
      // The jump ends without the venue; `ClockMeeting` moves the venue once it responds.
    ).pipe(Effect.catch(() => Effect.succeed(false)))
  }

  private audit(caller: OperatorCaller, before: number, after: number): Effect.Effect<void, DispatchError> {
    return this.parts.host.dispatch({
      subject: systemSubject,
      by: caller.by,
      decide: (turn) =>
        applyEffects(turn, systemInstance, [
          {
            type: "audit",
            action: "clock.advance",
            before: `${before} ms ahead`,
            after: `${after} ms ahead`,
            reason: null
          }
        ])
    })
  }
}

const millisOf = ({ advanceMillis, to }: Move, now: number): Verdict<number> => {
  if (to === undefined)
    return advanceMillis === undefined ? refuse(invalidFields({ advanceMillis: needed })) : accept(advanceMillis)
  if (advanceMillis !== undefined) return refuse(invalidFields({ to: oneOfTwo }))
  if (to <= now) return refuse(invalidFields({ to: neverBack }))
  return to - now > maxAdvanceMillis ? refuse(invalidFields({ to: tooLong })) : accept(to - now)
}

/** Runs work that may be interrupted at most this long. False: timeout. */
const within = <E>(millis: number, work: Effect.Effect<void, E>): Effect.Effect<boolean, E> =>
  Effect.interruptible(
    Effect.timeoutOrElse(Effect.as(work, true), {
      duration: Duration.millis(millis),
      orElse: () => Effect.succeed(false)
    })
  )

/** How many timers of each handler fired between two counts; handlers without any are absent. */
const firedSince = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): AdvanceView["fired"] =>
  [...after].flatMap(([name, count]) => {
    const more = count - (before.get(name) ?? 0)
    return more === 0 ? [] : [{ name, count: more }]
  })

const unsure = (error: DispatchError): DispatchError =>
  error._tag === "Unavailable" ? new Unavailable({ unknown: true }) : error
