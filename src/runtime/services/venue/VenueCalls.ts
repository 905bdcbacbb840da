/**
 * Sends the calls of commits outside the mailbox and the caller's fiber. Each call is sent at most once, within 5 s of
 * its commit, and only while this process owns the database. Only calls that this process committed are sent. Every
 * other row is an in-doubt call, which is queried (InDoubtCalls). An outcome is a command of the client, whose commit
 * deletes the row (architecture, Engine: venue calls; A2-95, F9).
 */
import { Cause, Clock, Context, Effect, Exit, Latch, Layer, type Scope } from "effect"
import type { VenueCallName, VenueOutcome, VenueRequest } from "../../../machines/venue/venueCalls.ts"
import { ownerOfRef } from "../../../machines/venue/venueRefs.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { Journal } from "../../engine/journal/Journal.ts"
import { ActorHost, type DispatchError, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { passPausePoint } from "../../engine/PausePoints.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { Venue, VenueUnanswered } from "../../ports/Venue.ts"
import type { VenueCallRow } from "../../tables/venue.ts"
import { subscribe, subscribeToEndedCalls } from "../../subscriptions.ts"
import { clientSubject } from "../account/clientState.ts"
import { CallLanes, callsAtOnce, callsOfClient, type Waiting } from "./CallLanes.ts"
import { answerWithin } from "./VenueGateway.ts"
import { InDoubtCalls, type CallQueries } from "./InDoubtCalls.ts"
import { takeUntilFull } from "./batches.ts"
import { type OfAccount, openAccount } from "./openAccount.ts"
import { definite, endCall, takeItsEvents } from "./outcomes.ts"
import type { DefiniteOutcome, VenueHandlers } from "./VenueHandler.ts"
import { byVenue } from "./venueQuarantine.ts"

/** Longest time from the commit to the call, wall ms. */
const callWithin = 5_000
/**
 * The backpressure limit: the most waiting and running calls, above which loops that commit many calls must wait. Twice
 * the limit of running calls keeps the capacity in use, and even the last call leaves long before its deadline.
 */
const callsWaiting = 2 * callsAtOnce
/** The validity of a confirmation that this process owns the database, wall ms. */
const ownsFor = 1_000
/** The most accounts that are cached as opened. */
const accountsKept = 100_000

export interface CallFigures {
  /** Committed calls without an outcome, including in-doubt calls. */
  readonly inFlight: number
  readonly inDoubt: number
  readonly made: number
  /** Calls that missed their deadline. */
  readonly tooLate: number
  readonly lookups: number
  readonly alarms: number
}

export class VenueCalls extends Context.Service<
  VenueCalls,
  {
    /**
     * Backpressure: completes once few calls wait. Loops that commit calls of many clients, such as close-outs after a
     * price fall, must await it before each decision. Otherwise they commit calls faster than these can be sent. Such
     * calls miss their deadline, and delay callers.
     */
    readonly room: Effect.Effect<void>
    /** The queries for a call in flight; null: it is being sent. */
    queriesOn(ref: string): CallQueries | null
    readonly figures: () => CallFigures
  }
>()("brokerage/runtime/services/venue/VenueCalls") {
  static readonly layer = <R>(
    makeHandlers: Effect.Effect<VenueHandlers, never, R>
  ): Layer.Layer<VenueCalls, never, R | ActorHost | BusinessClock | Journal | RowReads | Venue> =>
    Layer.effect(
      VenueCalls,
      Effect.gen(function* () {
        const stored = yield* RowReads
        const executor = new Executor({
          host: yield* ActorHost,
          journal: yield* Journal,
          clock: yield* BusinessClock,
          venue: yield* Venue,
          wall: yield* Clock.Clock,
          handlers: yield* makeHandlers,
          scope: yield* Effect.scope
        })
        for (const row of yield* Effect.orDie(stored.all("venueCalls"))) executor.found(row)
        yield* Effect.forkScoped(executor.run)
        yield* Effect.forkScoped(executor.inDoubt.run)
        return VenueCalls.of({
          room: executor.room,
          queriesOn: (ref) => executor.inDoubt.queriesOn(ref),
          figures: () => executor.figures()
        })
      })
    )
}

interface ExecutorParts {
  readonly host: ActorHost["Service"]
  readonly journal: Journal["Service"]
  readonly clock: BusinessClock["Service"]
  readonly venue: Venue["Service"]
  readonly wall: Clock.Clock
  readonly handlers: VenueHandlers
  /** The scope that interrupts calls in flight. */
  readonly scope: Scope.Scope
}

class Executor {
  readonly inDoubt: InDoubtCalls
  private readonly parts: ExecutorParts
  private readonly lanes = new CallLanes({
    atOnce: callsAtOnce,
    // The first call opens the account; the other calls of its client follow it.
    ofClient: ({ request }) => (this.opened.has((request as OfAccount).account) ? callsOfClient : 1)
  })
  private readonly wake = Latch.makeUnsafe(false)
  private readonly few = Latch.makeUnsafe(true)
  readonly room: Effect.Effect<void> = Effect.suspend(() => this.few.await)
  /** Accounts that are open at the venue, as far as this process knows, in order of first use. */
  private readonly opened = new Set<string>()
  private made = 0
  private tooLate = 0

  constructor(parts: ExecutorParts) {
    this.parts = parts
    const { host, venue, wall } = parts
    this.inDoubt = new InDoubtCalls({
      venue,
      wall,
      scope: parts.scope,
      conclude: (clientId, outcomes) => this.takeAll(clientId, outcomes),
      alarm: (row, unseen) => this.alarm(row, unseen)
    })
    subscribe(host, "VenueCalls", {
      venueCalls: (row) => {
        this.lanes.add({ row, deadline: this.committedAt(row) + callWithin })
        if (this.lanes.size >= callsWaiting) this.few.closeUnsafe()
        this.wake.openUnsafe()
      }
    })
    subscribeToEndedCalls(host, "VenueCalls", (ref) => {
      this.lanes.forget(ref)
      this.inDoubt.forget(ref)
      this.openRoom()
      if (this.lanes.startable) this.wake.openUnsafe()
    })
  }

  private openRoom(): void {
    if (this.lanes.size < callsWaiting) this.few.openUnsafe()
  }

  figures(): CallFigures {
    const { inDoubt, lanes, made, tooLate } = this
    return {
      inFlight: lanes.size + inDoubt.size,
      inDoubt: inDoubt.size,
      made,
      tooLate,
      lookups: inDoubt.lookups,
      alarms: inDoubt.alarms
    }
  }

  /** Adds a row of an earlier process as an in-doubt call. */
  found(row: VenueCallRow): void {
    if (!this.lanes.has(row.ref)) this.inDoubt.add(row, this.committedAt(row), false)
  }

  /** Adds a call that was not answered or not sent to the in-doubt calls. Its age counts from the commit in wall time. */
  private lose({ row, deadline }: Waiting, made: boolean): void {
    if (this.lanes.has(row.ref)) this.inDoubt.add(row, deadline - callWithin, made)
  }

  /** Sends calls, in an endless loop. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.wake.await).pipe(
    Effect.andThen(Effect.suspend(() => this.round)),
    Effect.catchCause((cause) => Effect.logError("calls to the venue could not be started: they are retried", cause)),
    Effect.forever({ disableYield: true })
  )

  private get now(): number {
    return this.parts.wall.currentTimeMillisUnsafe()
  }

  /**
   * Wall time of the decision of a call, which is no later than its commit. If the clock was moved in between, the call
   * seems older than it is, and is at worst not sent.
   */
  private committedAt({ at }: VenueCallRow): number {
    return this.now - Math.max(0, this.parts.clock.now() - at)
  }

  private readonly round: Effect.Effect<void> = Effect.suspend(() => {
    this.wake.closeUnsafe()
    if (!this.lanes.startable) return Effect.void
    // The commit of the call itself has usually just confirmed the ownership.
    const owned = this.parts.journal.ownedAt()
    const checkedAt = this.now
    if (checkedAt - owned <= ownsFor / 2) return this.begin(true, owned)
    return Effect.flatMap(this.parts.journal.owns, (owns) => this.begin(owns, checkedAt))
  })

  private begin(owns: boolean, checkedAt: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (let next = this.lanes.next(); next !== null; next = this.lanes.next()) {
        const over = this.now >= next.deadline
        // The confirmation came too late, or the process was frozen. The next round checks again.
        if (!over && owns && this.now - checkedAt > ownsFor) {
          this.lanes.free(next, false)
          return this.wake.openUnsafe()
        }
        if (over || owns) {
          yield* Effect.forkIn(this.call(next, checkedAt), this.parts.scope, { startImmediately: true })
          continue
        }
        // The ownership is not confirmed: check again soon, until the deadline of the call.
        this.lanes.free(next, false)
        yield* Effect.sleep("100 millis")
        return this.wake.openUnsafe()
      }
    })
  }

  private call(waiting: Waiting, checkedAt: number): Effect.Effect<void> {
    const { row } = waiting
    const { account } = row.request as OfAccount
    return Effect.suspend((): Effect.Effect<void> => {
      // The last check before the request leaves, which detects that the process was frozen.
      if (!this.lanes.has(row.ref)) return Effect.sync(() => this.finish(waiting))
      if (this.now >= waiting.deadline) return Effect.sync(() => this.missed(waiting))
      if (this.now - checkedAt > ownsFor) return this.again(waiting)
      return this.opened.has(account) ? this.make(waiting) : this.open(waiting, account)
    })
  }

  private make(waiting: Waiting): Effect.Effect<void> {
    const { row } = waiting
    this.made++
    passPausePoint("before-call")
    return this.write(row.call, row.request as VenueRequest<VenueCallName>).pipe(
      Effect.ensuring(Effect.sync(() => passPausePoint("after-call"))),
      Effect.flatMap((outcome) => {
        const known = definite(outcome)
        return known === null || outcome.ref !== row.ref ? Effect.succeed(false) : this.takeOne(row.clientId, known)
      }),
      Effect.catchTag("VenueUnanswered", ({ reason }) =>
        Effect.as(Effect.logDebug("the venue has not answered a call: the call is in doubt", row.ref, reason), false)
      ),
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("a venue call failed by a defect: the service queries the outcome", defect), false)
      ),
      Effect.map((taken) => {
        if (!taken) this.lose(waiting, true)
        this.finish(waiting)
      })
    )
  }

  /** Opens the account before its first call. */
  private open(waiting: Waiting, account: string): Effect.Effect<void> {
    const opening = openAccount(
      (request) => this.write("openAccount", request),
      account,
      () => this.now
    )
    return Effect.matchCauseEffect(opening, {
      onFailure: () => Effect.sync(() => this.missed(waiting)),
      onSuccess: ({ outcome, reason }) => {
        if (outcome !== "EXECUTED") {
          this.missed(waiting)
          return Effect.logWarning(
            "the venue refused to open an account: the call that needs it is not sent; the service queries the call's outcome, and brokerage queue lists the call while it is open",
            { account, ref: waiting.row.ref, reason }
          )
        }
        if (this.opened.size >= accountsKept) this.opened.delete(this.opened.values().next().value as string)
        this.opened.add(account)
        return this.again(waiting)
      }
    })
  }

  private write<Name extends VenueCallName>(
    name: Name,
    request: VenueRequest<Name>
  ): Effect.Effect<VenueOutcome, VenueUnanswered> {
    return Effect.timeoutOrElse(this.parts.venue.write(name, request), {
      duration: answerWithin,
      orElse: () => Effect.fail(new VenueUnanswered({ reason: "no answer within 5 s" }))
    })
  }

  private readonly again = (waiting: Waiting): Effect.Effect<void> =>
    Effect.sync(() => {
      this.lanes.free(waiting, false)
      this.wake.openUnsafe()
    })

  /** Handles a call that missed its deadline. It is never sent, so it becomes an in-doubt call. */
  private missed(waiting: Waiting): void {
    this.tooLate++
    this.lose(waiting, false)
    this.finish(waiting)
  }

  private finish(waiting: Waiting): void {
    this.lanes.free(waiting, true)
    this.openRoom()
    this.wake.openUnsafe()
  }

  /**
   * Writes the outcomes of one client's calls, in as few commits as possible. Returns the refs of the calls that have
   * ended.
   */
  private takeAll(clientId: number, outcomes: ReadonlyArray<DefiniteOutcome>): Effect.Effect<ReadonlyArray<string>> {
    return Effect.gen({ self: this }, function* () {
      const written: Array<string> = []
      for (let rest = outcomes; rest.length > 0;) {
        const done = yield* Effect.exit(this.take(clientId, rest))
        if (Exit.isFailure(done)) {
          const error = Cause.squash(done.cause)
          if (error instanceof Unavailable) return written
          // At least one outcome can't be written. Each is now written alone, so that a bad one does not block the
          // others.
          for (const each of rest) if (yield* this.takeOne(clientId, each)) written.push(each.ref)
          return written
        }
        written.push(...done.value.ended)
        rest = rest.slice(done.value.taken)
      }
      return written
    })
  }

  /** Writes the outcome of a call. False: it could not be written now, or does not fit. */
  private takeOne(clientId: number, outcome: DefiniteOutcome): Effect.Effect<boolean> {
    return this.take(clientId, [outcome]).pipe(
      Effect.map(({ ended }) => ended.length > 0),
      Effect.catchTag("Unavailable", () => Effect.succeed(false)),
      Effect.catchCause((cause) =>
        Effect.logError("the outcome of a call could not be written: the service queries the call again", cause).pipe(
          Effect.annotateLogs({ ref: outcome.ref }),
          Effect.as(false)
        )
      )
    )
  }

  /**
   * Commits the first of these outcomes, up to the size of a batch. Returns their number and the refs of the calls that
   * have ended.
   */
  private take(
    clientId: number,
    outcomes: ReadonlyArray<DefiniteOutcome>
  ): Effect.Effect<{ readonly taken: number; readonly ended: ReadonlyArray<string> }, DispatchError> {
    return this.parts.host.dispatch({
      subject: clientSubject(clientId),
      by: byVenue,
      lane: "internal",
      decide: (turn) => {
        const ended: Array<string> = []
        const { length: taken } = takeUntilFull(turn, outcomes, (outcome) => {
          // An event has already ended the call, so the outcome from the event stays.
          if (turn.state.get("venueCalls", outcome.ref) === undefined) return ended.push(outcome.ref)
          if (!endCall(turn, this.parts.handlers, outcome)) return true
          takeItsEvents(turn, clientId, outcome)
          return ended.push(outcome.ref)
        })
        return { taken, ended }
      }
    })
  }

  private alarm(row: VenueCallRow, unseen: boolean): Effect.Effect<"raised" | "ended" | "later"> {
    const { ref, clientId, partnerId, call } = row
    const named = ownerOfRef(ref)
    const action = unseen ? "venue.executedUnseen" : "venue.unanswered"
    const sentence = unseen
      ? "the venue reports an executed call without its object for a minute; the service queries the call again"
      : "the venue has not answered a call for a minute; the service queries the call again, and venue resolve can end it"
    const noted = this.parts.host.dispatch({
      subject: clientSubject(clientId),
      by: byVenue,
      lane: "internal",
      decide: (turn) => {
        if (named === null || turn.state.get("venueCalls", ref) === undefined) return "ended"
        applyEffects(turn, { partnerId, clientId, object: `${named.owner}:${named.id}` }, [
          { type: "audit", action, before: null, after: null, reason: `${call} ${ref}` }
        ])
        return "raised"
      }
    })
    const logged = Effect.annotateLogs(Effect.logError(sentence), { ref, call, client: clientId })
    return noted.pipe(
      Effect.tap((result) => (result === "raised" ? logged : Effect.void)),
      Effect.catch(() => Effect.succeed("later" as const))
    )
  }
}
