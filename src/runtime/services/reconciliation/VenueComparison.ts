/**
 * Compares accounts with the venue. Every account in the venue's events is compared once a day, in slices. An account
 * with an overdue contract, or with a difference that `sim verify` found, is compared at once.
 *
 * A pass first applies the events that the venue has published of the account; it takes no turn itself. Without these events, or
 * without an answer of the venue, the account is compared again in a minute. A difference counts when the next pass, 5 s
 * later, finds it again. While a pass finds new differences, a limited number of further passes follow (A2-103, D5, F14).
 */
import { Context, Effect, Layer } from "effect"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { ActorHost, type Attribution, type DispatchError } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { VenueProgress } from "../../ports/VenueProgress.ts"
import { noVenue, Venue, type VenueUnanswered } from "../../ports/Venue.ts"
import type { ClientRow } from "../../tables/client.ts"
import { clientSubject } from "../account/clientState.ts"
import { Directory } from "../partners/Directory.ts"
import { QuoteBoard } from "../trading/rfq/QuoteBoard.ts"
import type { EventParts } from "../trading/rfq/rfqEvents.ts"
import { Recall } from "../account/Recall.ts"
import { OutOfSync } from "../venue/OutOfSync.ts"
import { subscribe } from "../../subscriptions.ts"
import { MisfitReads } from "../venue/MisfitReads.ts"
import { settleDifferences } from "./comparisonDecisions.ts"
import { type OrderDifference, settleOrderDifferences } from "./orderComparison.ts"
import { lossOf, settleMoneyDifferences } from "./moneyComparison.ts"
import { settleNouns } from "./comparedNouns.ts"
import { ComparedLookups } from "./ComparedLookups.ts"
import { deferred, DeferredAccounts } from "./DeferredAccounts.ts"
import { claimsOfBoth, countOf, type Pass, passOf } from "./comparisonPass.ts"
import { misfitsOf, notApplied } from "./misfitReads.ts"
import {
  comparedWithout,
  ComparedReads,
  eventsApplied,
  notCompared,
  snapshotOf,
  snapshotsUnanswered,
  WaitingAccounts
} from "./publishedEvents.ts"
import { OverdueContracts, WantedAccounts } from "./WantedAccounts.ts"

/** The pause between two slices of the daily comparison, ms. */
const sliceEvery = 60_000
/** Accounts per slice. At one slice a minute, more than 700,000 accounts a day are compared. */
const sliceLength = 500
/** The shortest time between the starts of two rounds over all accounts, ms of business time: one day. */
const day = 86_400_000
/** The pause between two passes, ms. A difference counts when two passes in a row find it. */
const passPause = 5_000
/** Limit on the passes after the first. A difference that only the last pass finds waits for the account's next slice. */
const passesMost = 4
/** Limit on the differences that one turn applies, so that its commit stays small. */
const settledAtOnce = 16
/** Limit on the accounts that are compared at the same time. */
const atOnce = 8
/** Limit on the accounts that one command compares; the other accounts wait for their slice. */
export const accountsAtMost = 2_000

const apart =
  "service and venue differ: nothing is changed, and a break records the difference (brokerage queue lists it)"
const againInMinute = "an account could not be compared with the venue: it is compared again in a minute"
const againInSlice = "an account could not be compared with the venue; its next daily slice compares it again"
const by: Attribution = { role: "SYSTEM", keyLabel: "venue", requestId: "comparison", actor: "system:venue" }

export interface ComparisonFigures {
  /** Number of comparisons of an account since the start of this process. */
  readonly compared: number
  /** Number of alarms for differences and overdue contracts since the start of this process. */
  readonly alarms: number
}

/** The outcome of a command that compares accounts. */
export interface Reconciled {
  readonly accounts: number
  /** Sentences of differences with a new alarm, of open misfits, and of accounts that could not be compared. */
  readonly differences: ReadonlyArray<string>
  /** True if there are further accounts, which this command has not compared. They wait for their slice. */
  readonly more: boolean
  /** Number of accounts whose money was not compared, because the venue lacks records of their money from the first day. */
  readonly withoutMoney: number
}

interface ComparedAccount {
  readonly sentences: ReadonlyArray<string>
  readonly withoutMoney: boolean
}

export class VenueComparison extends Context.Service<
  VenueComparison,
  {
    /** Queues an account, so that it is compared before its slice. */
    readonly want: (uid: string) => void
    /** Compares an account now, and applies the differences. Returns the sentences of alarms and open misfits. */
    compare(uid: string): Effect.Effect<ReadonlyArray<string>, DispatchError | VenueUnanswered>
    /** Like `compare`, for a command: the outcome also has the number of accounts. */
    compareOne(uid: string): Effect.Effect<Reconciled, DispatchError | VenueUnanswered>
    /** Compares the accounts in the venue's events, newest clients first, at most `accountsAtMost`. */
    compareAll(): Effect.Effect<Reconciled, DispatchError | VenueUnanswered>
    readonly figures: () => ComparisonFigures
  }
>()("brokerage/runtime/services/reconciliation/VenueComparison") {
  static readonly layer = Layer.effect(
    VenueComparison,
    Effect.gen(function* () {
      const stored = yield* RowReads
      const comparison = new Comparison({
        host: yield* ActorHost,
        clock: yield* BusinessClock,
        venue: yield* Venue,
        progress: yield* VenueProgress,
        stored,
        unsettled: yield* OutOfSync,
        misfits: yield* MisfitReads,
        handlers: { directory: yield* Directory, recall: new Recall(stored), board: yield* QuoteBoard }
      })
      for (const loop of [comparison.run, comparison.wanted.pauses, comparison.walk]) yield* Effect.forkScoped(loop)
      return VenueComparison.of({
        want: (uid) => comparison.wanted.want(uid),
        compare: (uid) => Effect.map(comparison.compare(uid), ({ sentences }) => sentences),
        compareOne: (uid) => Effect.map(comparison.compare(uid), (found) => reconciled([found], false)),
        compareAll: () => comparison.compareNow(),
        figures: () => comparison.figures()
      })
    })
  )

  /** The service without a venue: every comparison fails with `noVenue`. */
  static readonly none = Layer.succeed(
    VenueComparison,
    VenueComparison.of({
      want: () => {},
      compare: () => Effect.fail(noVenue),
      compareOne: () => Effect.fail(noVenue),
      compareAll: () => Effect.fail(noVenue),
      figures: () => ({ compared: 0, alarms: 0 })
    })
  )
}

const reconciled = (
  found: ReadonlyArray<ComparedAccount>,
  more: boolean,
  unanswered: ReadonlyArray<string> = []
): Reconciled => ({
  accounts: found.length,
  differences: [...found.flatMap(({ sentences }) => sentences), ...snapshotsUnanswered(unanswered)],
  more,
  withoutMoney: found.filter(({ withoutMoney }) => withoutMoney).length
})

interface Parts {
  readonly host: ActorHost["Service"]
  readonly clock: BusinessClock["Service"]
  readonly venue: Venue["Service"]
  readonly progress: VenueProgress["Service"]
  readonly stored: RowReads["Service"]
  readonly unsettled: OutOfSync["Service"]
  readonly misfits: MisfitReads["Service"]
  readonly handlers: EventParts
}

class Comparison {
  private readonly parts: Parts
  readonly wanted = new WantedAccounts()
  private readonly waiting = new WaitingAccounts()
  private readonly deferred = new DeferredAccounts()
  /** Accounts with reads that the venue did not answer. */
  private readonly unanswered = new WaitingAccounts()
  private readonly overdue = new OverdueContracts()
  private compared = 0
  private alarms = 0

  constructor(parts: Parts) {
    this.parts = parts
    const { wanted } = this
    subscribe(parts.host, "VenueComparison", {
      barrierContracts: (row) => {
        if (this.overdue.follow(row, this.parts.clock.now())) wanted.want(row.context.account)
      },
      // The venue may have booked payments of a defaulted swap that its events did not report.
      swaps: ({ state, context }) => state === "DEFAULTED" && wanted.want(context.account),
      // The venue may have booked a trade or a payment whose event is quarantined here.
      venueQuarantine: ({ account }) => account !== null && wanted.wantQuarantined(account),
      // Once a funding stamp is posted, no pending payment explains a remaining difference.
      openFundings: ({ posted, clientId }) => posted && wanted.wantClient(clientId)
    })
  }

  figures(): ComparisonFigures {
    return { compared: this.compared, alarms: this.alarms + this.overdue.alarms }
  }

  /** Compares the queued accounts, in an endless loop. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.wanted.take).pipe(
    Effect.flatMap(({ uids, clientIds }) =>
      // Clients that can't be read now are left out, and wait for their slice.
      Effect.catch(this.parts.stored.among("clients", clientIds), () => Effect.succeed([])).pipe(
        Effect.map((clients) => [...uids, ...clients.map(({ uid }) => uid)])
      )
    ),
    Effect.tap(() => this.overdue.alarm),
    Effect.flatMap((uids) => this.compareAll(uids)),
    Effect.forever({ disableYield: true })
  )

  /** Compares all accounts once a day: one slice a minute, highest client id first. */
  readonly walk: Effect.Effect<never> = Effect.gen({ self: this }, function* () {
    for (;;) {
      const begun = this.parts.clock.now()
      for (let before: number | undefined; ;) {
        yield* Effect.sleep(sliceEvery)
        const page = yield* Effect.exit(this.slice(before))
        if (page._tag === "Failure") continue
        yield* this.compareAll(page.value.map(({ uid }) => uid))
        if (page.value.length === 0) break
        before = Math.min(...page.value.map(({ id }) => id))
      }
      while (this.parts.clock.now() < begun + day) yield* Effect.sleep(sliceEvery)
    }
  })

  private slice(before: number | undefined) {
    const { stored } = this.parts
    const query = { limit: sliceLength, ...(before === undefined ? {} : { before }) }
    return Effect.flatMap(stored.page("venueAccounts", [], query), (rows) =>
      stored.among(
        "clients",
        rows.map(({ clientId }) => clientId)
      )
    )
  }

  /** Compares accounts. One that can't be compared now is compared again in a minute, and after a defect in its next slice. */
  private compareAll(uids: ReadonlyArray<string>): Effect.Effect<void> {
    const reads = new ComparedReads()
    const one = (uid: string) =>
      this.compare(uid, reads).pipe(
        Effect.catch((cause) => {
          this.wanted.wantLater(uid)
          // The log line of `GroupReads.count` covers all accounts that wait without a read.
          return reads.snapshots.areStopped
            ? Effect.void
            : Effect.annotateLogs(Effect.logWarning(againInMinute, cause), { uid })
        }),
        Effect.catchCause((cause) => Effect.annotateLogs(Effect.logWarning(againInSlice, cause), { uid }))
      )
    return Effect.forEach(uids, one, { concurrency: atOnce, discard: true })
  }

  compareNow(): Effect.Effect<Reconciled, DispatchError | VenueUnanswered> {
    return Effect.gen({ self: this }, function* () {
      const rows = yield* this.parts.stored.page("venueAccounts", [], { limit: accountsAtMost + 1 })
      const clients = yield* this.parts.stored.among(
        "clients",
        rows.slice(0, accountsAtMost).map(({ clientId }) => clientId)
      )
      const reads = new ComparedReads()
      const unanswered: Array<string> = []
      let first: VenueUnanswered | null = null
      const one = ({ uid }: ClientRow) =>
        Effect.catchTag(this.compare(uid, reads), "VenueUnanswered", (error) => {
          unanswered.push(uid)
          first ??= error
          return Effect.succeed(null)
        })
      const all = yield* Effect.forEach(clients, one, { concurrency: atOnce })
      const found = all.filter((each) => each !== null)
      // A venue that answers for no account is away.
      if (found.length === 0 && first !== null) return yield* Effect.fail(first)
      return reconciled(found, rows.length > accountsAtMost, unanswered)
    })
  }

  /** Compares one account. `reads`: counts the reads of all accounts that are compared together. */
  compare(uid: string, reads = new ComparedReads()): Effect.Effect<ComparedAccount, DispatchError | VenueUnanswered> {
    return Effect.gen({ self: this }, function* () {
      const [client] = yield* this.parts.stored.page("clients", [{ column: "uid", value: uid }], { limit: 1 })
      if (client === undefined) return { sentences: [], withoutMoney: false }
      const lookups = new ComparedLookups(this.parts.venue)
      let before = yield* this.compareOnce(client, reads, lookups)
      if (before !== null) this.compared++
      const withoutMoney = before?.withoutMoney ?? false
      const sentences = new Set(yield* misfitsOf(this.parts, client))
      for (let pass = 0; before !== null && pass < passesMost && countOf(before) > 0; pass++) {
        this.fetchOrders(client.id, before.orders)
        yield* Effect.sleep(passPause)
        const next: Pass | null = yield* this.compareOnce(client, reads, lookups)
        const both = next === null ? [] : claimsOfBoth(before, next)
        before = next
        if (next === null) break
        // If a concurrent comparison raises one of these alarms first, this commit fails and is repeated without that alarm.
        const settle = Effect.retry(this.settle(client, next, both), {
          while: ({ _tag }) => _tag === "ClaimLost",
          times: 3
        })
        const settled = both.length === 0 ? [] : yield* Effect.catchDefect(settle, notApplied(uid))
        for (const sentence of settled) sentences.add(sentence)
        if (both.length === countOf(next)) break
      }
      if (before === null) {
        this.wanted.wantLater(uid)
        sentences.add(yield* notCompared(uid, reads))
      }
      const leftOut = yield* lookups.report(uid)
      if (leftOut === null) this.unanswered.end(client.id)
      else {
        sentences.add(leftOut)
        yield* this.laterFor(client)
      }
      return { sentences: [...sentences], withoutMoney }
    })
  }

  /** Queues an account whose reads the venue did not all answer. */
  private laterFor(client: ClientRow): Effect.Effect<void> {
    this.wanted.wantLater(client.uid)
    return this.unanswered.wait(client)
  }

  /** Applies the differences of two passes. Returns the sentences of new alarms, and one if differences do not count yet. */
  private settle(
    client: ClientRow,
    { contracts, orders, nouns, money }: Pass,
    claims: ReadonlyArray<string>
  ): Effect.Effect<ReadonlyArray<string>, DispatchError> {
    return Effect.gen({ self: this }, function* () {
      // Alarms that were raised before, even for a break that is closed by now, are not raised again.
      const holders = yield* this.parts.stored.holders(claims)
      const names = new Set(holders.map(({ name }) => name))
      const all = claims.filter((claim) => !names.has(claim))
      const sentences: Array<string> = []
      let isDeferred = false
      const loss = money.length === 0 ? null : yield* lossOf(this.parts.stored, client)
      // A commit has a limit, so an account that lost many events needs several turns.
      for (let first = 0; first < all.length; first += settledAtOnce) {
        const fresh = new Set(all.slice(first, first + settledAtOnce))
        const isFresh = ({ claim }: { readonly claim: string }): boolean => fresh.has(claim)
        const alarmed = yield* this.parts.host.dispatch({
          subject: clientSubject(client.id),
          by,
          lane: "internal",
          decide: (turn) => {
            isDeferred = this.deferred.defers(turn, client.id)
            if (isDeferred) return []
            const ofObjects = [
              ...settleDifferences(turn, this.parts.handlers, contracts.filter(isFresh)),
              ...settleNouns(turn, this.parts.handlers, nouns, isFresh)
            ]
            // A report of these objects may not fit, and may then explain positions and money.
            isDeferred = this.deferred.defers(turn, client.id)
            if (isDeferred) return ofObjects
            const ofOrders = settleOrderDifferences(turn, orders.filter(isFresh))
            return [...ofObjects, ...ofOrders, ...settleMoneyDifferences(turn, money.filter(isFresh), loss)]
          }
        })
        sentences.push(...alarmed)
        if (isDeferred) break
      }
      this.alarms += sentences.length
      yield* Effect.forEach(
        sentences,
        (sentence) => Effect.annotateLogs(Effect.logError(apart, sentence), { uid: client.uid }),
        { discard: true }
      )
      if (!isDeferred) return sentences
      this.wanted.wantLater(client.uid)
      return [...sentences, deferred(client.uid)]
    })
  }

  /** One comparison pass over a client. Null: the account waits for events that could not be applied. */
  private compareOnce(
    client: ClientRow,
    reads: ComparedReads,
    lookups: ComparedLookups
  ): Effect.Effect<Pass | null, DispatchError | VenueUnanswered> {
    return Effect.gen({ self: this }, function* () {
      const read = snapshotOf(this.parts.venue, client.uid, reads)
      const account = yield* Effect.tapError(read, () => this.laterFor(client))
      if (yield* eventsApplied(this.parts, client, account?.sequence ?? 0, reads)) this.waiting.end(client.id)
      else if (this.waiting.mayWait(client.id)) return null
      else yield* comparedWithout(client.uid)
      return yield* passOf(
        { stored: this.parts.stored, venue: lookups.venue },
        client,
        account,
        !reads.events.areStopped
      )
    })
  }

  /** Queries the venue for orders that differ, because their events may only be late. */
  private fetchOrders(clientId: number, differences: ReadonlyArray<OrderDifference>): void {
    for (const { orderId } of differences) {
      const open = { filledQty: "0", ended: false, wasOver: false }
      if (orderId !== null) this.parts.unsettled.add({ clientId, orderId, ...open })
    }
  }
}
