/**
 * Keeps the risk index of all accounts with positions up to date. It receives every mark and commit, and provides the due
 * accounts. The index outlives the mailboxes. It is loaded from stored rows before the service is ready, and an account is
 * reloaded after each of its commits. This file takes no turns; the monitor does (D23, F3).
 */
import { Context, Effect, Latch, Layer } from "effect"
import { leverageCap } from "../../../machines/margin/accountRisk.ts"
import { tierLines } from "../../../machines/margin/riskLines.ts"
import { freshMillis, isFresh, type Mark } from "../../../machines/market/Facts.ts"
import { isWorking } from "../../../machines/order/Order.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { ExposureReads } from "../../ports/ExposureReads.ts"
import { subscribe } from "../../subscriptions.ts"
import type { OrderRow } from "../../tables/order.ts"
import { leverageTermsOf } from "../account/perpHoldings.ts"
import { clientSubject } from "../account/clientState.ts"
import { MarketFeed } from "../market/MarketFeed.ts"
import { boundedIn, type OrderRange, orderRanges } from "../trading/order/orderBounds.ts"
import { OrderRanges } from "./OrderRanges.ts"
import { type LastMark, RiskIndex } from "./RiskIndex.ts"
import { dayOf, watchedIn } from "./watchedAccount.ts"

/**
 * Limit on the heap entries or accounts that one step visits before it yields, so that a large move does not block other
 * work.
 */
const most = 2_048
/** Limit on the accounts that are read at the same time. */
const atOnce = 64
/** The number of accounts with perpetual orders that are read each second after the start. */
const readAtStart = 512
const notRead = "the account could not be read for the risk index; the service reads it again"

export interface RiskWatchParts {
  readonly host: ActorHost["Service"]
  readonly stored: ExposureReads["Service"]
  readonly feed: MarketFeed["Service"]
  readonly clock: BusinessClock["Service"]
}

export class RiskWatch extends Context.Service<RiskWatch, Watch>()("brokerage/runtime/services/margin/RiskWatch") {
  static readonly layer = Layer.effect(
    RiskWatch,
    Effect.gen(function* () {
      const parts = { host: yield* ActorHost, stored: yield* ExposureReads, feed: yield* MarketFeed }
      return new Watch({ ...parts, clock: yield* BusinessClock })
    })
  )
}

/**
 * Whether the account's known ranges may be too wide after this commit of an order. An order that ends or is being
 * cancelled does not raise the cost of the account's other orders. The venue's acceptance of an order does not raise the
 * order's own cost: it counts since it was sent.
 */
const mayCostMore = (row: OrderRow): boolean => {
  const { family, cancels, amends, filledQty, triggeredAt } = row.context
  if (family !== "PERP" || row.state === "PENDING_CANCEL" || !isWorking(row)) return false
  const isAsSent = cancels === 0 && amends === 0 && filledQty === "0" && triggeredAt === null
  return row.state !== "ACKED" || !isAsSent
}

class Watch {
  readonly index: RiskIndex
  private readonly ranges = new OrderRanges()
  /**
   * `lacking`: accounts whose equity no longer covers their orders. `notTaken`: the lacking accounts for which the
   * monitor has not requested a turn yet.
   */
  private readonly lacking = new Set<number>()
  private readonly notTaken = new Set<number>()
  /** Clients with perpetual orders at the start, whose accounts are not read yet. */
  private readonly unread: Array<number> = []
  /** Opened when marks, commits or due accounts wait, so that the monitor runs. */
  readonly wake = Latch.makeUnsafe(false)
  private readonly parts: RiskWatchParts
  /** Accounts that have committed since they were read, and have to be read again. */
  private readonly touched = new Set<number>()
  /** Markets whose last mark is not completely processed, with that mark. */
  private readonly unfinished = new Map<string, LastMark>()
  /** The slot at which the running sweep over all accounts continues; null if no sweep runs. */
  private sweepFrom: number | null = null
  /**
   * True once all accounts are loaded. Until then every commit counts, because the load may have read the account
   * before it.
   */
  private begun = false
  private day: number
  /**
   * Business time until which the first marks may arrive, Unix ms. Afterwards a market without a mark is valued at
   * entry prices.
   */
  private readonly marksBy: number
  private instruments: unknown = null

  constructor(parts: RiskWatchParts) {
    this.parts = parts
    const { host, feed, clock } = parts
    this.day = dayOf(clock.now())
    this.index = new RiskIndex({
      tiers: tierLines(feed.facts().terms.riskTiers),
      capOf: (symbol, categorization) => leverageCap(leverageTermsOf(symbol, { categorization }, feed.facts())),
      markOf: (symbol) => this.seen(feed.facts().marks.get(symbol))
    })
    this.index.awaitsMarks = true
    this.marksBy = clock.now() + freshMillis
    // Without a venue the monitor does not run, so accounts that were queued here would never be taken from the queue.
    if (feed.standing() === "unattached") return
    const touch = ({ clientId }: { readonly clientId: number }): void => this.touch(clientId)
    subscribe(host, "RiskWatch", {
      positions: ({ clientId, state }) => this.touch(clientId, state === "OPEN"),
      balances: ({ clientId, currency }) => this.touch(clientId, false, currency === "USDC"),
      clients: ({ id }) => this.touch(id),
      // No mark finds an account whose orders lack equity until it is read again.
      orders: (row) => (mayCostMore(row) || this.lacking.has(row.clientId)) && this.touch(row.clientId, true),
      barrierContracts: touch,
      leverages: touch,
      riskMonitors: touch,
      lossNotices: touch
    })
    feed.mirror.onMark((symbol, mark) => this.mark(symbol, this.seen(mark)))
  }

  /** Loads all accounts with positions. Accounts with a commit during the load are read again. A failed load fails the start. */
  readonly begin: Effect.Effect<void> = Effect.suspend(() =>
    this.parts.stored.each(this.day, (account) => this.index.put(account))
  ).pipe(
    Effect.andThen(Effect.suspend(() => this.parts.stored.ordering((clientId) => void this.unread.push(clientId)))),
    Effect.orDie,
    Effect.andThen(Effect.sync(() => void (this.begun = true)))
  )

  /** Processes the waiting marks, commits and sweeps. Yields between two markets. */
  readonly catchUp: Effect.Effect<void> = Effect.suspend(() => {
    const marks = [...this.unfinished]
    return Effect.forEach(
      marks,
      ([symbol, mark]) => {
        // A newer mark of the market may have replaced this one, and is then processed instead.
        if (this.unfinished.get(symbol) === mark) this.mark(symbol, mark)
        return Effect.yieldNow
      },
      { discard: true }
    )
  }).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        if (this.sweepFrom !== null) this.sweepFrom = this.index.again(this.sweepFrom, most)
        if (this.sweepFrom !== null || this.unfinished.size > 0) this.wake.openUnsafe()
        const touched = [...this.touched]
        this.touched.clear()
        return Effect.forEach(touched, (clientId) => this.reread(clientId), { concurrency: atOnce, discard: true })
      })
    )
  )

  /** Reads an account again. A failed read is retried with the next `catchUp`. */
  reread(clientId: number): Effect.Effect<void> {
    return this.parts.host
      .readNow(clientSubject(clientId), (state, facts) => {
        const account = watchedIn(state, this.day)
        if (account !== null) this.index.put(account)
        const client = state.one("clients")
        if (client !== undefined) this.putRanges(clientId, orderRanges(boundedIn(state, facts, client)))
      })
      .pipe(
        Effect.catchTag("Unavailable", () => this.later(clientId)),
        // One account that can't be read must not end the watch over all others.
        Effect.catchCause((cause) =>
          Effect.andThen(Effect.logError(`client ${clientId}: ${notRead}`, cause), this.later(clientId))
        )
      )
  }

  private putRanges(clientId: number, ranges: ReadonlyArray<OrderRange> | null): void {
    this.ranges.put(clientId, ranges ?? [])
    if (ranges !== null) {
      this.lacking.delete(clientId)
      this.notTaken.delete(clientId)
    } else if (!this.lacking.has(clientId)) {
      this.lacking.add(clientId)
      this.notTaken.add(clientId)
      this.wake.openUnsafe()
    }
  }

  /** Removes and returns the accounts whose orders a turn has to judge now. */
  takeLacking(): ReadonlyArray<number> {
    const taken = [...this.notTaken]
    this.notTaken.clear()
    return taken
  }

  private later(clientId: number): Effect.Effect<void> {
    return Effect.sync(() => void this.touched.add(clientId))
  }

  /**
   * Begins a sweep over all accounts if the day, the listing or the freshness of a mark has changed, because each of
   * these may move the ranges of every account.
   */
  readonly sweep = (): void => {
    const now = this.parts.clock.now()
    const day = dayOf(now)
    const { instruments, marks } = this.parts.feed.facts()
    this.index.ageMarks((symbol) => {
      const mark = marks.get(symbol)
      return mark !== undefined && isFresh(mark, now)
    })
    if (day !== this.day) this.index.clearNotified()
    const relisted = instruments !== this.instruments && this.index.relisted()
    const waited = this.index.awaitsMarks && now >= this.marksBy
    if (waited) this.index.awaitsMarks = false
    if (day !== this.day || relisted || waited) this.sweepFrom = 0
    this.day = day
    this.instruments = instruments
    for (const clientId of [...this.lacking, ...this.unread.splice(0, readAtStart)]) this.touched.add(clientId)
    this.lacking.clear()
    if (this.sweepFrom !== null || this.touched.size > 0) this.wake.openUnsafe()
  }

  /** True while a commit of the account waits to be processed, so that the index may be out of date. */
  isTouched(clientId: number): boolean {
    return this.touched.has(clientId)
  }

  private seen(mark: Mark | undefined): LastMark {
    if (mark === undefined) return { price: NaN, live: false }
    return { price: mark.price.toNumber(), live: isFresh(mark, this.parts.clock.now()) }
  }

  private mark(symbol: string, mark: LastMark): void {
    const left = this.ranges.left(symbol, mark.price, most)
    for (const clientId of left) this.touched.add(clientId)
    if (left.length > 0) this.wake.openUnsafe()
    if (this.index.mark(symbol, mark, most) >= most || left.length >= most) this.unfinished.set(symbol, mark)
    // An older, unfinished mark of the market must not be applied after this newer one.
    else this.unfinished.delete(symbol)
    if (this.unfinished.size > 0 || this.index.waiting > 0) this.wake.openUnsafe()
  }

  /**
   * Queues an account for a reload. `opens`: it has a position or a perpetual order now. `counts`: the row matters for
   * margin. Once all accounts are loaded, an account that is not in the indexes is queued only if it opens a position
   * or an order.
   */
  private touch(clientId: number, opens = false, counts = true): void {
    const isWatched = this.index.has(clientId) || this.ranges.has(clientId) || this.lacking.has(clientId)
    if (!counts || !(opens || !this.begun || isWatched)) return
    this.touched.add(clientId)
    this.wake.openUnsafe()
  }
}
