/**
 * Orders of all accounts in all markets: checked, matched, triggered, cancelled. Pure and deterministic: the same calls in the
 * same order give the same books and events. It has no randomness and no transport, and gets the time from outside (A2-37,
 * A2-40, A2-41, A2-95, A2-97).
 */
import { Account } from "./Account.ts"
import { Book, type Side } from "./Book.ts"
import { Fills, type KeptFill } from "./Fills.ts"
import { Levels } from "./Levels.ts"
import { Line } from "./Line.ts"
import { type Market, valueOf } from "./Market.ts"
import { type EndReason, isLive, newOrder, type Order, type OrderRequest, type TriggerSource } from "./Order.ts"
import { type AmendRefusal, firedRefusal, refusalOf } from "./orderRefusal.ts"

/** A change of an order, or a fill; published in the order of occurrence. */
export type ExchangeEvent =
  | { readonly kind: "order"; readonly order: Order }
  | { readonly kind: "fill"; readonly fill: Fill; readonly order: Order }

export interface Fill {
  /** The id of the trade, which its two orders share. A fill is identified by trade and order together. */
  readonly tradeId: number
  readonly orderId: number
  readonly accountId: number
  readonly symbol: string
  readonly side: Side
  readonly price: number
  readonly quantity: number
  readonly liquidity: "MAKER" | "TAKER"
  /** The reason of a trade that the venue made by itself; otherwise null. */
  readonly reason: VenueReason | null
}

export type VenueReason = "deleverage" | "liquidation" | "delisting"

/** A halt of a market; `since` is business time, Unix ms. */
export interface Halt {
  readonly since: number
}

export interface Listing {
  readonly market: Market
  readonly book: Book<Order>
  /** Conditional orders that wait for their price, by the price source that triggers them. */
  readonly waiting: Readonly<Record<TriggerSource, Levels<Order>>>
  /** The prices of each source in ticks; null before the first. */
  readonly prices: Record<TriggerSource, number | null>
  /** True while a tester holds the last price, so that trades do not move it. */
  lastHeld: boolean
  /** Lots of all long positions, which equal those of all short positions. */
  openInterest: number
  halt: Halt | null
  delisted: boolean
  /** Each fill of a client's order takes at most one part in `slices` of the order's quantity; 1: fills are not split. */
  slices: number
}

/** A trade outside the book, which the venue makes by its own decision. */
export interface Execution {
  readonly accountId: number
  /** The account that takes the other side of the trade. */
  readonly against: number
  readonly side: Side
  readonly price: number
  readonly quantity: number
  readonly reason: VenueReason
}

export class Exchange {
  readonly listings = new Map<string, Listing>()
  readonly accounts = new Map<number, Account>()
  /** Orders by reference, including ended ones: each reference is executed once. */
  readonly orders = new Map<string, Order>()
  /** Ended orders, in order of their end; over the limit the oldest are dropped. */
  readonly ended = new Line<Order>()
  readonly fills = new Fills()
  private readonly kept: number
  private readonly groups = new Map<string, Set<Order>>()
  private readonly emit: (event: ExchangeEvent) => void
  private readonly clock: { readonly now: number }
  /** The last id of an order and of a trade; trades outside the books, such as contracts, use the same counter. */
  readonly ids = { order: 0, trade: 0 }
  /** Markets whose last price moved while orders were matched. Their triggers fire when the matching is complete. */
  private readonly moved = new Set<Listing>()

  constructor(
    markets: ReadonlyArray<Market>,
    emit: (event: ExchangeEvent) => void,
    clock: { readonly now: number } = { now: 0 },
    kept = Infinity
  ) {
    this.kept = kept
    this.emit = emit
    this.clock = clock
    for (const market of markets) this.listings.set(market.symbol, listingOf(market))
  }

  open(id: number, name: string): Account {
    const account = this.accounts.get(id) ?? new Account(id, name)
    this.accounts.set(id, account)
    return account
  }

  /**
   * Places an order. A known reference returns the current order and places none. `isRejected` is called after all checks pass.
   */
  place(request: OrderRequest, isRejected: () => boolean = passes): Order {
    const known = request.ref === null ? undefined : this.orders.get(request.ref)
    if (known !== undefined) return known
    const order = newOrder(++this.ids.order, request)
    if (order.ref !== null) this.orders.set(order.ref, order)
    const listing = this.listings.get(order.symbol)
    const found = listing === undefined ? "unknown market" : refusalOf(listing, order, this.account(order))
    const refusal = found === null && isRejected() ? "rejected by the venue" : found
    if (listing === undefined || refusal !== null) this.end(order, "REJECTED", refusal)
    else {
      this.join(order)
      if (order.trigger === null) this.work(listing, order)
      else this.wait(listing, order)
      this.fireTriggers()
    }
    return order
  }

  /** Cancels a live order; false if it has ended. */
  cancel(order: Order, reason: EndReason = "cancelled by the account"): boolean {
    if (!isLive(order)) return false
    this.end(order, "CANCELLED", reason)
    return true
  }

  /** Changes the quantity (an increase moves the order to the end of its level) and the bound of a waiting order. */
  amend(order: Order, quantity: number, boundBps?: number): AmendRefusal | null {
    const listing = this.listings.get(order.symbol)
    const filled = order.quantity - order.left
    if (!isLive(order) || listing === undefined) return "order has ended"
    if (boundBps !== undefined && order.state !== "WAITING") return "order does not wait"
    if (quantity > listing.market.maxQty) return "quantity too large"
    if (quantity <= filled) return "quantity filled already"
    if (quantity > order.quantity && listing.halt !== null && !order.reduceOnly) return "market halted"
    const left = quantity - filled
    if (order.state === "WAITING") order.left = left
    else listing.book.resize(order, left)
    order.quantity = quantity
    if (boundBps !== undefined) order.boundBps = boundBps
    this.emit({ kind: "order", order })
    return null
  }

  /** Moves a price and fires the triggers that it touches. */
  move(symbol: string, source: TriggerSource, price: number): void {
    const listing = this.listings.get(symbol)
    if (listing === undefined || listing.delisted) return
    listing.prices[source] = price
    this.touch(listing, [source])
  }

  /** Fires the triggers that a market's prices have reached; none during a halt. */
  touch(listing: Listing, sources: ReadonlyArray<TriggerSource>): void {
    for (const source of sources) this.fire(listing, source)
    this.fireTriggers()
  }

  /** Trades an account against another by the venue's own decision, outside the book and without orders. */
  execute(
    listing: Listing,
    { accountId, against, side, price, quantity, reason }: Execution
  ): { readonly order: Order; readonly tradeId: number } {
    const { symbol } = listing.market
    const tradeId = ++this.ids.trade
    const value = valueOf(listing.market, price, quantity)
    const order = newOrder(++this.ids.order, { ...ofTheVenue, accountId, symbol, side, price, quantity })
    order.left = 0
    order.state = "FILLED"
    this.book(listing, order, quantity, value)
    this.book(listing, { accountId: against, side: side === "BUY" ? "SELL" : "BUY" }, quantity, value)
    const fill: Fill = {
      tradeId,
      orderId: order.id,
      accountId,
      symbol,
      side,
      price,
      quantity,
      liquidity: "TAKER",
      reason
    }
    this.emit({ kind: "fill", order, fill })
    return { order, tradeId }
  }

  /**
   * Ends all orders of a market and closes every position at the final price. The account `against` takes the other side,
   * and is flat at the end.
   */
  delist(listing: Listing, price: number, against: number): void {
    const { symbol, family } = listing.market
    listing.delisted = true
    for (const order of this.liveOrders(listing)) this.end(order, "CANCELLED", "market delisted")
    if (family !== "PERP") return
    for (const { id: accountId, positions } of this.accounts.values()) {
      const lots = positions.get(symbol)?.lots ?? 0
      if (lots === 0 || accountId === against) continue
      const side = lots > 0 ? "SELL" : "BUY"
      this.execute(listing, { accountId, against, side, price, quantity: Math.abs(lots), reason: "delisting" })
    }
  }

  /** Takes over the orders of a stored state; the live ones are in their books already. */
  adopt(orders: ReadonlyArray<Order>): void {
    for (const order of orders) {
      if (order.ref !== null) this.orders.set(order.ref, order)
      if (isLive(order)) this.join(order)
      else {
        this.ended.push(order)
        this.fills.end(order.id)
      }
    }
  }

  /** All live orders of a market: bids, asks, then those that wait for a price. */
  liveOrders({ book, waiting }: Listing): ReadonlyArray<Order> {
    const sources = ["LAST", "MARK", "INDEX"] as const
    return [
      ...book.orders("BUY"),
      ...book.orders("SELL"),
      ...sources.flatMap((source) => waiting[source].all().map(({ item }) => item))
    ]
  }

  /** Fills of an order, oldest first; null if it had fills that are not kept any more. */
  fillsOf(order: Order): ReadonlyArray<KeptFill> | null {
    return this.fills.of(order.id) ?? (order.left === order.quantity ? [] : null)
  }

  private account({ accountId }: Pick<Order, "accountId">): Account {
    const account = this.accounts.get(accountId)
    if (account === undefined) throw new Error(`no account ${accountId}`)
    return account
  }

  private wait(listing: Listing, order: Order): void {
    const { trigger } = order
    if (trigger === null) return
    order.waiting = listing.waiting[trigger.source].add(trigger.direction, trigger.price, order)
    order.state = "WAITING"
    this.emit({ kind: "order", order })
  }

  private fire(listing: Listing, source: TriggerSource): void {
    const price = listing.prices[source]
    if (price === null || listing.halt !== null) return
    for (;;) {
      const touched = listing.waiting[source].touched(price)
      if (touched === null) return
      const order = touched.item
      order.waiting = null
      order.triggeredAt = this.clock.now
      order.state = "WORKING"
      const refusal = firedRefusal(listing, order, this.account(order))
      if (refusal === null) this.work(listing, order)
      else this.end(order, "REJECTED", refusal)
    }
  }

  private fireTriggers(): void {
    for (const listing of this.moved) {
      this.moved.delete(listing)
      this.fire(listing, "LAST")
    }
  }

  /** Matches an order that arrived or was triggered, and rests or ends the remainder. */
  private work(listing: Listing, order: Order): void {
    const { book } = listing
    const { side, limit, tif } = order
    if (tif === "POST_ONLY" && book.crosses(side, limit)) return this.end(order, "REJECTED", "would take liquidity")
    if (limit === null && book.best(side === "BUY" ? "SELL" : "BUY") === null)
      return this.end(order, "REJECTED", "no market")
    const room = this.room(order)
    const most = order.ref === null ? room : Math.max(1, Math.ceil(room / listing.slices))
    const incoming = { accountId: order.accountId, side, limit, quantity: room, most }
    if (tif === "FOK" && (room < order.left || book.fillable(incoming, this.room) < room))
      return this.end(order, "CANCELLED", "not filled at once")
    this.emit({ kind: "order", order })
    const { left, selfTrade } = book.match(incoming, {
      room: this.room,
      traded: (maker, price, quantity) => this.trade(listing, order, maker, price, quantity),
      emptied: (maker) => this.end(maker, "CANCELLED", "reduce-only empty")
    })
    if (!isLive(order)) return
    if (selfTrade) return this.end(order, "CANCELLED", "self-trade")
    if (left === 0) return this.end(order, "CANCELLED", "reduce-only empty")
    if (limit === null || tif === "IOC" || tif === "FOK") return this.end(order, "CANCELLED", "not filled at once")
    book.add(order)
  }

  /** Lots of an order that may trade now (reduce-only is checked at each fill). */
  private readonly room = (order: Order): number =>
    order.reduceOnly ? Math.min(order.left, this.account(order).reducible(order.symbol, order.side)) : order.left

  private trade(listing: Listing, taker: Order, maker: Order, price: number, quantity: number): void {
    const tradeId = ++this.ids.trade
    const value = valueOf(listing.market, price, quantity)
    taker.left -= quantity
    for (const order of [maker, taker]) {
      this.book(listing, order, quantity, value)
      if (order.left === 0) order.state = "FILLED"
    }
    if (!listing.lastHeld) {
      listing.prices.LAST = price
      this.moved.add(listing)
    }
    this.report(maker, "MAKER", { tradeId, price, quantity })
    this.report(taker, "TAKER", { tradeId, price, quantity })
  }

  private book(listing: Listing, of: Pick<Order, "accountId" | "side">, lots: number, value: bigint): void {
    const account = this.account(of)
    const { symbol } = listing.market
    listing.openInterest -= Math.max(0, account.lotsOf(symbol))
    account.book(symbol, of.side, lots, value)
    listing.openInterest += Math.max(0, account.lotsOf(symbol))
  }

  private report(
    order: Order,
    liquidity: Fill["liquidity"],
    traded: Pick<Fill, "tradeId" | "price" | "quantity">
  ): void {
    const { id: orderId, accountId, symbol, side } = order
    if (order.ref !== null) this.fills.add(orderId, { ...traded, liquidity, at: this.clock.now })
    this.emit({ kind: "fill", order, fill: { ...traded, orderId, accountId, symbol, side, liquidity, reason: null } })
    if (order.group !== null) this.endOthers(order)
    if (order.left === 0) this.leave(order)
  }

  /** The first fill of a member ends the others of its group. */
  private endOthers(order: Order): void {
    for (const other of this.groups.get(groupKey(order)) ?? []) {
      if (other !== order) this.cancel(other, "other of its group filled")
    }
  }

  private end(order: Order, state: "CANCELLED" | "REJECTED", reason: EndReason | null): void {
    const listing = this.listings.get(order.symbol)
    listing?.book.remove(order)
    if (order.waiting !== null && order.trigger !== null) listing?.waiting[order.trigger.source].remove(order.waiting)
    order.waiting = null
    order.state = state
    order.reason = reason
    this.leave(order)
    this.emit({ kind: "order", order })
  }

  private join(order: Order): void {
    if (order.ref !== null) this.account(order).orders.add(order)
    if (order.group === null) return
    const key = groupKey(order)
    const members = this.groups.get(key) ?? new Set()
    this.groups.set(key, members.add(order))
  }

  private keep(order: Order): void {
    this.accounts.get(order.accountId)?.orders.delete(order)
    this.ended.push(order)
    this.fills.end(order.id)
    const oldest = this.ended.size > this.kept ? this.ended.shift() : undefined
    if (oldest === undefined) return
    this.fills.forget(oldest.id)
    if (oldest.ref !== null) this.orders.delete(oldest.ref)
  }

  private leave(order: Order): void {
    if (order.ref !== null) this.keep(order)
    if (order.group === null) return
    const members = this.groups.get(groupKey(order))
    members?.delete(order)
    if (members?.size === 0) this.groups.delete(groupKey(order))
  }
}

const passes = (): boolean => false

/** The fields of an order that are the same in every order of the venue itself. */
const ofTheVenue = { ref: null, tif: "GTC", reduceOnly: false, trigger: null, group: null } as const

const groupKey = ({ accountId, symbol, group }: Order): string => `${accountId} ${symbol} ${group}`

const listingOf = (market: Market): Listing => ({
  market,
  book: new Book(),
  waiting: { LAST: new Levels(), MARK: new Levels(), INDEX: new Levels() },
  prices: { LAST: null, MARK: null, INDEX: null },
  lastHeld: false,
  openInterest: 0,
  halt: null,
  delisted: false,
  slices: 1
})
