/**
 * Decides an account's events in its client's turn. As many waiting events as fit share one commit (`batches.ts`). An
 * implausible event gets a commit of its own. If it names an object, that commit applies the venue's answer to a query
 * of the object (A2-103, A2-115).
 */
import { Effect } from "effect"
import { type AccountFact, objectsOfFact, refOfFact } from "../../../machines/venue/VenueEvent.ts"
import { ownerOfRef, type RefOwner } from "../../../machines/venue/venueRefs.ts"
import type { DispatchError, Turn } from "../../engine/mailbox/ActorHost.ts"
import { clientSubject } from "../account/clientState.ts"
import type { AccountEvent } from "./AccountLane.ts"
import { answerWithin } from "./VenueGateway.ts"
import { EventJudge, type EventJudgeParts } from "./EventJudge.ts"
import { takeUntilFull, maxBatchLength } from "./batches.ts"
import { accountIn, definite, endCall, outcomeOfFact } from "./outcomes.ts"
import { misfitReason, noteMisfit } from "./misfits.ts"
import type { DefiniteOutcome, VenueHandlers } from "./VenueHandler.ts"
import type { Verdict } from "./verdict.ts"
import { AccountLosses, type AccountLossesParts } from "./AccountLosses.ts"
import { byVenue, putQuarantined, type QuarantineEntry } from "./venueQuarantine.ts"

/** The most queries of an object after an implausible event. */
const lookups = 3

/** The result of the check of an event, with the way to apply it. */
interface Judged {
  /** The reason why the event is implausible; null: plausible. */
  readonly wrong: string | null
  readonly past: boolean
  /** The venue's answer for the object that an implausible event names; null: there is none. */
  readonly answer: DefiniteOutcome | null
}

const believed: Judged = { wrong: null, past: false, answer: null }

/** The result of an event in its turn. For a quarantined event it is the quarantine entry. */
interface Taken {
  readonly is: "taken" | "known" | "gap" | "early" | QuarantineEntry
}

/** The pause before the second check of an event that a later mark price may explain. */
const earlyPause = "250 millis"

export interface EventDecisionsParts extends EventJudgeParts, AccountLossesParts {
  readonly handlers: VenueHandlers
}

export class EventDecisions {
  readonly judge: EventJudge
  readonly losses: AccountLosses
  private readonly parts: EventDecisionsParts
  /**
   * By client: the sequence up to which quotes were published, if it is beyond the stored sequence. After a restart
   * these quotes arrive again. `gapTo`: the sequence of the last quote after a gap; 0: none.
   */
  private readonly received = new Map<number, { readonly to: number; readonly gapTo: number }>()

  constructor(parts: EventDecisionsParts) {
    this.parts = parts
    this.judge = new EventJudge(parts)
    this.losses = new AccountLosses(parts, {
      known: (turn, clientId) => this.knownWith(clientId, accountIn(turn, clientId)?.sequence ?? 0),
      quotesGap: (clientId) => this.received.get(clientId)?.gapTo ?? 0
    })
  }

  /** Decides events of a client in order, up to a gap. False: there is a gap. */
  all(clientId: number, events: ReadonlyArray<AccountEvent>): Effect.Effect<boolean, DispatchError> {
    return Effect.gen({ self: this }, function* () {
      for (let rest = events; rest.length > 0;) {
        const taken = yield* this.first(clientId, () => rest)
        if (taken.length === 0) {
          const first = rest[0] as AccountEvent
          const { is } = yield* this.one(clientId, first, yield* this.judge.wrongWith(first), false)
          if (is === "gap") return false
        }
        rest = rest.slice(Math.max(1, taken.length))
      }
      return true
    })
  }

  /**
   * Decides the first event, and later ones that need no query and fit into its commit. Returns the decided events;
   * empty: a gap precedes the first event. The turn calls `events` again, so that events which arrived in the meantime
   * join the commit.
   */
  first(
    clientId: number,
    events: () => ReadonlyArray<AccountEvent>
  ): Effect.Effect<ReadonlyArray<AccountEvent>, DispatchError> {
    const first = events()[0] as AccountEvent
    if (this.isQuote(first)) return this.publishQuotes(clientId, events)
    return Effect.flatMap(this.judge.wrongWith(first), (wrong) => {
      if (wrong === null) return this.fold(clientId, first, events)
      return Effect.map(this.one(clientId, first, wrong, false), ({ is }) => (is === "gap" ? [] : [first]))
    })
  }

  /** Whether an event is a plausible quote, which takes no turn. */
  private isQuote(event: AccountEvent): boolean {
    return this.listenerOf(event) !== null && this.judge.believes(event)
  }

  private listenerOf({ fact, at }: AccountEvent): (() => void) | null {
    if (fact.type !== "quote") return null
    const owner = ownerOfRef(fact.rfqRef)
    const quoted = owner === null ? null : this.parts.handlers[owner.owner].quoted
    return owner === null || quoted === null ? null : () => quoted({ id: owner.id, at, quote: fact.quote })
  }

  /** Publishes quotes at the head of the queue, up to a gap. The next commit stores their sequence. */
  private publishQuotes(
    clientId: number,
    events: () => ReadonlyArray<AccountEvent>
  ): Effect.Effect<ReadonlyArray<AccountEvent>, DispatchError> {
    return Effect.map(this.sequenceOf(clientId), (stored) => {
      const taken: Array<AccountEvent> = []
      for (const event of events()) {
        if (!this.isQuote(event) || this.publishQuote(clientId, event, stored, false) === "gap") break
        taken.push(event)
      }
      return taken
    })
  }

  private publishQuote(
    clientId: number,
    event: AccountEvent,
    stored: number,
    past: boolean
  ): "taken" | "known" | "gap" {
    const { sequence } = event.fact
    const known = this.knownWith(clientId, stored)
    if (sequence <= known) return "known"
    if (sequence > known + 1 && !past) return "gap"
    const isWhole = sequence === known + 1
    if (!isWhole) this.losses.skip(clientId)
    this.listenerOf(event)?.()
    this.received.set(clientId, {
      to: sequence,
      gapTo: isWhole ? (this.received.get(clientId)?.gapTo ?? 0) : sequence
    })
    return "taken"
  }

  /** Commits as many events as fit together. If the commit fails, the events are committed one by one. */
  private fold(
    clientId: number,
    first: AccountEvent,
    events: () => ReadonlyArray<AccountEvent>
  ): Effect.Effect<ReadonlyArray<AccountEvent>, DispatchError> {
    let tried: ReadonlyArray<AccountEvent> = [first]
    const folded = this.parts.host.dispatch({
      subject: clientSubject(clientId),
      by: byVenue,
      lane: "internal",
      decide: (turn) => {
        const waiting = events().slice(0, maxBatchLength)
        const other = waiting.findIndex(
          (event) => event !== first && (!this.judge.believes(event) || this.isQuote(event))
        )
        const certain = other === -1 ? waiting : waiting.slice(0, other)
        tried = certain.length === 0 ? [first] : certain
        return takeUntilFull(turn, tried, (event) => {
          const taken = this.decideIn(turn, clientId, event, believed)
          return taken.is === "gap" || taken.is === "early" ? null : taken
        })
      }
    })
    const oneByOne = (cause: unknown) =>
      Effect.andThen(
        Effect.logDebug("events of an account could not be committed together: they are applied one by one", cause),
        () => this.commitEach(clientId, tried)
      )
    return folded.pipe(
      Effect.tap((taken) => Effect.forEach(taken, (each) => this.alarm(each), { discard: true })),
      Effect.map(({ length }) => tried.slice(0, length)),
      Effect.catchTag("CommitRejected", oneByOne),
      Effect.catchDefect(oneByOne)
    )
  }

  /** Commits each event alone, up to a gap. Returns the committed events. */
  private commitEach(
    clientId: number,
    events: ReadonlyArray<AccountEvent>
  ): Effect.Effect<ReadonlyArray<AccountEvent>, DispatchError> {
    return Effect.gen({ self: this }, function* () {
      for (const [at, event] of events.entries()) {
        const { is } = yield* this.commit(clientId, event, believed)
        if (is === "gap" || is === "early") return events.slice(0, at)
      }
      return events
    })
  }

  private alarm({ is }: Taken): Effect.Effect<void> {
    return typeof is === "string" ? Effect.void : this.parts.alarms.alarm(is)
  }

  /** Decides one event. `past`: applies the event even after a gap. */
  one(clientId: number, event: AccountEvent, wrong: string | null, past: boolean): Effect.Effect<Taken, DispatchError> {
    if (wrong === null && this.isQuote(event)) {
      return Effect.map(this.sequenceOf(clientId), (stored) => ({
        is: this.publishQuote(clientId, event, stored, past)
      }))
    }
    if (wrong === null) return this.decided(clientId, event, past)
    return Effect.flatMap(this.queried(clientId, event), (answer) =>
      this.commit(clientId, event, { wrong, past, answer })
    )
  }

  /** Like `commit`, but waits and repeats while a later mark or listing may explain the event. */
  private decided(clientId: number, event: AccountEvent, past: boolean): Effect.Effect<Taken, DispatchError> {
    return Effect.flatMap(this.commit(clientId, event, { wrong: null, past, answer: null }), (taken) =>
      taken.is === "early"
        ? Effect.delay(
            Effect.andThen(this.judge.listAfter(event), () => this.decided(clientId, event, past)),
            earlyPause
          )
        : Effect.succeed(taken)
    )
  }

  private commit(clientId: number, event: AccountEvent, judged: Judged): Effect.Effect<Taken, DispatchError> {
    const { wrong, past, answer } = judged
    const taken = this.parts.host.dispatch({
      subject: clientSubject(clientId),
      by: byVenue,
      lane: "internal",
      decide: (turn) => this.decideIn(turn, clientId, event, judged)
    })
    // Skips an event that our own code fails on, so that it does not stop the account.
    const passed = (cause: unknown) =>
      Effect.andThen(
        this.parts.alarms.broken(cause),
        this.commit(clientId, event, { wrong: wrong ?? "it could not be applied", past, answer: null })
      )
    const alarmed = Effect.tap(taken, (each) => this.alarm(each))
    return wrong === null || answer !== null
      ? alarmed.pipe(Effect.catchTag("CommitRejected", passed), Effect.catchDefect(passed))
      : alarmed
  }

  /**
   * Queries the object of ours that an implausible event names. Null: the event names no object, it is already applied,
   * or the venue has no definite answer. The attempts are limited, because one bad event must not delay an account.
   */
  private queried(clientId: number, { fact }: AccountEvent): Effect.Effect<DefiniteOutcome | null, DispatchError> {
    const ref = ownerOfFact(fact) === null ? null : refOfFact(fact)
    if (ref === null) return Effect.succeed(null)
    return Effect.gen({ self: this }, function* () {
      if (fact.sequence <= (yield* this.sequenceOf(clientId))) return null
      let silent = false
      for (let tries = 0; tries < lookups; tries++) {
        // A hanging query must not delay the account.
        const found = yield* Effect.catch(this.parts.venue.lookup([ref]), () => Effect.succeed(null)).pipe(
          Effect.timeoutOrElse({ duration: answerWithin, orElse: () => Effect.succeed(null) })
        )
        const [outcome] = found ?? []
        const known = outcome?.ref === ref ? definite(outcome) : null
        if (known !== null) return known
        // "Not found" is no answer, because a venue that has executed a ref may not show it yet (C1).
        silent = found === null
        yield* Effect.sleep(250 << tries)
      }
      if (!silent) return null
      yield* Effect.annotateLogs(
        Effect.logError("the object of a quarantined event can't be read again: run venue reconcile for its client"),
        {
          ref
        }
      )
      return null
    })
  }

  private decideIn(
    turn: Turn,
    clientId: number,
    { fact, at, number, ...event }: AccountEvent,
    { wrong, past, answer }: Judged
  ): Taken {
    const { sequence: stored, takenTo, gapTo } = accountIn(turn, clientId) ?? { sequence: 0, takenTo: 0, gapTo: 0 }
    const known = this.knownWith(clientId, stored)
    if (fact.sequence <= known) return { is: "known" }
    if (fact.sequence > known + 1 && !past) return { is: "gap" }
    const owner = ownerOfFact(fact)
    const ref = refOfFact(fact)
    const { handlers } = this.parts
    const isWhole = fact.sequence === known + 1
    // The query for missing trades is requested before the verdict, because the verdict may have to wait for these
    // trades.
    if (!isWhole) handlers.doubted(turn)
    const verdict = wrong === null ? this.verdictOn(turn, fact, at, owner) : null
    if (verdict?.isEarly === true) return { is: "early" }
    const to = wrong === null ? Math.max(takenTo, at) : takenTo
    const gap = isWhole ? Math.max(gapTo, this.received.get(clientId)?.gapTo ?? 0) : fact.sequence
    turn.draft.put("venueAccounts", { clientId, sequence: fact.sequence, takenTo: to, gapTo: gap })
    if (isWhole) this.losses.arrive(turn, clientId, stored, fact.sequence)
    else this.losses.skip(clientId)
    if (verdict !== null) {
      if (ref === null || owner === null) handlers.doubted(turn)
      else noteMisfit(turn, { ref, misfit: verdict, bytes: null })
      return this.quarantinedIn(turn, clientId, { ...event, number, at, fact }, misfitReason(verdict.reason))
    }
    if (wrong === null && owner !== null) {
      // An event may arrive before the response to the call that made its object. The event then ends the call.
      const made = outcomeOfFact(fact, at)
      if (made !== null && turn.state.get("venueCalls", made.ref) !== undefined) endCall(turn, handlers, made)
      if (handlers[owner.owner].reported(turn, { id: owner.id, at, fact })) return { is: "taken" }
    }
    const followed = wrong === null && owner === null ? handlers.unnamed(turn, fact, { at, isWhole }) : false
    if (followed === true) return { is: "taken" }
    if (answer !== null) endCall(turn, handlers, answer)
    handlers.doubted(turn)
    const why = wrong ?? (followed === false ? "it names no object of ours" : followed)
    return this.quarantinedIn(turn, clientId, { ...event, number, at, fact }, why)
  }

  private verdictOn(turn: Turn, fact: AccountFact, at: number, owner: RefOwner | null): Verdict {
    const { handlers } = this.parts
    const ref = refOfFact(fact)
    if (owner === null || ref === null) return handlers.unnamedVerdict(turn, fact)
    return handlers[owner.owner].verdict(turn, { ...objectsOfFact(fact), id: owner.id, ref, at, isEvent: true })
  }

  private quarantinedIn(turn: Turn, clientId: number, event: AccountEvent, why: string): Taken {
    const quarantined = quarantinedOf(event, why)
    putQuarantined(turn, quarantined, { partnerId: turn.state.one("clients")?.partnerId ?? null, clientId })
    return { is: quarantined }
  }

  /** The sequence of the last event that is applied or published. `stored`: that of the last applied one. */
  private knownWith(clientId: number, stored: number): number {
    return Math.max(stored, this.received.get(clientId)?.to ?? 0)
  }

  /** The sequence of the last applied event of a client's account. */
  sequenceOf(clientId: number): Effect.Effect<number, DispatchError> {
    return this.parts.host.read(clientSubject(clientId), (state) => {
      const stored = state.one("venueAccounts")?.sequence ?? 0
      const received = this.received.get(clientId)?.to ?? 0
      if (received <= stored) this.received.delete(clientId)
      return Math.max(stored, received)
    })
  }
}

export const quarantinedOf = (event: AccountEvent, reason: string): QuarantineEntry => ({
  bytes: JSON.stringify(event),
  reason,
  number: event.number,
  account: event.fact.account
})

/** The object of ours that a fact names; null: its ref is not ours. */
const ownerOfFact = (fact: AccountFact): RefOwner | null => {
  const ref = refOfFact(fact)
  return ref === null ? null : ownerOfRef(ref)
}
