/**
 * The order book of one market: price levels with their orders first in, first out. Pure data in whole ticks and lots.
 *
 * A side is an array of levels with the best one last, searched by bisection. Nearly all changes are close to the end, so an
 * insertion moves few elements. The orders of a level are a linked list, so a cancel costs the same at any place.
 * `bench/markets` compares this with a plain array and two books from npm.
 */

export type Side = "BUY" | "SELL"

/** A resting order; the book maintains the links. */
export interface Resting {
  readonly accountId: number
  readonly side: Side
  /** The limit price in ticks. */
  readonly price: number
  /** Lots left to trade. */
  left: number
  level: Level | null
  previous: Resting | null
  next: Resting | null
}

interface Level {
  readonly price: number
  /** Lots of all orders at this level. */
  quantity: number
  first: Resting | null
  last: Resting | null
}

/** An incoming order; `limit` null accepts any price. */
export interface Incoming {
  readonly accountId: number
  readonly side: Side
  readonly limit: number | null
  readonly quantity: number
  /** Limit on lots of one trade; absent: none. */
  readonly most?: number
}

export interface MatchRules<Maker extends Resting> {
  /**
   * Lots of a resting order that may trade now. For a reduce-only order this may be less than its remaining quantity; 0 removes
   * it.
   */
  readonly room: (maker: Maker) => number
  readonly traded: (maker: Maker, price: number, quantity: number) => void
  /** Called for a resting order that may not trade any more, after its removal. */
  readonly emptied: (maker: Maker) => void
}

export interface Matched {
  /** Lots that found no counterparty. */
  readonly left: number
  /** The next order in line belongs to the same account, so the remaining quantity must not trade (A2-42). */
  readonly selfTrade: boolean
}

export class Book<Maker extends Resting = Resting> {
  private readonly bids = new Ladder(1)
  private readonly asks = new Ladder(-1)

  /** Appends an order to its level. */
  add(order: Maker): void {
    this.sideOf(order.side).add(order)
  }

  /** Removes an order at any place; no-op for an order outside the book. */
  remove(order: Maker): void {
    this.sideOf(order.side).remove(order)
  }

  /** Changes the remaining quantity: a reduction keeps the order's place, an increase moves it to the end of its level. */
  resize(order: Maker, left: number): void {
    this.sideOf(order.side).resize(order, left)
  }

  /** The best price of a side in ticks, or null. */
  best(side: Side): number | null {
    return this.sideOf(side).best()?.price ?? null
  }

  /** Whether an order of that side and price would trade at once. */
  crosses(side: Side, limit: number | null): boolean {
    const best = this.against(side).best()
    return best !== null && reaches(side, limit, best.price)
  }

  /** Matches an incoming order against the other side by price, then time. */
  match({ accountId, side, limit, quantity, most = quantity }: Incoming, rules: MatchRules<Maker>): Matched {
    const ladder = this.against(side)
    let left = quantity
    while (left > 0) {
      const level = ladder.best()
      if (level === null || !reaches(side, limit, level.price)) break
      const maker = level.first as Maker
      if (maker.accountId === accountId) return { left, selfTrade: true }
      const traded = Math.min(left, rules.room(maker), most)
      if (traded === 0) {
        ladder.remove(maker)
        rules.emptied(maker)
        continue
      }
      left -= traded
      ladder.reduce(maker, traded)
      rules.traded(maker, level.price, traded)
    }
    return { left, selfTrade: false }
  }

  /** Lots that an incoming order could trade, up to its quantity; an order of the same account ends the count. */
  fillable({ accountId, side, limit, quantity }: Incoming, room: (maker: Maker) => number): number {
    let found = 0
    for (const level of this.against(side).fromBest()) {
      if (!reaches(side, limit, level.price)) break
      for (let maker = level.first; maker !== null; maker = maker.next) {
        if (maker.accountId === accountId) return found
        found += room(maker as Maker)
        if (found >= quantity) return quantity
      }
    }
    return found
  }

  /** The best levels of a side as price and lots, best first. */
  depth(side: Side, levels: number): Array<readonly [price: number, quantity: number]> {
    const found: Array<readonly [number, number]> = []
    for (const level of this.sideOf(side).fromBest()) {
      if (found.length === levels) break
      found.push([level.price, level.quantity])
    }
    return found
  }

  /** All orders of a side in order of execution. */
  *orders(side: Side): Generator<Maker> {
    for (const level of this.sideOf(side).fromBest()) {
      for (let order = level.first; order !== null; order = order.next) yield order as Maker
    }
  }

  private sideOf(side: Side): Ladder {
    return side === "BUY" ? this.bids : this.asks
  }

  private against(side: Side): Ladder {
    return side === "BUY" ? this.asks : this.bids
  }
}

const reaches = (side: Side, limit: number | null, price: number): boolean =>
  limit === null || (side === "BUY" ? price <= limit : price >= limit)

/** One side of the book; `direction` is 1 if a higher price is better. */
class Ladder {
  private readonly levels: Array<Level> = []
  private readonly direction: 1 | -1

  constructor(direction: 1 | -1) {
    this.direction = direction
  }

  best(): Level | null {
    return this.levels.at(-1) ?? null
  }

  *fromBest(): Generator<Level> {
    for (let at = this.levels.length - 1; at >= 0; at--) yield this.levels[at] as Level
  }

  add(order: Resting): void {
    const at = this.place(order.price)
    let level = this.levels[at]
    if (level?.price !== order.price) {
      level = { price: order.price, quantity: 0, first: null, last: null }
      if (at === this.levels.length) this.levels.push(level)
      else this.levels.splice(at, 0, level)
    }
    order.level = level
    order.previous = level.last
    order.next = null
    if (level.last === null) level.first = order
    else level.last.next = order
    level.last = order
    level.quantity += order.left
  }

  remove(order: Resting): void {
    const { level, previous, next } = order
    if (level === null) return
    if (previous === null) level.first = next
    else previous.next = next
    if (next === null) level.last = previous
    else next.previous = previous
    level.quantity -= order.left
    order.level = order.previous = order.next = null
    if (level.first === null) this.drop(level)
  }

  /** Reduces an order by lots and removes it at zero. */
  reduce(order: Resting, lots: number): void {
    if (order.level === null) return
    order.level.quantity -= lots
    order.left -= lots
    if (order.left === 0) this.remove(order)
  }

  resize(order: Resting, left: number): void {
    if (order.level === null) return
    if (left < order.left) {
      order.level.quantity += left - order.left
      order.left = left
    } else if (left > order.left) {
      this.remove(order)
      order.left = left
      this.add(order)
    }
  }

  private drop(level: Level): void {
    const at = this.place(level.price)
    if (at === this.levels.length - 1) this.levels.pop()
    else this.levels.splice(at, 1)
  }

  /** Index of the level of a price, or the index at which that level would be inserted. */
  private place(price: number): number {
    const { levels, direction } = this
    let low = 0
    let high = levels.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (((levels[middle] as Level).price - price) * direction < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
