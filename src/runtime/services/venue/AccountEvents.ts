/**
 * Applies events to mailboxes: in sequence within an account, concurrently across accounts. One turn decides all
 * waiting events of an account. A gap before an event is fetched first, and known events are dropped. An event that
 * can't be applied is quarantined in the turn that skips it. If it names an object, the same turn applies the venue's
 * answer to a query of the object (A2-96, A2-115).
 */
import { Effect, Semaphore } from "effect"
import type { DispatchError } from "../../engine/mailbox/ActorHost.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import { VenueUnanswered } from "../../ports/Venue.ts"
import { AccountClients } from "./AccountClients.ts"
import { type AccountEvent, AccountLane } from "./AccountLane.ts"
import { quarantinedOf, EventDecisions, type EventDecisionsParts } from "./EventDecisions.ts"
import { eventsNotGiven, eventsNotKept, type QuarantineEntry } from "./venueQuarantine.ts"

/**
 * Limit on the accounts whose events are being applied: as many as two batches hold. Events that arrive during a turn join
 * the account's next turn.
 */
const accountsAtOnce = 512
/** Limit on the accounts that query the venue at the same time. */
const waitingAtOnce = 256
/** Limit on the events in one response of the venue. */
const fetchPage = 1_000
/** Limit on consecutive unreadable events that one read skips: a faulty venue could send any number of them. */
const unreadableMost = 10_000
const beyond = "its sequence lies beyond what the venue has of its account"
/** The pauses between reads of missing events. Events that are still absent after the last pause count as lost. */
const lossPauses = ["250 millis", "5 seconds"] as const

type Apart = (what: QuarantineEntry) => Effect.Effect<void>
/** The event stream whose events are applied. Its functions receive the result of each event. */
export interface EventSource {
  /** Quarantines an event that belongs to no client. */
  readonly apart: Apart
  /** Called with the numbers of events that are committed or quarantined, so that the checkpoint can advance. */
  readonly done: (numbers: ReadonlyArray<number>) => void
  /** Forks work that outlasts this call. */
  readonly beside: (work: Effect.Effect<void>) => Effect.Effect<void>
}

interface ReadOnce {
  readonly clientId: number
  /** The account's sequence number up to which the service has read its events. */
  readonly after: number
  /** The number of events right after `after` that the venue has given and that are unreadable. */
  readonly unreadable: number
  /** True if no event up to `after` is missing. */
  readonly isThrough: boolean
}

export class AccountEvents {
  private readonly parts: EventDecisionsParts
  private readonly decisions: EventDecisions
  private readonly clients: AccountClients
  /** The queue of events of each account that has some waiting or in progress. */
  private readonly lanes = new ShortLivedMap<string, AccountLane>()
  /** Accounts that have an event but no worker, in the order in which workers take them. */
  private readonly ready: Array<AccountLane> = []
  private workers = 0
  /** Limits the accounts that query the venue concurrently. */
  private readonly room = Semaphore.makeUnsafe(waitingAtOnce)

  constructor(parts: EventDecisionsParts) {
    this.parts = parts
    this.clients = new AccountClients(parts.stored)
    this.decisions = new EventDecisions(parts)
  }

  /** The endless loop that finds the clients of new accounts. */
  get finding(): Effect.Effect<void> {
    return this.clients.run
  }

  /** The accounts that have events in progress or waiting. */
  get busy(): ReadonlyArray<string> {
    return [...this.lanes.keys()]
  }

  /** Adds an event to the queue of its account. Every event is applied or quarantined. */
  accept(event: AccountEvent, source: EventSource): Effect.Effect<void> {
    const lane = this.laneOf(event.fact.account)
    lane.add(event)
    if (lane.isWorked) return Effect.void
    lane.isWorked = true
    this.ready.push(lane)
    return this.staff(source)
  }

  /** Starts one more worker if an account waits for one and the limit of workers allows it. */
  private staff(source: EventSource): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.ready.length === 0 || this.workers === accountsAtOnce) return Effect.void
      this.workers++
      return source.beside(
        Effect.whileLoop({
          while: () => {
            if (this.ready.length > 0) return true
            this.workers--
            return false
          },
          body: () => this.work(this.ready.shift() as AccountLane, source),
          step: () => undefined
        })
      )
    })
  }

  /**
   * Decides the first events of an account in one turn. If the first event also needs a query or a wait, that work is
   * forked, so that this worker can serve other accounts.
   */
  private work(lane: AccountLane, source: EventSource): Effect.Effect<void> {
    if (lane.isTaken) return this.workApart(lane, source)
    return this.inTurn(lane, () => this.tryFirst(lane)).pipe(
      Effect.flatMap((taken) =>
        taken.length > 0 ? Effect.sync(() => this.end(lane, taken, source)) : this.workApart(lane, source)
      ),
      Effect.catchDefect(() => this.workApart(lane, source)),
      // The database is unavailable. Nothing is dropped: this event and all later ones of its account wait.
      Effect.catch(() =>
        Effect.delay(
          Effect.sync(() => void this.ready.push(lane)),
          "250 millis"
        )
      )
    )
  }

  private workApart(lane: AccountLane, source: EventSource): Effect.Effect<void> {
    const late = this.inTurn(lane, () => this.takeFirst(lane, source.apart))
    return source.beside(
      Effect.flatMap(this.room.withPermits(1)(late), (taken) => {
        this.end(lane, taken, source)
        return this.staff(source)
      })
    )
  }

  private end(lane: AccountLane, taken: ReadonlyArray<AccountEvent>, source: EventSource): void {
    lane.drop(taken)
    source.done(taken.map(({ number }) => number))
    if (lane.waiting.length > 0) return void this.ready.push(lane)
    lane.isWorked = false
    this.leave(lane)
  }

  /** Reads the missing events of an account up to the venue's present sequence, with retries until that succeeds. */
  readAgain(account: string, apart: Apart): Effect.Effect<void> {
    // Each attempt releases the lock, so that other work of the account proceeds between two attempts.
    const read = Effect.flatMap(this.readOnce(account, apart), (once) =>
      // The venue no longer keeps the missing events, but has later ones. So the account is read as a whole.
      once === null || once.isThrough ? Effect.void : Effect.asVoid(this.readWhole(account, apart))
    )
    return Effect.catch(read, () =>
      Effect.delay(
        Effect.suspend(() => this.readAgain(account, apart)),
        "1 second"
      )
    )
  }

  /**
   * Like `readAgain`, in one attempt. Raises an alarm for events that the venue has published but does not give at two reads 5 s
   * apart. `to`: the sequence at which the read ends; without it, the venue's sequence at the first read. An account with an event
   * after each read would otherwise be read for ever. Returns the sequence up to which each event is applied, quarantined or
   * recorded as lost; 0 for an account without a client.
   */
  readWhole(
    account: string,
    apart: Apart,
    to = Number.POSITIVE_INFINITY
  ): Effect.Effect<number, DispatchError | VenueUnanswered> {
    return Effect.gen({ self: this }, function* () {
      for (let wanted = to, before = -1, idle = 0; ;) {
        const once = yield* this.readOnce(account, apart)
        if (once === null) return 0
        const { after, clientId, unreadable } = once
        if (after >= wanted) return after
        const there = yield* this.parts.venue.account(account)
        const sequence = there?.sequence ?? 0
        // The venue has reset its books of the account and counts the account's events from the start again. Events are dropped
        // until their sequence reaches the service's.
        if (sequence < after) {
          const bytes = JSON.stringify({ account, after, sequence })
          yield* apart({ bytes, reason: "the venue has less of an account than it said", number: null, account })
          return after
        }
        wanted = Math.min(wanted, sequence)
        if (after + unreadable >= wanted) return after + unreadable
        idle = after === before ? idle + 1 : 0
        before = after
        const pause = lossPauses[idle]
        if (pause === undefined) {
          const isUnproven = there === null || there.money === null
          const lost = { account, after, to: wanted }
          if (!(yield* this.decisions.losses.lose(clientId, eventsNotKept, lost, isUnproven))) continue
          yield* this.readOnce(account, apart, wanted)
          return wanted
        }
        yield* Effect.sleep(pause)
      }
    })
  }

  /** Reads the missing events of an account once. Null: the account belongs to no client. `to`: see `fetch`. */
  private readOnce(
    account: string,
    apart: Apart,
    to = 0
  ): Effect.Effect<ReadOnce | null, DispatchError | VenueUnanswered> {
    return this.inTurn(this.laneOf(account), () =>
      Effect.gen({ self: this }, function* () {
        const clientId = yield* this.clients.of(account)
        if (clientId === null) return null
        const fetched = yield* this.fetch(clientId, account, apart, to)
        return { clientId, after: yield* this.decisions.sequenceOf(clientId), ...fetched }
      })
    ).pipe(
      Effect.catchDefect((defect) =>
        Effect.andThen(
          Effect.logError("an account could not be read again at the venue: the service tries again later", defect),
          Effect.fail(new VenueUnanswered({ reason: "a defect" }))
        )
      )
    )
  }

  private laneOf(account: string): AccountLane {
    let lane = this.lanes.get(account)
    if (lane === undefined) this.lanes.set(account, (lane = new AccountLane(account)))
    return lane
  }

  private leave(lane: AccountLane): void {
    if (lane.isIdle) this.lanes.delete(lane.account)
  }

  /**
   * Runs work under the lock of an account, in order of arrival. `work` is called once the lock is held, so it reads the
   * account's present state.
   */
  private inTurn<A, E>(lane: AccountLane, work: () => Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() =>
      Effect.ensuring(
        lane.one(Effect.suspend(work)),
        Effect.sync(() => {
          lane.left()
          this.leave(lane)
        })
      )
    )
  }

  /**
   * Decides the first waiting event and those that share its turn. Returns the decided events; empty: the event needs a
   * query or a wait.
   */
  private tryFirst(lane: AccountLane): Effect.Effect<ReadonlyArray<AccountEvent>, DispatchError> {
    return Effect.flatMap(this.clients.of(lane.account), (clientId) =>
      clientId === null ? Effect.succeed([]) : this.decisions.first(clientId, () => lane.waiting)
    )
  }

  /** Like `tryFirst`, but it also makes the query, the wait or the quarantine that the event needs. */
  private takeFirst(lane: AccountLane, apart: Apart): Effect.Effect<ReadonlyArray<AccountEvent>> {
    return Effect.suspend(() => {
      const first = lane.waiting[0] as AccountEvent
      return Effect.gen({ self: this }, function* () {
        const clientId = yield* this.clients.of(lane.account)
        if (clientId === null) yield* apart(quarantinedOf(first, "its account is not ours"))
        else {
          const taken = yield* this.decisions.first(clientId, () => lane.waiting)
          if (taken.length > 0) return taken
          yield* this.closeGap(clientId, first, apart)
        }
        return [first]
      }).pipe(
        Effect.catchDefect((defect) =>
          Effect.logError("an event of the venue could not be applied: it is quarantined", defect).pipe(
            Effect.andThen(apart(quarantinedOf(first, "it could not be applied"))),
            Effect.as([first])
          )
        ),
        // Database or venue is unavailable. Nothing is dropped: this event and all later ones of its account wait.
        Effect.catch(() =>
          Effect.delay(
            Effect.suspend(() => this.takeFirst(lane, apart)),
            "250 millis"
          )
        )
      )
    })
  }

  /** Applies an event after a gap. Fetches the missing events, and skips those that the venue does not provide. */
  private closeGap(
    clientId: number,
    event: AccountEvent,
    apart: Apart
  ): Effect.Effect<void, DispatchError | VenueUnanswered> {
    const { account } = event.fact
    return Effect.gen({ self: this }, function* () {
      const wrong = yield* this.decisions.judge.wrongWith(event)
      for (const pause of [...lossPauses, null]) {
        const { unreadable } = yield* this.fetch(clientId, account, apart)
        const given = (yield* this.decisions.sequenceOf(clientId)) + unreadable
        const now = yield* this.decisions.one(clientId, event, wrong, given >= event.fact.sequence - 1)
        if (now.is !== "gap") return
        if (pause !== null) yield* Effect.sleep(pause)
      }
      const there = yield* this.parts.venue.account(account)
      if (event.fact.sequence > (there?.sequence ?? 0)) return yield* apart(quarantinedOf(event, beyond))
      const after = yield* this.decisions.sequenceOf(clientId)
      const lost = { account, after, to: event.fact.sequence - 1 }
      const isUnproven = there === null || there.money === null
      if (!(yield* this.decisions.losses.lose(clientId, eventsNotGiven, lost, isUnproven)))
        return yield* this.closeGap(clientId, event, apart)
      yield* this.fetch(clientId, account, apart, event.fact.sequence)
      yield* this.decisions.one(clientId, event, wrong, true)
    })
  }

  /**
   * Fetches and applies the new events of an account. Unreadable events are quarantined and skipped. Events up to the
   * sequence `to` are applied even after a gap. `isThrough` is false if later events wait behind a gap that the venue does not
   * fill; `unreadable` counts the unreadable events after the last applied one.
   */
  private fetch(
    clientId: number,
    account: string,
    apart: Apart,
    to = 0
  ): Effect.Effect<Pick<ReadOnce, "isThrough" | "unreadable">, DispatchError | VenueUnanswered> {
    return Effect.gen({ self: this }, function* () {
      let from = yield* this.decisions.sequenceOf(clientId)
      let isThrough = true
      let unreadable = 0
      const apply = (run: ReadonlyArray<AccountEvent>) =>
        run.length === 0
          ? Effect.void
          : Effect.map(this.decisions.all(clientId, run), (through) => void (isThrough = through))
      for (let pages = 0; ; pages++) {
        const missed = yield* this.parts.venue.accountEvents(account, from)
        if (missed.length > 0 && pages === 0) yield* this.decisions.losses.recall(clientId, account)
        let run: Array<AccountEvent> = []
        for (const event of missed) {
          if ("unreadable" in event) {
            yield* apply(run)
            run = []
            const { unreadable: bytes, reason, number } = event
            yield* apart({ bytes, reason, number, account })
            if (isThrough) unreadable++
            continue
          }
          const { fact } = event
          if (!("account" in fact) || fact.account !== account) continue
          const one = { ...event, fact }
          if (unreadable === 0 && fact.sequence > to) {
            run.push(one)
            continue
          }
          yield* apply(run)
          run = []
          const passed = unreadable === 0 ? null : (yield* this.decisions.sequenceOf(clientId)) + unreadable
          const past = fact.sequence <= to || (passed !== null && fact.sequence === passed + 1)
          const taken = yield* this.decisions.one(clientId, one, yield* this.decisions.judge.wrongWith(one), past)
          isThrough = taken.is !== "gap"
          unreadable = 0
        }
        yield* apply(run)
        const reached = (yield* this.decisions.sequenceOf(clientId)) + unreadable
        const isLast = missed.length < fetchPage || reached <= from || unreadable >= unreadableMost
        if (isLast || !isThrough) return { isThrough, unreadable }
        from = reached
      }
    })
  }
}
