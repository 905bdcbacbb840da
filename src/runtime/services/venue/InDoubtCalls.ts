/**
 * Resolves in-doubt calls: the response was lost, the process died, or the call was never sent. It queries the venue
 * for their outcomes, 500 at a time, after 1, 2, 4 and 8 s, then every 5 s (for an accept every 2 s). The query voids
 * calls that the venue has not received. The venue never executes a void ref, so "not found" is a final outcome.
 *
 * An alarm is raised for a call that has no answer for 60 s, and for an execution whose object the venue does not show.
 * Both stay in flight until they are resolved (A2-26, A2-116, D6).
 */
import { type Clock, Effect, Latch, type Scope, Semaphore } from "effect"
import { lookupLimit, type VenueCallName } from "../../../machines/venue/venueCalls.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import { type VenueShape, VenueUnanswered } from "../../ports/Venue.ts"
import type { VenueCallRow } from "../../tables/venue.ts"
import { answerWithin } from "./VenueGateway.ts"
import { definite, isUnseen } from "./outcomes.ts"
import type { DefiniteOutcome } from "./VenueHandler.ts"

/** Pauses between two queries, ms. The last one repeats. */
const pauses: ReadonlyArray<number> = [1_000, 1_000, 2_000, 4_000, 5_000]
const acceptPause = 2_000
/** Calls that are due within this time join the query, ms. */
const slack = 250
/** The age at which a call raises an alarm, ms. */
const alarmAfter = 60_000
/** The most concurrent queries. */
const questionsAtOnce = 4
/** The most outcomes in concurrent writes. Writes run at the same time as the next queries. */
const writesAtOnce = questionsAtOnce * lookupLimit

const pauseBefore = (call: VenueCallName, tries: number): number =>
  call === "acceptQuote" ? acceptPause : (pauses[tries] ?? (pauses.at(-1) as number))

/** The state of the queries for a call. */
export interface Questions {
  /** The number of queries for the call by this process. */
  readonly asked: number
  /** The last answer. */
  readonly found: Found
}

/**
 * NO_ANSWER: the venue has not answered yet. NOTHING: its answer has no outcome. EXECUTED_UNSEEN: it reports an
 * execution without the object.
 */
export type Found = "NO_ANSWER" | "NOTHING" | "EXECUTED_UNSEEN"

interface Lost {
  readonly row: VenueCallRow
  /** Wall time of its commit, Unix ms. */
  readonly since: number
  tries: number
  /** Wall time of the next query. */
  nextAt: number
  alarmed: boolean
  found: Found
  /** True: the outcome is being written. */
  writing: boolean
}

/** A call with a known outcome. */
interface Heard {
  readonly lost: Lost
  readonly known: DefiniteOutcome
}

export interface InDoubtCallsParts {
  readonly venue: Pick<VenueShape, "voidRefs">
  readonly wall: Clock.Clock
  /** The scope that interrupts writes in progress. */
  readonly scope: Scope.Scope
  /** Writes outcomes of calls of one client. Returns the refs of the written ones. */
  readonly conclude: (
    clientId: number,
    outcomes: ReadonlyArray<DefiniteOutcome>
  ) => Effect.Effect<ReadonlyArray<string>>
  /**
   * Raises the alarm of a call that is in flight for too long. `said`: raised. `ended`: the call is no longer in
   * flight. `later`: the alarm could not be written.
   */
  readonly alarm: (row: VenueCallRow, unseen: boolean) => Effect.Effect<"said" | "ended" | "later">
}

export class InDoubtCalls {
  /** The number of queries so far. */
  lookups = 0
  alarms = 0
  private readonly parts: InDoubtCallsParts
  private readonly lost = new ShortLivedMap<string, Lost>()
  private readonly wake = Latch.makeUnsafe(false)
  private readonly room = Semaphore.makeUnsafe(writesAtOnce)

  constructor(parts: InDoubtCallsParts) {
    this.parts = parts
  }

  /**
   * Adds a call. `since`: wall time of its commit. `made`: the call may have reached the venue, so the first query
   * comes after a pause.
   */
  add(row: VenueCallRow, since: number, made: boolean): void {
    const nextAt = this.now + (made ? pauseBefore(row.call, 0) : 0)
    this.lost.set(row.ref, { row, since, tries: 0, nextAt, alarmed: false, found: "NO_ANSWER", writing: false })
    this.wake.openUnsafe()
  }

  /** Removes a call with a known outcome. */
  forget(ref: string): void {
    this.lost.delete(ref)
  }

  get size(): number {
    return this.lost.size
  }

  /** The queries for a call so far; null: the call is being sent, or its outcome is known. */
  questionsOn(ref: string): Questions | null {
    const lost = this.lost.get(ref)
    return lost === undefined ? null : { asked: lost.tries, found: lost.found }
  }

  /** Queries in an endless loop. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.round).pipe(
    // A failed round must not end the loop.
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logError("the outcomes of in-doubt calls could not be queried; the query is retried in a second", cause),
        Effect.sleep(1_000)
      )
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

  /** The calls that are due now, the most overdue first. */
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
      // A hanging query must not block the others.
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
        Effect.logDebug("the venue does not answer the query for the outcomes of calls: it is retried", reason)
      ),
      Effect.catchDefect((defect) =>
        Effect.logError("the query for the outcomes of calls failed: it is retried", defect)
      )
    )
  }

  /**
   * Writes the outcomes of one client's calls together, while the next queries run. After a failed write the calls are
   * queried again.
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
      // The write must outlive the query, so it is no child of the query's fiber.
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
