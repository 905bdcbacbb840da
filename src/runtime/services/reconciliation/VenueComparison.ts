/**
 * The comparison with the venue (A2-103): every account that the venue has spoken of is compared once a day, in slices, and at
 * once where a contract is overdue (D5) or `sim verify` has found a difference. A pass takes no turn. A difference counts when
 * the next pass, 5 s later, finds it with nothing in flight; `comparisonDecisions.ts` decides its consequences. While a pass finds
 * new differences, further passes follow, a few at most. A break is an alarm, once.
 */
import { Context, Effect, Layer } from "effect"
import { overdueMillis } from "../../../machines/barrier/BarrierContract.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { ActorHost, type Attribution, type DispatchError } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { VenueProgress } from "../../ports/VenueProgress.ts"
import { noVenue, Venue, type VenueUnanswered } from "../../ports/Venue.ts"
import type { BarrierContractRow } from "../../tables/barrier.ts"
import type { ClientRow } from "../../tables/client.ts"
import { clientSubject } from "../account/clientState.ts"
import { Directory } from "../partners/Directory.ts"
import { QuoteBoard } from "../trading/rfq/QuoteBoard.ts"
import type { HearingParts } from "../trading/rfq/rfqHears.ts"
import { Recall } from "../account/Recall.ts"
import { Unsettled } from "../venue/Unsettled.ts"
import { subscribe } from "../../subscriptions.ts"
import { MisfitReads } from "../venue/MisfitReads.ts"
import { VenueLink } from "../venue/VenueLink.ts"
import { contractsOf, type Difference, differencesOf, settleDifferences } from "./comparisonDecisions.ts"
import { type OrderDifference, orderDifferences, ordersOf, settleOrderDifferences } from "./orderComparison.ts"
import {
  lossOf,
  type MoneyApart,
  moneyDifferences,
  moneyOf,
  settleMoneyDifferences,
  standing
} from "./moneyComparison.ts"
import { misfitsOf, notApplied } from "./misfitLook.ts"
import { settleSwapDifferences, type SwapDifference, swapDifferences, swapsOf } from "./swapComparison.ts"
import { WantedAccounts } from "./WantedAccounts.ts"

/** Between two slices, ms. */
const sliceEvery = 60_000
/** Accounts of one slice: more than 700,000 a day. */
const sliceLength = 500
/** Between the beginnings of two rounds over all accounts, business ms. */
const day = 86_400_000
/** The pause between two passes, ms. A difference counts when two passes in a row find it. */
const again = 5_000
/** Passes after the first. A difference that the last pass is the first to find waits for the account's next slice. */
const passesMost = 4
/** A pass waits this long for the venue's earlier events, ms. After that the account waits for its next slice. */
const backlogMost = 60_000
/** Differences of an account that one turn settles. */
const settledAtOnce = 16
/** Accounts that are compared side by side. */
const atOnce = 8
/** Accounts that one command compares; the others come with their slice. */
export const accountsAtMost = 2_000
/** The most overdue contracts whose alarm is remembered. */
const overdueMost = 10_000

const by: Attribution = { role: "SYSTEM", keyLabel: "venue", requestId: "comparison", actor: "system:venue" }

export interface ComparisonFigures {
  /** Accounts that were compared. */
  readonly compared: number
  /** Differences and overdue contracts that were alarmed. */
  readonly alarms: number
}

/** What comparing accounts has come to. */
export interface Reconciled {
  readonly accounts: number
  /** Sentences on what differs and was not alarmed before. */
  readonly differences: ReadonlyArray<string>
  /** There are accounts besides, which are compared with their slice. */
  readonly more: boolean
  /** Accounts whose money was not compared: they are older than what the venue keeps of it. */
  readonly withoutMoney: number
}

interface ComparedAccount {
  readonly sentences: ReadonlyArray<string>
  readonly withoutMoney: boolean
}

export class VenueComparison extends Context.Service<
  VenueComparison,
  {
    /** Has an account compared soon. */
    readonly want: (uid: string) => void
    /** Compares an account now, and writes what follows; the sentences that were alarmed. */
    compare(uid: string): Effect.Effect<ReadonlyArray<string>, DispatchError | VenueUnanswered>
    /** As `compare`, with what was compared. */
    compareOne(uid: string): Effect.Effect<Reconciled, DispatchError | VenueUnanswered>
    /** Compares the accounts that the venue has spoken of, those of the newest clients first, at most `accountsAtMost`. */
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
        link: yield* VenueLink,
        stored,
        unsettled: yield* Unsettled,
        misfits: yield* MisfitReads,
        hears: { directory: yield* Directory, recall: new Recall(stored), board: yield* QuoteBoard }
      })
      yield* Effect.forkScoped(comparison.run)
      yield* Effect.forkScoped(comparison.wanted.pauses)
      yield* Effect.forkScoped(comparison.walk)
      return VenueComparison.of({
        want: (uid) => comparison.wanted.want(uid),
        compare: (uid) => Effect.map(comparison.compare(uid), ({ sentences }) => sentences),
        compareOne: (uid) => Effect.map(comparison.compare(uid), (found) => reconciled([found], false)),
        compareAll: () => comparison.compareNow(),
        figures: () => comparison.figures()
      })
    })
  )

  /** Without a venue nothing can differ. */
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

const reconciled = (found: ReadonlyArray<ComparedAccount>, more: boolean): Reconciled => ({
  accounts: found.length,
  differences: found.flatMap(({ sentences }) => sentences),
  more,
  withoutMoney: found.filter(({ withoutMoney }) => withoutMoney).length
})

interface Parts {
  readonly host: ActorHost["Service"]
  readonly clock: BusinessClock["Service"]
  readonly venue: Venue["Service"]
  readonly progress: VenueProgress["Service"]
  readonly link: VenueLink["Service"]
  readonly stored: RowReads["Service"]
  readonly unsettled: Unsettled["Service"]
  readonly misfits: MisfitReads["Service"]
  readonly hears: HearingParts
}

interface Look {
  readonly contracts: ReadonlyArray<Difference>
  readonly orders: ReadonlyArray<OrderDifference>
  readonly swaps: ReadonlyArray<SwapDifference>
  readonly money: ReadonlyArray<MoneyApart>
  readonly withoutMoney: boolean
}

/** The claims of the differences that two passes have found, and that nothing on its way explains. */
const claimsOfBoth = (first: Look, second: Look): ReadonlyArray<string> => {
  const before = new Set([...first.contracts, ...first.orders, ...first.swaps].map(({ claim }) => claim))
  return [
    ...[...second.contracts, ...second.orders, ...second.swaps].filter(({ claim }) => before.has(claim)),
    ...standing(first.money, second.money)
  ].map(({ claim }) => claim)
}

const countOf = ({ contracts, orders, swaps, money }: Look): number =>
  contracts.length + orders.length + swaps.length + money.length

class Comparison {
  private readonly parts: Parts
  readonly wanted = new WantedAccounts()
  /** Contracts past their expiry, and whether that was said. */
  private readonly overdue = new Map<number, boolean>()
  private compared = 0
  private alarms = 0

  constructor(parts: Parts) {
    this.parts = parts
    const { wanted } = this
    subscribe(parts.host, "VenueComparison", {
      barrierContracts: (row) => this.follow(row),
      // The venue may know more of a swap in default than its events have shown.
      swaps: ({ state, context }) => state === "DEFAULTED" && wanted.want(context.account),
      // A quarantined event may belong to a trade or a payment in the venue's own books.
      venueQuarantine: ({ account }) => account !== null && wanted.wantAside(account),
      // A difference that remains after a stamp was posted is one of money (F14).
      openFundings: ({ posted, clientId }) => posted && wanted.wantClient(clientId)
    })
  }

  figures(): ComparisonFigures {
    return { compared: this.compared, alarms: this.alarms }
  }

  /** The timer of an overdue contract fires every minute until the venue reports an end. Each time the account is compared (D5). */
  private follow({ id, state, context }: BarrierContractRow): void {
    const isOverdue = state === "OPEN" && context.expiryTs + overdueMillis <= this.parts.clock.now()
    if (!isOverdue) return void this.overdue.delete(id)
    if (!this.overdue.has(id) && this.overdue.size < overdueMost) this.overdue.set(id, false)
    this.wanted.want(context.account)
  }

  /** Each overdue contract is an alarm once. */
  private readonly alarmOverdue: Effect.Effect<void> = Effect.suspend(() => {
    const fresh = [...this.overdue].filter(([, said]) => !said).map(([id]) => id)
    for (const id of fresh) this.overdue.set(id, true)
    this.alarms += fresh.length
    return Effect.forEach(
      fresh,
      (id) => Effect.logError("a contract is past its expiry, and the venue has reported no end", `contract ${id}`),
      { discard: true }
    )
  })

  /** Compares the wanted accounts, for ever. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.wanted.take).pipe(
    Effect.flatMap(({ uids, clientIds }) =>
      // Clients that can't be read now come with their slice.
      Effect.catch(this.parts.stored.among("clients", clientIds), () => Effect.succeed([])).pipe(
        Effect.map((clients) => [...uids, ...clients.map(({ uid }) => uid)])
      )
    ),
    Effect.tap(() => this.alarmOverdue),
    Effect.flatMap((uids) => this.compareAll(uids)),
    Effect.forever({ disableYield: true })
  )

  /** Walks through the accounts, highest client first, a slice a minute; once through them a day. */
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

  /** One that can't be compared now comes again with its next slice. */
  private compareAll(uids: ReadonlyArray<string>): Effect.Effect<void> {
    const one = (uid: string) =>
      Effect.catchCause(this.compare(uid), (cause) =>
        Effect.annotateLogs(Effect.logWarning("an account could not be compared with the venue", cause), { uid })
      )
    return Effect.forEach(uids, one, { concurrency: atOnce, discard: true })
  }

  compareNow(): Effect.Effect<Reconciled, DispatchError | VenueUnanswered> {
    return Effect.gen({ self: this }, function* () {
      const { stored } = this.parts
      const rows = yield* stored.page("venueAccounts", [], { limit: accountsAtMost + 1 })
      const clients = yield* stored.among(
        "clients",
        rows.slice(0, accountsAtMost).map(({ clientId }) => clientId)
      )
      const found = yield* Effect.forEach(clients, ({ uid }) => this.compare(uid), { concurrency: atOnce })
      return reconciled(found, rows.length > accountsAtMost)
    })
  }

  compare(uid: string): Effect.Effect<ComparedAccount, DispatchError | VenueUnanswered> {
    return Effect.gen({ self: this }, function* () {
      const [client] = yield* this.parts.stored.page("clients", [{ column: "uid", value: uid }], { limit: 1 })
      if (client === undefined) return { sentences: [], withoutMoney: false }
      this.compared++
      let before = yield* this.look(client)
      const { withoutMoney } = before
      const sentences = new Set(yield* misfitsOf(this.parts, client))
      for (let pass = 0; pass < passesMost && countOf(before) > 0; pass++) {
        this.askFor(client.id, before.orders)
        yield* Effect.sleep(again)
        if (!(yield* this.caughtUp)) break
        const next = yield* this.look(client)
        const both = claimsOfBoth(before, next)
        // Another comparison of the account may have alarmed some of them at the same moment.
        const settle = Effect.retry(this.settle(client, next, both), {
          while: ({ _tag }) => _tag === "ClaimLost",
          times: 3
        })
        if (both.length > 0)
          for (const sentence of yield* Effect.catchDefect(settle, notApplied(uid))) sentences.add(sentence)
        if (both.length === countOf(next)) break
        before = next
      }
      return { sentences: [...sentences], withoutMoney }
    })
  }

  /** Whether what the venue had said is taken: behind a flood of events two looks see the same, which the account's own explain. */
  private readonly caughtUp: Effect.Effect<boolean> = Effect.suspend(() => {
    const { connected, number } = this.parts.link.state()
    if (!connected) return Effect.succeed(true) // What is not said now is not waited for.
    return Effect.as(this.parts.progress.reached(number ?? 0), true).pipe(
      Effect.timeoutOrElse({ duration: backlogMost, orElse: () => Effect.succeed(false) })
    )
  })

  /** What follows of what two looks have seen; the sentences that were alarmed. */
  private settle(
    client: ClientRow,
    { contracts, orders, swaps, money }: Look,
    claims: ReadonlyArray<string>
  ): Effect.Effect<ReadonlyArray<string>, DispatchError> {
    return Effect.gen({ self: this }, function* () {
      // Each is alarmed once, whoever closes its break.
      const alarmed = yield* this.parts.stored.holders(claims)
      const names = new Set(alarmed.map(({ name }) => name))
      const all = claims.filter((claim) => !names.has(claim))
      const sentences: Array<string> = []
      const loss = money.length === 0 ? null : yield* lossOf(this.parts.stored, client)
      // A commit has an end: of an account that lost very much, so many are taken over in a turn.
      for (let first = 0; first < all.length; first += settledAtOnce) {
        const fresh = new Set(all.slice(first, first + settledAtOnce))
        const isFresh = ({ claim }: { readonly claim: string }): boolean => fresh.has(claim)
        const said = yield* this.parts.host.dispatch({
          subject: clientSubject(client.id),
          by,
          lane: "internal",
          decide: (turn) => [
            ...settleDifferences(turn, this.parts.hears, contracts.filter(isFresh)),
            ...settleOrderDifferences(turn, orders.filter(isFresh)),
            ...settleSwapDifferences(turn, this.parts.hears, swaps.filter(isFresh)),
            ...settleMoneyDifferences(turn, money.filter(isFresh), loss)
          ]
        })
        sentences.push(...said)
      }
      this.alarms += sentences.length
      yield* Effect.forEach(
        sentences,
        (sentence) => Effect.annotateLogs(Effect.logError("service and venue differ", sentence), { uid: client.uid }),
        { discard: true }
      )
      return sentences
    })
  }

  /** What differs of a client now. */
  private look(client: ClientRow): Effect.Effect<Look, DispatchError | VenueUnanswered> {
    return Effect.gen({ self: this }, function* () {
      const account = yield* this.parts.venue.account(client.uid)
      const contracts = differencesOf(yield* contractsOf(this.parts, client, account))
      const swaps = swapDifferences(yield* swapsOf(this.parts, client, account))
      const orders = orderDifferences(yield* ordersOf(this.parts, client, account))
      const money = moneyDifferences(yield* moneyOf(this.parts.stored, client, account))
      return { contracts, orders, swaps, money, withoutMoney: account !== null && account.money === null }
    })
  }

  /** What the venue knows more of is fetched: it may only be late. */
  private askFor(clientId: number, differences: ReadonlyArray<OrderDifference>): void {
    for (const { orderId } of differences) {
      if (orderId === null) continue
      this.parts.unsettled.add({ clientId, orderId, filledQty: "0", ended: false, wasOver: false })
    }
  }
}
