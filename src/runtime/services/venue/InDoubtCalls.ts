/**
 * Resolves in-doubt calls: the response was lost, the process died, or the call was never sent. It queries the venue
 * for their outcomes, 500 at a time, after 1, 2, 4 and 8 s, then every 5 s (for an accept every 2 s). The query voids
 * calls that the venue has not received. The venue never executes a void ref, so "not found" is a final outcome.
 *
 * An alarm is raised for a call that has no answer for 60 s, and for an execution whose object the venue does not show.
 * Such calls stay in flight until they are resolved (A2-26, A2-116, D6).
 */
import { type Clock, Effect, Latch, type Scope, Semaphore } from "effect"
import { lookupLimit, type VenueCallName } from "../../../machines/venue/venueCalls.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import { type VenueShape, VenueUnanswered } from "../../ports/Venue.ts"
import type { VenueCallRow } from "../../tables/venue.ts"
import { answerWithin } from "./VenueGateway.ts"
import { definite, isUnseen } from "./outcomes.ts"
import type { DefiniteOutcome } from "./VenueHandler.ts"
import { plural } from "../../../machines/shared/Text.ts"

/** Pauses between two queries, ms. The last one repeats. */
const pauses: ReadonlyArray<number> = [1_000, 1_000, 2_000, 4_000, 5_000]
const acceptPause = 2_000
/** Calls that are due within this time join the query, ms. */
const slack = 250
/** The age at which a call raises an alarm, ms. */
const alarmAfter = 60_000
/** The most concurrent queries. */
const queriesAtOnce = 4
/** The most outcomes in concurrent writes. Writes run at the same time as the next queries. */
const writesAtOnce = queriesAtOnce * lookupLimit

const pauseBefore = (call: VenueCallName, tries: number): number =>
  call === "acceptQuote" ? acceptPause : (pauses[tries] ?? (pauses.at(-1) as number))

/** The state of the queries for a call. */
export interface CallQueries {
  /** The number of queries for the call by this process. */
  readonly tries: number
  /** The venue's last answer about the call. */
  readonly found: Found
}

/**
 * NO_ANSWER: the venue has not answered yet. NOTHING: its answer has no outcome. EXECUTED_UNSEEN: it reports an
 * execution without the object.
 */
export type Found = "NO_ANSWER" | "NOTHING" | "EXECUTED_UNSEEN"

interface InDoubtCall {
  readonly row: VenueCallRow
  /** Wall time of the call's commit, Unix ms. */
  readonly since: number
  tries: number
  /** Wall time of the next query, Unix ms. */
  nextAt: number
  alarmed: boolean
  found: Found
  /** True: the outcome is being written. */
  writing: boolean
}

/** A call with a known outcome. */
interface AnsweredCall {
  readonly call: InDoubtCall
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
   * Raises the alarm of a call that is in flight for too long. `raised`: the alarm is written. `ended`: the call is no longer in
   * flight. `later`: the alarm could not be written.
   */
  readonly alarm: (row: VenueCallRow, unseen: boolean) => Effect.Effect<"raised" | "ended" | "later">
}

export class InDoubtCalls {
  /** The number of queries so far. */
  lookups = 0
  alarms = 0
  private readonly parts: InDoubtCallsParts
  private readonly calls = new ShortLivedMap<string, InDoubtCall>()
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
    this.calls.set(row.ref, { row, since, tries: 0, nextAt, alarmed: false, found: "NO_ANSWER", writing: false })
    this.wake.openUnsafe()
  }

  /** Removes a call with a known outcome. */
  forget(ref: string): void {
    this.calls.delete(ref)
  }

  get size(): number {
    return this.calls.size
  }

  /** The queries for a call so far; null: the call is being sent, or its outcome is known. */
  queriesOn(ref: string): CallQueries | null {
    const call = this.calls.get(ref)
    return call === undefined ? null : { tries: call.tries, found: call.found }
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
      const batches = Array.from({ length: Math.ceil(due.length / lookupLimit) }, (_, n) =>
        due.slice(n * lookupLimit, (n + 1) * lookupLimit)
      )
      const queried = Effect.forEach(batches, (batch) => this.query(batch), {
        concurrency: queriesAtOnce,
        discard: true
      })
      return Effect.andThen(queried, this.alarmLate)
    }
    let next = Number.POSITIVE_INFINITY
    for (const { nextAt, writing } of this.calls.values()) if (!writing) next = Math.min(next, nextAt)
    return next === Number.POSITIVE_INFINITY
      ? this.wake.await
      : Effect.race(this.wake.await, Effect.sleep(Math.max(1, next - this.now)))
  })

  /** The calls that are due now, the most overdue first. */
  private due(): ReadonlyArray<InDoubtCall> {
    const { now } = this
    const due: Array<InDoubtCall> = []
    let any = false
    for (const call of this.calls.values()) {
      if (call.writing || call.nextAt > now + slack) continue
      any ||= call.nextAt <= now
      due.push(call)
    }
    return any ? due.sort((one, other) => one.nextAt - other.nextAt).slice(0, writesAtOnce) : []
  }

  private query(due: ReadonlyArray<InDoubtCall>): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.lookups++
      for (const call of due) {
        call.tries++
        call.nextAt = this.now + pauseBefore(call.row.call, call.tries)
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
        const answered = due.flatMap((call) => {
          const outcome = byRef.get(call.row.ref)
          call.found = outcome !== undefined && isUnseen(outcome) ? "EXECUTED_UNSEEN" : "NOTHING"
          const known = outcome === undefined ? null : definite(outcome)
          return known === null ? [] : [{ call, known }]
        })
        const ofClients = Map.groupBy(answered, ({ call }) => call.row.clientId)
        return Effect.forEach(ofClients, ([clientId, ends]) => this.write(clientId, ends), { discard: true })
      }),
      Effect.catchTag("VenueUnanswered", ({ reason }: VenueUnanswered) =>
        Effect.logDebug(
          `the venue did not answer the query for the outcomes of ${plural(due.length, "in-doubt call")}: the service queries again`,
          reason
        )
      ),
      Effect.catchDefect((defect) =>
        Effect.logError(
          `the outcomes of ${plural(due.length, "in-doubt call")} could not be queried or written: the service queries again`,
          defect
        )
      )
    )
  }

  /**
   * Writes the outcomes of one client's calls together, while the next queries run. After a failed write the calls are
   * queried again.
   */
  private write(clientId: number, ends: ReadonlyArray<AnsweredCall>): Effect.Effect<void> {
    for (const { call } of ends) call.writing = true
    const outcomes = ends.map(({ known }) => known)
    const written = Effect.map(this.parts.conclude(clientId, outcomes), (refs) => {
      for (const ref of refs) this.calls.delete(ref)
    })
    const ended = Effect.sync(() => {
      for (const { call } of ends) {
        call.writing = false
        if (this.calls.get(call.row.ref) === call) this.wake.openUnsafe()
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
    const late = [...this.calls.values()].filter(({ alarmed, since }) => !alarmed && this.now - since >= alarmAfter)
    return Effect.forEach(
      late,
      (call) =>
        Effect.map(this.parts.alarm(call.row, call.found === "EXECUTED_UNSEEN"), (result) => {
          if (result === "ended") this.calls.delete(call.row.ref)
          if (result !== "raised") return
          this.alarms++
          call.alarmed = true
        }),
      { concurrency: writesAtOnce, discard: true }
    )
  })
}
