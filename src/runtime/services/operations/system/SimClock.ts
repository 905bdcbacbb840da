/**
 * Time travel of the sandbox: moves the business clock forward, and a restart keeps its offset. An attached venue moves
 * first, so that the venue's events of the interval are applied before the service's timers fire (C4).
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Duration, Effect, Layer, Result, Semaphore } from "effect"
import { accept, conflict, invalidFields, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { maxAdvanceMillis } from "../../../../machines/shared/Limits.ts"
import { ActorHost, type DispatchError, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { Journal } from "../../../engine/journal/Journal.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { currentDryRun } from "../../../engine/mailbox/dryRun.ts"
import { inTurn, waitAtMost } from "../../../engine/withinTime.ts"
import { Timers } from "../../../engine/timers/Timers.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { VenueControl, type VenueControlError } from "../../../ports/VenueControl.ts"
import { Venue } from "../../../ports/Venue.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { VenueProgress } from "../../../ports/VenueProgress.ts"
import { Settings } from "../../../Settings.ts"
import { MarketFeed } from "../../market/MarketFeed.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "../../shared/OperatorCaller.ts"
import { VenueLink } from "../../venue/VenueLink.ts"
import { moveClock } from "../../../store/ServiceStamp.ts"
import { whenUnsure } from "../../../store/whenAway.ts"
import { clockEnd } from "../../shared/clockEnd.ts"
import { ClockMeeting, together } from "./ClockMeeting.ts"
import { type DueList, dueNext, type DueParts, handlerOf, jobsDueBy } from "./dueNext.ts"
import { playVenue } from "./playVenue.ts"
import { venueRefusal } from "./venueTexts.ts"

export interface ClockView {
  /** Business time of this service, Unix ms. */
  readonly now: number
  readonly wallNow: number
  /** The lead of business time over wall time, ms. */
  readonly offsetMillis: number
  /** Business time at the venue; null: no venue is attached, or it does not respond. */
  readonly venueNow: number | null
  /** True if the attached venue shows another time, its last event is not applied yet, or it does not respond. */
  readonly behind: boolean
}

/** The clock, with the timers and jobs that are due next. */
export interface ClockShown extends ClockView, DueList {}

/** How far to move the clock: by a number of ms, or to a moment in Unix ms. */
export interface Move {
  readonly advanceMillis?: number
  readonly to?: number
}

export interface AdvanceView extends ClockShown {
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

/** Limit on the time of a whole jump (venue, events and timers), and on its wait for an earlier jump (C4). */
const patience = Duration.seconds(30)
/** Pause between two attempts to move a venue that did not respond. */
const tryAgain = Duration.millis(200)

const sandboxOnly = refuse(conflict("SANDBOX_ONLY", "The clock can be seen and moved in a sandbox service only."))

export class SimClock extends Context.Service<
  SimClock,
  {
    readonly show: Effect.Effect<Verdict<ClockShown>, Unavailable>
    /** Returns once service and venue have the new time and the due timers have fired, or after 30 s with `behind` set. */
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
      const jump = new Jump({
        ...parts,
        host: yield* ActorHost,
        feed: yield* MarketFeed,
        timers,
        due
      })
      const { sandbox } = yield* Settings
      // Jumps run one at a time, because each moves the clock by steps that another jump must not see half done.
      const one = yield* Semaphore.make(1)
      const meeting = new ClockMeeting({
        ...parts,
        venue: yield* Venue,
        link: yield* VenueLink,
        wall: yield* Clock.Clock,
        owns: (yield* Journal).owns,
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
  readonly feed: MarketFeed["Service"]
  readonly timers: Timers["Service"]
  readonly sql: PgClient.PgClient
  readonly due: DueParts
}

class Jump {
  private readonly parts: JumpParts

  constructor(parts: JumpParts) {
    this.parts = parts
  }

  readonly view: Effect.Effect<ClockView> = Effect.suspend((): Effect.Effect<ClockView> => {
    const { control, progress } = this.parts
    if (!control.attached) return Effect.succeed({ ...this.own(), venueNow: null, behind: false })
    return Effect.match(control.show, {
      onSuccess: ({ at, number }) => {
        const own = this.own()
        return { ...own, venueNow: at, behind: own.now - at > together || !progress.isAt(number) }
      },
      onFailure: () => ({ ...this.own(), venueNow: null, behind: true })
    })
  })

  readonly shown: Effect.Effect<ClockShown, Unavailable> = Effect.suspend(() =>
    Effect.flatMap(this.view, (view) => Effect.map(dueNext(this.parts.due), (due) => ({ ...view, ...due })))
  )

  advance(caller: OperatorCaller, move: Move): Effect.Effect<Verdict<AdvanceView>, DispatchError> {
    return Effect.gen({ self: this }, function* () {
      const { clock } = this.parts
      const target = millisOf(move, clock.now())
      if (!target.ok) return target
      const millis = target.value
      const rehearsed = yield* this.store(millis, true)
      if (rehearsed === null) return refuse(invalidFields({ [move.to === undefined ? "advanceMillis" : "to"]: tooFar }))
      if (currentDryRun() !== null) return yield* this.rehearse(caller, clock.offset(), rehearsed)
      // During the jump the clock expects times that far ahead, and the service accepts them. The expectation has to end
      // with the jump, also after a failure.
      return yield* Effect.ensuring(
        this.jump(caller, millis, this.own().wallNow + rehearsed),
        Effect.sync(() => clock.expect(0))
      )
    })
  }

  /** Moves the venue and then this service's clock. `to`: the venue's target, Unix ms of business time. */
  private jump(caller: OperatorCaller, millis: number, to: number): Effect.Effect<Verdict<AdvanceView>, DispatchError> {
    return Effect.gen({ self: this }, function* () {
      const { clock, timers } = this.parts
      const before = clock.offset()
      const firedBefore = timers.fired()
      const jobs = yield* jobsDueBy(this.parts.due.stored, to)
      const began = performance.now()
      const left = () => Math.max(0, Duration.toMillis(patience) - (performance.now() - began))
      clock.expect(to)
      const moved = yield* Effect.result(this.moveVenue(to, left))
      if (Result.isFailure(moved)) return refuse(venueRefusal(moved.failure))
      const offset = yield* this.store(millis, false)
      if (offset === null) return refuse(invalidFields({ advanceMillis: tooFar }))
      clock.setOffset(Math.max(offset, clock.offset()))
      // The clock has moved by now. The caller must not retry because of a failed audit row, so the outcome is reported as
      // unknown.
      yield* Effect.mapError(this.audit(caller, before, offset), unsure)
      const fired = yield* this.fireDue(left())
      // The venue has moved on while the service worked, so both are brought to the same moment again.
      const met = !moved.success || (yield* this.meet(left))
      // The clock has moved by now. The caller must not retry because of a failed read, so the outcome is reported as
      // unknown.
      const shown = yield* Effect.mapError(this.shown, unsure)
      const tally = firedSince(firedBefore, timers.fired())
      return accept({ ...shown, behind: shown.behind || !moved.success || !fired || !met, fired: tally, jobs })
    })
  }

  private own() {
    const { clock } = this.parts
    const now = clock.now()
    return { now, wallNow: now - clock.offset(), offsetMillis: clock.offset() }
  }

  /**
   * Stores the new offset of the clock, before the process uses it. Null: business time would go beyond its end
   * (`clockEnd`).
   */
  private store(millis: number, dry: boolean) {
    return Effect.suspend(() =>
      Effect.catch(moveClock(this.parts.sql, millis, clockEnd - this.own().wallNow, dry), whenUnsure)
    )
  }

  /** The result that the jump would have, without moving a clock. Refused if the venue can't be reached. */
  private rehearse(caller: OperatorCaller, before: number, offset: number) {
    return Effect.gen({ self: this }, function* () {
      const { control } = this.parts
      if (control.attached) {
        const seen = yield* Effect.result(control.show)
        if (Result.isFailure(seen)) return refuse(venueRefusal(seen.failure))
      }
      yield* this.audit(caller, before, offset)
      const { wallNow } = this.own()
      const now = wallNow + offset
      const away = () => new Unavailable({ unknown: false })
      const due = yield* Effect.mapError(this.parts.timers.due(now, rehearsedTimers), away)
      const later = yield* dueNext(this.parts.due, now)
      const jobs = yield* jobsDueBy(this.parts.due.stored, now)
      const venueNow = control.attached ? now : null
      const view = { now, wallNow, offsetMillis: offset, venueNow, behind: false, ...later }
      return accept({ ...view, fired: countsOf(due.map(({ name }) => handlerOf(name))), jobs })
    })
  }

  /**
   * Advances the venue to `to`, and waits until its events up to that time are applied. False: timeout. An attempt with
   * a lost reply is repeated, which is safe because a jump names its end.
   */
  private moveVenue(to: number, left: () => number): Effect.Effect<boolean, VenueControlError> {
    const { control, clock } = this.parts
    if (!control.attached) return Effect.succeed(true)
    const from = clock.now()
    let isUnsure = false
    const attempt: Effect.Effect<boolean, VenueControlError> = Effect.suspend(() =>
      Effect.as(playVenue(this.parts, from, to), true).pipe(
        Effect.catchIf(
          ({ why }) => why === "lost" || isUnsure,
          () => {
            isUnsure = true
            return Effect.andThen(Effect.sleep(tryAgain), attempt)
          }
        )
      )
    )
    return Effect.suspend(() =>
      Effect.interruptible(
        Effect.timeoutOrElse(attempt, { duration: Duration.millis(left()), orElse: () => Effect.succeed(false) })
      )
    )
  }

  /**
   * Moves the venue to the service's present moment, and waits until its events up to that moment are applied. False:
   * timeout, or the venue did not respond.
   */
  private meet(left: () => number): Effect.Effect<boolean> {
    const { control, progress, clock } = this.parts
    if (!control.attached) return Effect.succeed(true)
    return control.command({ type: "advance", to: clock.now() }).pipe(
      Effect.flatMap(({ number }) => Effect.as(progress.reached(number), true)),
      // The jump ends without the venue; `ClockMeeting` moves the venue once it responds.
      Effect.catch(() => Effect.succeed(false)),
      Effect.timeoutOrElse({ duration: Duration.millis(left()), orElse: () => Effect.succeed(false) }),
      Effect.interruptible
    )
  }

  /** Fires the due timers. False: timeout; the remaining timers fire in the background. */
  private fireDue(millis: number): Effect.Effect<boolean> {
    return waitAtMost(this.parts.timers.fireDue, () => null, Duration.millis(millis)).pipe(
      Effect.as(true),
      Effect.catch(() => Effect.succeed(false))
    )
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

const countsOf = (names: ReadonlyArray<string>): AdvanceView["fired"] =>
  [...Map.groupBy(names, (name) => name)].map(([name, all]) => ({ name, count: all.length }))

/** How many timers of each handler fired between two counts; handlers without any are absent. */
const firedSince = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): AdvanceView["fired"] =>
  [...after].flatMap(([name, count]) => {
    const more = count - (before.get(name) ?? 0)
    return more === 0 ? [] : [{ name, count: more }]
  })

const unsure = (error: DispatchError): DispatchError =>
  error._tag === "Unavailable" ? new Unavailable({ unknown: true }) : error
