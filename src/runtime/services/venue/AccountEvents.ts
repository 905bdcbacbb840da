/**
 * Events of accounts on their way to mailboxes: one account's in the order of its sequence, accounts side by side; what waits
 * of an account is decided in one turn. A gap is fetched first; what is known is dropped; what can't be applied is set aside
 * in the turn that passes it, and the object of ours that it names takes over there what the venue answers when it is asked
 * for it (A2-96, A2-115).
 */
import { Effect, Semaphore } from "effect"
import type { DispatchError } from "../../engine/mailbox/ActorHost.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import { VenueUnanswered } from "../../ports/Venue.ts"
import { AccountClients } from "./AccountClients.ts"
import { type AccountEvent, AccountLane } from "./AccountLane.ts"
import { asideOf, EventDecisions, type EventDecisionsParts } from "./EventDecisions.ts"
import { eventsNotGiven, eventsNotKept, type SetAside } from "./venueQuarantine.ts"

/** Accounts whose events are being decided: those of two batches. What comes meanwhile is decided together. */
const accountsAtOnce = 512
/** Accounts that ask the venue for something, side by side. */
const waitingAtOnce = 256
/** Events that the venue gives in one answer. */
const fetchPage = 1_000
const beyond = "its sequence lies beyond what the venue has of its account"
/** Fetches of a gap before the venue is believed that it has no more. */
const fetches = 3

type Apart = (what: SetAside) => Effect.Effect<void>
/** Who gives the events, and hears of them. */
export interface EventSource {
  /** Sets aside what is of no client. */
  readonly apart: Apart
  /** These numbers are committed, or set aside. */
  readonly done: (numbers: ReadonlyArray<number>) => void
  /** Runs work beside what is running. */
  readonly beside: (work: Effect.Effect<void>) => Effect.Effect<void>
}

interface ReadOnce {
  readonly clientId: number
  /** The sequence up to which the service has read the account. */
  readonly after: number
  /** No event is missing up to there. */
  readonly isThrough: boolean
}

export interface AccountEventsParts extends EventDecisionsParts {
  readonly stored: RowReads["Service"]
}

export class AccountEvents {
  private readonly parts: AccountEventsParts
  private readonly decisions: EventDecisions
  private readonly clients: AccountClients
  /** Of accounts with something on its way. */
  private readonly lanes = new ShortLivedMap<string, AccountLane>()
  /** Those with an event that nobody takes yet, in turn. */
  private readonly ready: Array<AccountLane> = []
  private workers = 0
  /** Of accounts that wait for the venue. */
  private readonly room = Semaphore.makeUnsafe(waitingAtOnce)

  constructor(parts: AccountEventsParts) {
    this.parts = parts
    this.clients = new AccountClients(parts.stored)
    this.decisions = new EventDecisions(parts)
  }

  /** Finds out whose accounts are, again and again. */
  get finding(): Effect.Effect<void> {
    return this.clients.run
  }

  /** Accounts with something on its way. */
  get busy(): ReadonlyArray<string> {
    return [...this.lanes.keys()]
  }

  /** Lets an event join what waits of its account: all of it is taken, whatever becomes of it. */
  accept(event: AccountEvent, source: EventSource): Effect.Effect<void> {
    const lane = this.laneOf(event.fact.account)
    lane.add(event)
    if (lane.isWorked) return Effect.void
    lane.isWorked = true
    this.ready.push(lane)
    return this.staff(source)
  }

  /** One more worker, if there is work for it. */
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

  /** Takes what waits first of an account. What can't go on by itself does so beside the others, and takes no place of theirs. */
  private work(lane: AccountLane, source: EventSource): Effect.Effect<void> {
    if (lane.isTaken) return this.workApart(lane, source)
    return this.inTurn(lane, () => this.tryFirst(lane)).pipe(
      Effect.flatMap((taken) =>
        taken.length > 0 ? Effect.sync(() => this.end(lane, taken, source)) : this.workApart(lane, source)
      ),
      Effect.catchDefect(() => this.workApart(lane, source)),
      // The database is away: the event waits, and with it what follows in its account.
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

  /** Reads what is missing of an account of ours, as far as the venue says it now; again until it is there. */
  readAgain(account: string, apart: Apart): Effect.Effect<void> {
    // Others of the account go on between two tries.
    const read = Effect.flatMap(this.readOnce(account, apart), (once) =>
      // The venue gives what comes after something that it keeps no more.
      once === null || once.isThrough ? Effect.void : this.readWhole(account, apart)
    )
    return Effect.catch(read, () =>
      Effect.delay(
        Effect.suspend(() => this.readAgain(account, apart)),
        "1 second"
      )
    )
  }

  /** As `readAgain`, once; what the venue has said of the account and does not keep is an alarm. */
  readWhole(account: string, apart: Apart): Effect.Effect<void, DispatchError | VenueUnanswered> {
    return Effect.gen({ self: this }, function* () {
      for (let before = -1; ;) {
        const once = yield* this.readOnce(account, apart)
        const there = yield* this.parts.venue.account(account)
        const sequence = there?.sequence ?? 0
        if (once === null || sequence === once.after) return
        const { after, clientId } = once
        // Its books are others: what it says of the account is dropped as known until it is as far.
        if (sequence < after) {
          const bytes = JSON.stringify({ account, after, sequence })
          return yield* apart({ bytes, reason: "the venue has less of an account than it said", number: null, account })
        }
        // What was said while it was read is read by the next round.
        if (after === before) {
          const isUnproven = there === null || there.money === null
          yield* this.decisions.lose(clientId, eventsNotKept, { account, after, to: sequence }, isUnproven)
          return void (yield* this.readOnce(account, apart, sequence))
        }
        before = after
      }
    })
  }

  /** Null: the account does not belong to a client. `to`: see `fetch`. */
  private readOnce(
    account: string,
    apart: Apart,
    to = 0
  ): Effect.Effect<ReadOnce | null, DispatchError | VenueUnanswered> {
    return this.inTurn(this.laneOf(account), () =>
      Effect.gen({ self: this }, function* () {
        const clientId = yield* this.clients.of(account)
        if (clientId === null) return null
        const isThrough = yield* this.fetch(clientId, account, apart, to)
        return { clientId, after: yield* this.decisions.sequenceOf(clientId), isThrough }
      })
    ).pipe(
      Effect.catchDefect((defect) =>
        Effect.andThen(
          Effect.logError("an account could not be read again at the venue", defect),
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

  /** One after the other of an account, in the order in which they come here; `work` is asked for as it comes. */
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

  /** The first event that waits, and what is decided in the same turn; none when it can't be decided by itself. */
  private tryFirst(lane: AccountLane): Effect.Effect<ReadonlyArray<AccountEvent>, DispatchError> {
    return Effect.flatMap(this.clients.of(lane.account), (clientId) =>
      clientId === null ? Effect.succeed([]) : this.decisions.first(clientId, () => lane.waiting)
    )
  }

  /** As `tryFirst`, with whatever has to be asked, waited for or set aside for it. */
  private takeFirst(lane: AccountLane, apart: Apart): Effect.Effect<ReadonlyArray<AccountEvent>> {
    return Effect.suspend(() => {
      const first = lane.waiting[0] as AccountEvent
      return Effect.gen({ self: this }, function* () {
        const clientId = yield* this.clients.of(lane.account)
        if (clientId === null) yield* apart(asideOf(first, "its account is not ours"))
        else {
          const taken = yield* this.decisions.first(clientId, () => lane.waiting)
          if (taken.length > 0) return taken
          yield* this.closeGap(clientId, first, apart)
        }
        return [first]
      }).pipe(
        Effect.catchDefect((defect) =>
          Effect.logError("an event of the venue could not be applied", defect).pipe(
            Effect.andThen(apart(asideOf(first, "it could not be applied"))),
            Effect.as([first])
          )
        ),
        // The database or the venue is away: the event waits, and with it what follows in its account.
        Effect.catch(() =>
          Effect.delay(
            Effect.suspend(() => this.takeFirst(lane, apart)),
            "250 millis"
          )
        )
      )
    })
  }

  /** Takes an event before which something is missing: that is fetched, and what the venue does not give is passed. */
  private closeGap(
    clientId: number,
    event: AccountEvent,
    apart: Apart
  ): Effect.Effect<void, DispatchError | VenueUnanswered> {
    const { account } = event.fact
    return Effect.gen({ self: this }, function* () {
      const wrong = yield* this.decisions.judge.wrongWith(event)
      for (let tries = 0; tries < fetches; tries++) {
        yield* this.fetch(clientId, account, apart)
        const now = yield* this.decisions.one(clientId, event, wrong, false)
        if (now.is !== "gap") return
        yield* Effect.sleep(250 << tries)
      }
      const there = yield* this.parts.venue.account(account)
      if (event.fact.sequence > (there?.sequence ?? 0)) return yield* apart(asideOf(event, beyond))
      const after = yield* this.decisions.sequenceOf(clientId)
      const lost = { account, after, to: event.fact.sequence - 1 }
      yield* this.decisions.lose(clientId, eventsNotGiven, lost, there === null || there.money === null)
      yield* this.fetch(clientId, account, apart, event.fact.sequence)
      yield* this.decisions.one(clientId, event, wrong, true)
    })
  }

  /**
   * Applies what the venue has of an account that is not known yet; up to the sequence `to` also what comes after events that
   * it keeps no more. What can't be read is set aside, and passed by what follows it. False: it gives what follows something
   * that it does not give.
   */
  private fetch(
    clientId: number,
    account: string,
    apart: Apart,
    to = 0
  ): Effect.Effect<boolean, DispatchError | VenueUnanswered> {
    return Effect.gen({ self: this }, function* () {
      for (let from = yield* this.decisions.sequenceOf(clientId); ;) {
        const missed = yield* this.parts.venue.accountEvents(account, from)
        let unread = 0
        let run: Array<AccountEvent> = []
        for (const event of missed) {
          if ("unreadable" in event) {
            yield* this.decisions.all(clientId, run)
            run = []
            const { unreadable: bytes, reason, number } = event
            yield* apart({ bytes, reason, number, account })
            unread++
            continue
          }
          const { fact } = event
          if (!("account" in fact) || fact.account !== account) continue
          const one = { ...event, fact }
          if (unread === 0 && fact.sequence > to) {
            run.push(one)
            continue
          }
          yield* this.decisions.all(clientId, run)
          run = []
          const passed = unread === 0 ? null : (yield* this.decisions.sequenceOf(clientId)) + unread
          const past = fact.sequence <= to || (passed !== null && fact.sequence === passed + 1)
          yield* this.decisions.one(clientId, one, yield* this.decisions.judge.wrongWith(one), past)
          unread = 0
        }
        const isThrough = yield* this.decisions.all(clientId, run)
        const reached = yield* this.decisions.sequenceOf(clientId)
        if (missed.length < fetchPage || reached <= from) return isThrough
        from = reached
      }
    })
  }
}
