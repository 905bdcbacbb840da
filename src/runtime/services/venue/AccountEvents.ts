/**
 * Events of accounts on their way to mailboxes: one account's in the order of its sequence, accounts side by side. A gap is
 * fetched first; what is known is dropped; what can't be applied is set aside in the turn that passes it, and the object of
 * ours that it names takes over there what the venue answers when it is asked for it (A2-96, A2-115).
 */
import { Decimal } from "decimal.js"
import { Effect } from "effect"
import { type AccountFact, refOfFact } from "../../../machines/venue/VenueEvent.ts"
import type { VenueMarket } from "../../../machines/venue/VenueMarket.ts"
import { ownerOfRef, type RefOwner } from "../../../machines/venue/venueRefs.ts"
import type { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import type { ActorHost, DispatchError, Turn } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import { type Venue, VenueUnanswered } from "../../ports/Venue.ts"
import { clientSubject } from "../client/clientState.ts"
import { type AccountEvent, AccountLane } from "./AccountLane.ts"
import { definite, endCall, outcomeOfFact } from "./outcomes.ts"
import type { DefiniteOutcome } from "./VenueHandler.ts"
import type { VenueHandlers } from "./VenueHandlers.ts"
import { type AsideAlarms, byVenue, putAside, type SetAside } from "./venueQuarantine.ts"

/** How far ahead of business time an event may lie, ms (A2-115). */
const aheadLimit = 5_000
/** Grids that are older are read again, business ms. */
const listedFor = 1_000
/** Accounts whose clients are remembered. */
const accountsKept = 100_000
/** Events that the venue gives in one answer. */
const fetchPage = 1_000
const beyond = "its sequence lies beyond what the venue has of its account"
/** Fetches of a gap before the venue is believed that it has no more. */
const fetches = 3

/** How an event is to be taken. */
interface Judged {
  /** Why it can't be believed; null when it can. */
  readonly wrong: string | null
  readonly past: boolean
  /** What the venue answers for the object that it names, when it can't be believed. */
  readonly answer: DefiniteOutcome | null
}

type Apart = (what: SetAside) => Effect.Effect<void>
/** Numbers that were tried together; not taken: they are to come again. */
interface Tried {
  readonly numbers: ReadonlyArray<number>
  readonly taken: boolean
}
/** What became of an event in its turn; set aside: as what. */
interface Taken {
  readonly is: "taken" | "known" | "gap" | SetAside
}

export interface AccountEventsParts {
  readonly host: ActorHost["Service"]
  readonly clock: BusinessClock["Service"]
  readonly venue: Venue["Service"]
  readonly stored: RowReads["Service"]
  readonly handlers: VenueHandlers
  readonly alarms: AsideAlarms
}

export class AccountEvents {
  private readonly parts: AccountEventsParts
  private readonly clients = new Map<string, number>()
  /** Of accounts with something on its way. */
  private readonly lanes = new Map<string, AccountLane>()
  private markets: ReadonlyMap<string, VenueMarket> = new Map()

  constructor(parts: AccountEventsParts) {
    this.parts = parts
  }

  /**
   * Lets an event join those of its account that wait already: they are read again from the venue as far as the last of them
   * goes, so that only that one is held. False: it is to be taken by itself.
   */
  join(event: AccountEvent): boolean {
    return this.lanes.get(event.fact.account)?.join(event) ?? false
  }

  /** Takes an event, whatever becomes of it, and what has joined it; `apart` sets aside what is of no client. */
  take(event: AccountEvent, apart: Apart): Effect.Effect<Tried> {
    const { account } = event.fact
    return this.inTurn(account, (lane) => {
      const waiting = lane.await(event, this.clients.has(account))
      return Effect.suspend(() => {
        lane.begin(waiting)
        return this.apply(waiting.last, apart).pipe(
          Effect.as(true),
          Effect.catchDefect((defect) =>
            Effect.logError("an event of the venue could not be taken", defect).pipe(
              // What has joined it comes again; alone it is passed.
              Effect.andThen(
                waiting.numbers.length > 1
                  ? Effect.succeed(false)
                  : Effect.as(apart(asideOf(event, "it could not be applied")), true)
              )
            )
          ),
          Effect.map((taken) => ({ numbers: waiting.numbers, taken }))
        )
      })
    })
  }

  /** Reads what is missing of an account of ours, as far as the venue says it now; again until it is there. */
  readAgain(account: string, apart: Apart): Effect.Effect<void> {
    // Others of the account go on between two tries.
    return Effect.catch(this.readOnce(account, apart), () =>
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
        const after = yield* this.readOnce(account, apart)
        const there = yield* this.parts.venue.account(account)
        const sequence = there?.sequence ?? 0
        if (after === null || sequence === after) return
        const bytes = JSON.stringify({ account, after, sequence })
        // Its books are others: what it says of the account is dropped as known until it is as far.
        if (sequence < after) {
          return yield* apart({ bytes, reason: "the venue has less of an account than it said", number: null, account })
        }
        // What was said while it was read is read by the next round.
        if (after === before) {
          yield* apart({ bytes, reason: "the venue does not keep what it said", number: null, account })
          return void (yield* this.readOnce(account, apart, sequence))
        }
        before = after
      }
    })
  }

  /** The sequence up to which an account is read; null: it is none of ours. `to`: see `fetch`. */
  private readOnce(
    account: string,
    apart: Apart,
    to = 0
  ): Effect.Effect<number | null, DispatchError | VenueUnanswered> {
    return this.inTurn(account, () =>
      Effect.gen({ self: this }, function* () {
        const clientId = yield* this.clientOf(account)
        if (clientId === null) return null
        yield* this.fetch(clientId, account, apart, to)
        return yield* this.sequenceOf(clientId)
      })
    ).pipe(
      Effect.catchDefect((defect) =>
        Effect.andThen(
          Effect.logError("an account of the venue could not be read again", defect),
          Effect.fail(new VenueUnanswered({ reason: "a defect" }))
        )
      )
    )
  }

  /** One after the other of an account, in the order in which they come here; `work` is asked for as it comes. */
  private inTurn<A, E>(account: string, work: (lane: AccountLane) => Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const lane = this.lanes.get(account) ?? new AccountLane()
      this.lanes.set(account, lane)
      return Effect.ensuring(
        lane.one(work(lane)),
        Effect.sync(() => {
          if (lane.left()) this.lanes.delete(account)
        })
      )
    })
  }

  /** Until it is taken, or set aside. */
  private apply(event: AccountEvent, apart: Apart): Effect.Effect<void> {
    const { account } = event.fact
    return Effect.gen({ self: this }, function* () {
      const clientId = yield* this.clientOf(account)
      if (clientId === null) return yield* apart(asideOf(event, "its account is none of ours"))
      const wrong = yield* this.wrongWith(event)
      const taken = yield* this.decide(clientId, event, wrong, false)
      if (taken.is !== "gap") return
      for (let tries = 0; tries < fetches; tries++) {
        yield* this.fetch(clientId, account, apart)
        const now = yield* this.decide(clientId, event, wrong, false)
        if (now.is !== "gap") return
        yield* Effect.sleep(250 << tries)
      }
      const there = yield* this.parts.venue.account(account)
      if (event.fact.sequence > (there?.sequence ?? 0)) return yield* apart(asideOf(event, beyond))
      const bytes = JSON.stringify({ account, after: yield* this.sequenceOf(clientId), before: event.fact.sequence })
      yield* apart({ bytes, reason: "the venue does not say what is missing of an account", number: null, account })
      yield* this.fetch(clientId, account, apart, event.fact.sequence)
      yield* this.decide(clientId, event, wrong, true)
    }).pipe(
      // The database or the venue is away, or the mailbox full: the event waits, and with it what follows in its account.
      Effect.catch(() =>
        Effect.delay(
          Effect.suspend(() => this.apply(event, apart)),
          "250 millis"
        )
      )
    )
  }

  /**
   * Applies what the venue has of an account that is not known yet; up to the sequence `to` also what comes after events that
   * it keeps no more. What can't be read is set aside, and passed by what follows it.
   */
  private fetch(
    clientId: number,
    account: string,
    apart: Apart,
    to = 0
  ): Effect.Effect<void, DispatchError | VenueUnanswered> {
    return Effect.gen({ self: this }, function* () {
      for (let from = yield* this.sequenceOf(clientId); ;) {
        const missed = yield* this.parts.venue.accountEvents(account, from)
        let unread = 0
        for (const event of missed) {
          if ("unreadable" in event) {
            const { unreadable: bytes, reason, number } = event
            yield* apart({ bytes, reason, number, account })
            unread++
            continue
          }
          const { fact } = event
          if (!("account" in fact) || fact.account !== account) continue
          const one = { ...event, fact }
          const passed = unread === 0 ? null : (yield* this.sequenceOf(clientId)) + unread
          const past = fact.sequence <= to || (passed !== null && fact.sequence === passed + 1)
          yield* this.decide(clientId, one, yield* this.wrongWith(one), past)
          unread = 0
        }
        const reached = yield* this.sequenceOf(clientId)
        if (missed.length < fetchPage || reached <= from) return
        from = reached
      }
    })
  }

  /** `past`: takes it although what came before is missing. */
  private decide(
    clientId: number,
    event: AccountEvent,
    wrong: string | null,
    past: boolean
  ): Effect.Effect<Taken, DispatchError> {
    if (wrong === null) return this.commit(clientId, event, { wrong, past, answer: null })
    return Effect.flatMap(this.lookedUp(clientId, event), (answer) =>
      this.commit(clientId, event, { wrong, past, answer })
    )
  }

  private commit(clientId: number, event: AccountEvent, judged: Judged): Effect.Effect<Taken, DispatchError> {
    const { wrong, past, answer } = judged
    const taken = this.parts.host.dispatch({
      subject: clientSubject(clientId),
      by: byVenue,
      decide: (turn) => this.decideIn(turn, clientId, event, judged)
    })
    // What our own code can't take is a fault of ours: it is passed, too, and stops nothing.
    const passed = (cause: unknown) =>
      Effect.andThen(
        Effect.logError("an event of the venue could not be applied", cause),
        this.commit(clientId, event, { wrong: wrong ?? "it could not be applied", past, answer: null })
      )
    const alarmed = Effect.tap(taken, ({ is }) => (typeof is === "string" ? Effect.void : this.parts.alarms.alarm(is)))
    return wrong === null || answer !== null
      ? alarmed.pipe(Effect.catchTag("CommitRejected", passed), Effect.catchDefect(passed))
      : alarmed
  }

  /**
   * What the venue answers for the object of ours that an event names which can't be believed; null: it names none, was taken
   * before, or the venue has nothing definite to say. Asked a few times only, for one bad event must not hold up an account.
   */
  private lookedUp(clientId: number, { fact }: AccountEvent): Effect.Effect<DefiniteOutcome | null, DispatchError> {
    const ref = ownerOfFact(fact) === null ? null : refOfFact(fact)
    if (ref === null) return Effect.succeed(null)
    return Effect.gen({ self: this }, function* () {
      if (fact.sequence <= (yield* this.sequenceOf(clientId))) return null
      let silent = false
      for (let tries = 0; tries < fetches; tries++) {
        const found = yield* Effect.catch(this.parts.venue.lookup([ref]), () => Effect.succeed(null))
        const [outcome] = found ?? []
        const known = outcome?.ref === ref ? definite(outcome) : null
        if (known !== null) return known
        // A venue that has executed a ref may not see it yet (C1): "not there" is no answer.
        silent = found === null
        yield* Effect.sleep(250 << tries)
      }
      if (!silent) return null
      yield* Effect.annotateLogs(Effect.logError("an object that something hostile was said of can't be read again"), {
        ref
      })
      return null
    })
  }

  private decideIn(
    turn: Turn,
    clientId: number,
    { fact, at, number, ...event }: AccountEvent,
    { wrong, past, answer }: Judged
  ): Taken {
    const known = turn.state.one("venueAccounts")?.sequence ?? 0
    if (fact.sequence <= known) return { is: "known" }
    if (fact.sequence > known + 1 && !past) return { is: "gap" }
    turn.draft.put("venueAccounts", { clientId, sequence: fact.sequence })
    const owner = ownerOfFact(fact)
    const { handlers } = this.parts
    if (wrong === null && owner !== null) {
      // An event may be here before the answer of the call that made its object: it ends the call.
      const made = outcomeOfFact(fact, at)
      if (made !== null && turn.state.get("venueCalls", made.ref) !== undefined) endCall(turn, handlers, made)
      if (handlers[owner.owner].said(turn, { id: owner.id, at, fact })) return { is: "taken" }
    }
    if (answer !== null) endCall(turn, handlers, answer)
    const aside = asideOf({ ...event, number, at, fact }, wrong ?? "it names no object of ours")
    putAside(turn, aside, { partnerId: turn.state.one("clients")?.partnerId ?? null, clientId })
    return { is: aside }
  }

  private sequenceOf(clientId: number): Effect.Effect<number, DispatchError> {
    return this.parts.host.read(clientSubject(clientId), (state) => state.one("venueAccounts")?.sequence ?? 0)
  }

  private clientOf(account: string): Effect.Effect<number | null, DispatchError> {
    const found = this.clients.get(account)
    if (found !== undefined) return Effect.succeed(found)
    const page = this.parts.stored.page("clients", [{ column: "uid", value: account }], { limit: 1 })
    return Effect.map(page, ([client]) => {
      if (client === undefined) return null
      if (this.clients.size >= accountsKept) this.clients.delete(this.clients.keys().next().value as string)
      this.clients.set(account, client.id)
      return client.id
    })
  }

  /** When `markets` was asked for, business time. */
  private listedAt = -Infinity

  /** Why an event can't be believed; null when it can. The grids that judge it are those of now: read again before they condemn. */
  private wrongWith({ at, fact }: AccountEvent): Effect.Effect<string | null> {
    if (at > this.parts.clock.horizon() + aheadLimit) return Effect.succeed("it lies more than 5 s ahead")
    if (fact.type !== "fill" && fact.type !== "order") return Effect.succeed(null)
    const judge = () => gridFault(this.markets.get(fact.order.symbol), fact)
    const now = this.parts.clock.now()
    if (now - this.listedAt < listedFor && judge() === null) return Effect.succeed(null)
    // Others that come meanwhile are judged by what is known; what does not fit it asks by itself.
    this.listedAt = now
    return Effect.map(
      Effect.catch(this.parts.venue.listing, () => Effect.succeed(null)),
      (listing) => {
        if (listing !== null) this.markets = new Map(listing.markets.map((market) => [market.symbol, market]))
        // A venue that has never said its grids can't be held to one.
        return this.markets.size === 0 ? null : judge()
      }
    )
  }
}

const asideOf = (event: AccountEvent, reason: string): SetAside => ({
  bytes: JSON.stringify(event),
  reason,
  number: event.number,
  account: event.fact.account
})

/** The object that a fact is about, by the ref of ours that it carries. */
const ownerOfFact = (fact: AccountFact): RefOwner | null => {
  const ref = refOfFact(fact)
  return ref === null ? null : ownerOfRef(ref)
}

/** What of an order or a fill is off its market's grid; null: nothing. */
const gridFault = (
  market: VenueMarket | undefined,
  fact: Extract<AccountFact, { readonly type: "order" | "fill" }>
): string | null => {
  if (market === undefined) return "its market is not listed"
  const fits = (value: string, step: string): boolean => new Decimal(value).mod(step).isZero()
  const { qty, price } = fact.type === "fill" ? fact.fill : fact.order
  if (!fits(qty, market.qtyStep)) return "its quantity is off the market's grid"
  if (new Decimal(qty).gt(market.maxQty)) return "its quantity is beyond the market's limit"
  return price === null || fits(price, market.priceTick) ? null : "its price is off the market's grid"
}
