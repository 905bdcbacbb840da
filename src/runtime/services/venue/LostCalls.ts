/**
 * Calls whose end is not known: the answer was lost, the process died, or the call was never made. The venue is asked what
 * became of them, 500 at a time, after 1, 2, 4 and 8 s and every 5 s then (D6), of an accept every 2 s (A2-26), and to void
 * what has not come: a void ref is never executed, so that "not there" can be believed. What is not answered for 60 s is an
 * alarm, and so is what the venue says it executed but does not show; both stay in flight for as long as it takes (A2-116).
 */
import { type Clock, Effect, Latch, type Scope, Semaphore } from "effect"
import { lookupLimit, type VenueCallName } from "../../../machines/venue/venueCalls.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import { type VenueShape, VenueUnanswered } from "../../ports/Venue.ts"
import type { VenueCallRow } from "../../tables/venue.ts"
import { answerWithin } from "./VenueGateway.ts"
import { definite, isUnseen } from "./outcomes.ts"
import type { DefiniteOutcome } from "./VenueHandler.ts"

/** Pauses between two questions, ms; the last one again and again. */
const pauses: ReadonlyArray<number> = [1_000, 1_000, 2_000, 4_000, 5_000]
const acceptPause = 2_000
/** What is due this soon is asked with the rest, ms. */
const slack = 250
/** A call is an alarm from this age on, ms. */
const alarmAfter = 60_000
/** Questions asked side by side. */
const questionsAtOnce = 4
/** Outcomes on their way to the database: they are written while the next questions are asked. */
const writesAtOnce = questionsAtOnce * lookupLimit

const pauseBefore = (call: VenueCallName, tries: number): number =>
  call === "acceptQuote" ? acceptPause : (pauses[tries] ?? (pauses.at(-1) as number))

/** What asking for a call has come to. */
export interface Questions {
  /** How often the venue was asked what became of it, by this process. */
  readonly asked: number
  /** What it has last said. */
  readonly found: Found
}

/** Of a call: no answer yet; nothing that would be its end; that it was executed, without showing what came of it. */
export type Found = "NO_ANSWER" | "NOTHING" | "EXECUTED_UNSEEN"

interface Lost {
  readonly row: VenueCallRow
  /** Wall time of its commit, Unix ms. */
  readonly since: number
  tries: number
  /** Wall time of the next question. */
  nextAt: number
  alarmed: boolean
  found: Found
  /** What became of it is being written. */
  writing: boolean
}

/** A call of which the venue has said what became of it. */
interface Heard {
  readonly lost: Lost
  readonly known: DefiniteOutcome
}

export interface LostCallsParts {
  readonly venue: Pick<VenueShape, "voidRefs">
  readonly wall: Clock.Clock
  /** Writes on their way end with it. */
  readonly scope: Scope.Scope
  /** Writes what became of calls of one client; the refs of those that are written. */
  readonly conclude: (
    clientId: number,
    outcomes: ReadonlyArray<DefiniteOutcome>
  ) => Effect.Effect<ReadonlyArray<string>>
  /** Says that a call has been in flight for too long. `ended`: it is not in flight any more; `later`: it can't be said now. */
  readonly alarm: (row: VenueCallRow, unseen: boolean) => Effect.Effect<"said" | "ended" | "later">
}

export class LostCalls {
  /** Questions asked so far. */
  lookups = 0
  alarms = 0
  private readonly parts: LostCallsParts
  private readonly lost = new ShortLivedMap<string, Lost>()
  private readonly wake = Latch.makeUnsafe(false)
  private readonly room = Semaphore.makeUnsafe(writesAtOnce)

  constructor(parts: LostCallsParts) {
    this.parts = parts
  }

  /** `since`: wall time of its commit. `made`: it may have reached the venue, so that the answer gets a moment to be there. */
  add(row: VenueCallRow, since: number, made: boolean): void {
    const nextAt = this.now + (made ? pauseBefore(row.call, 0) : 0)
    this.lost.set(row.ref, { row, since, tries: 0, nextAt, alarmed: false, found: "NO_ANSWER", writing: false })
    this.wake.openUnsafe()
  }

  /** Its end is known: it is not asked for any more. */
  forget(ref: string): void {
    this.lost.delete(ref)
  }

  get size(): number {
    return this.lost.size
  }

  /** Null: it is not asked for, because it is being made, or its end is known. */
  questionsOn(ref: string): Questions | null {
    const lost = this.lost.get(ref)
    return lost === undefined ? null : { asked: lost.tries, found: lost.found }
  }

  /** Asks for ever. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.round).pipe(
    // A fault of one round must not end the asking for good.
    Effect.catchCause((cause) =>
      Effect.andThen(Effect.logError("the outcomes of lost calls could not be queried", cause), Effect.sleep(1_000))
    ),
    Effect.forever({ disableYield: true })
  )

  private get now(): number {
    return this.parts.wall.currentTimeMillisUnsafe()
  }

  private readonly round: Effect.Effect<void> = Effect.suspend(() => {
    this.wake.closeUnsafe()
    const due = this.due()
    if (due.length > 0) {
      const questions = Array.from({ length: Math.ceil(due.length / lookupLimit) }, (_, n) =>
        due.slice(n * lookupLimit, (n + 1) * lookupLimit)
      )
      const asked = Effect.forEach(questions, (question) => this.ask(question), {
        concurrency: questionsAtOnce,
        discard: true
      })
      return Effect.andThen(asked, this.alarmLate)
    }
    let next = Number.POSITIVE_INFINITY
    for (const { nextAt, writing } of this.lost.values()) if (!writing) next = Math.min(next, nextAt)
    return next === Number.POSITIVE_INFINITY
      ? this.wake.await
      : Effect.race(this.wake.await, Effect.sleep(Math.max(1, next - this.now)))
  })

  /** What is asked now, the most overdue first. */
  private due(): ReadonlyArray<Lost> {
    const { now } = this
    const due: Array<Lost> = []
    let any = false
    for (const lost of this.lost.values()) {
      if (lost.writing || lost.nextAt > now + slack) continue
      any ||= lost.nextAt <= now
      due.push(lost)
    }
    return any ? due.sort((one, other) => one.nextAt - other.nextAt).slice(0, writesAtOnce) : []
  }

  private ask(due: ReadonlyArray<Lost>): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.lookups++
      for (const lost of due) {
        lost.tries++
        lost.nextAt = this.now + pauseBefore(lost.row.call, lost.tries)
      }
      return this.parts.venue.voidRefs(due.map(({ row }) => row.ref))
    }).pipe(
      // One question that hangs must not keep all others back.
      Effect.timeoutOrElse({
        duration: answerWithin,
        orElse: () => Effect.fail(new VenueUnanswered({ reason: "no answer within 5 s" }))
      }),
      Effect.flatMap((outcomes) => {
        const byRef = new Map(outcomes.map((outcome) => [outcome.ref, outcome]))
        const heard = due.flatMap((lost) => {
          const outcome = byRef.get(lost.row.ref)
          lost.found = outcome !== undefined && isUnseen(outcome) ? "EXECUTED_UNSEEN" : "NOTHING"
          const known = outcome === undefined ? null : definite(outcome)
          return known === null ? [] : [{ lost, known }]
        })
        const ofClients = Map.groupBy(heard, ({ lost }) => lost.row.clientId)
        return Effect.forEach(ofClients, ([clientId, ends]) => this.hear(clientId, ends), { discard: true })
      }),
      Effect.catchTag("VenueUnanswered", ({ reason }: VenueUnanswered) =>
        Effect.logDebug("the venue does not answer for the outcomes of calls", reason)
      ),
      Effect.catchDefect((defect) => Effect.logError("the query for the outcomes of calls failed", defect))
    )
  }

  /**
   * Has what is certain of one client's calls written together, beside the next questions; what could not be written is asked
   * for again.
   */
  private hear(clientId: number, ends: ReadonlyArray<Heard>): Effect.Effect<void> {
    for (const { lost } of ends) lost.writing = true
    const outcomes = ends.map(({ known }) => known)
    const written = Effect.map(this.parts.conclude(clientId, outcomes), (refs) => {
      for (const ref of refs) this.lost.delete(ref)
    })
    const ended = Effect.sync(() => {
      for (const { lost } of ends) {
        lost.writing = false
        if (this.lost.get(lost.row.ref) === lost) this.wake.openUnsafe()
      }
      return this.room.release(ends.length)
    })
    return Effect.andThen(
      this.room.take(ends.length),
      // Not a child of the question, which ends before it.
      Effect.forkIn(Effect.ensuring(written, Effect.flatten(ended)), this.parts.scope, { startImmediately: true })
    )
  }

  private readonly alarmLate: Effect.Effect<void> = Effect.suspend(() => {
    const late = [...this.lost.values()].filter(({ alarmed, since }) => !alarmed && this.now - since >= alarmAfter)
    return Effect.forEach(
      late,
      (lost) =>
        Effect.map(this.parts.alarm(lost.row, lost.found === "EXECUTED_UNSEEN"), (said) => {
          if (said === "ended") this.lost.delete(lost.row.ref)
          if (said !== "said") return
          this.alarms++
          lost.alarmed = true
        }),
      { concurrency: writesAtOnce, discard: true }
    )
  })
}
