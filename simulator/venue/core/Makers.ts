/**
 * The simulator's own traders: a maker who quotes levels around the mark, and takers who now and then trade against the book.
 * Their accounts are like any other, so clients queue among their orders, and a client's resting order trades when the ladder
 * reaches its price.
 */
import type { SeededRandom } from "../../partner/SeededRandom.ts"
import type { Side } from "./Book.ts"
import type { Exchange, Listing } from "./Exchange.ts"
import { isLive, type Order } from "./Order.ts"

export interface LadderShape {
  readonly levels: number
  /** Ticks between best bid and best ask. */
  readonly spread: number
  /** Lots of each level; 0: no ladder. */
  readonly size: number
  /** Probability that a traded level is refilled at a quote; absent: always. */
  readonly refill?: number
}

interface Ladder {
  shape: LadderShape
  usual: LadderShape
  /** The ladder's orders by price; null for a level that was traded away. */
  readonly orders: Record<Side, Map<number, Order | null>>
}

/** Accounts of the simulator itself; the venue is the counterparty of everything outside a book. */
export const houseAccounts = { maker: -1, taker: -2, venue: -3 } as const

/** A ladder as plain JSON; its orders are in the book. */
export interface LadderState {
  readonly symbol: string
  readonly shape: LadderShape
  readonly usual: LadderShape
  /** The prices of levels that were traded away and not refilled, in ticks. */
  readonly gone?: Readonly<Record<Side, ReadonlyArray<number>>>
}

/** Common fields of the simulator's orders: without a ref, and free to open or close. */
const plain = { ref: null, reduceOnly: false, trigger: null, group: null } as const

export class Makers {
  private readonly exchange: Exchange
  random: SeededRandom
  private readonly ladders = new Map<string, Ladder>()

  constructor(exchange: Exchange, random: SeededRandom) {
    this.exchange = exchange
    this.random = random
    exchange.open(houseAccounts.maker, "house-maker")
    exchange.open(houseAccounts.taker, "house-taker")
    exchange.open(houseAccounts.venue, "house-venue")
  }

  /** Makes a market in `symbol` from the next `quote` on. */
  add(symbol: string, usual: LadderShape): void {
    this.ladders.set(symbol, { shape: usual, usual, orders: { BUY: new Map(), SELL: new Map() } })
  }

  /** Gives a market's ladder another shape until `restore`. */
  shape(symbol: string, shape: LadderShape): void {
    this.reshape(symbol, () => shape)
  }

  restore(symbol: string): void {
    this.reshape(symbol, ({ usual }) => usual)
  }

  shapeOf(symbol: string): LadderShape | null {
    return this.ladders.get(symbol)?.shape ?? null
  }

  /** Changes the shape to which a market's ladder returns, and uses it at once. */
  change(symbol: string, usual: LadderShape): void {
    this.reshape(symbol, (ladder) => (ladder.usual = usual))
  }

  /** Removes the ladder from the book until the next `quote`. */
  withdraw(listing: Listing): void {
    const ladder = this.ladders.get(listing.market.symbol)
    if (ladder !== undefined) for (const side of ["BUY", "SELL"] as const) this.clear(ladder, side, nothing)
  }

  /** Best bid and ask of the ladder once quoted; null where it does not quote. */
  top(listing: Listing): { readonly bid: number; readonly ask: number } | null {
    const ladder = this.ladders.get(listing.market.symbol)
    const middle = listing.prices.MARK
    if (ladder === undefined || middle === null || !quotes(ladder, listing)) return null
    return { bid: bestOf(ladder.shape, middle, "BUY"), ask: bestOf(ladder.shape, middle, "SELL") }
  }

  /** Moves the ladder to the mark and refills traded levels. */
  quote(listing: Listing): void {
    const ladder = this.ladders.get(listing.market.symbol)
    const middle = listing.prices.MARK
    if (ladder === undefined || middle === null || listing.halt !== null || listing.delisted) return
    const wanted = { BUY: pricesOf(ladder.shape, middle, "BUY"), SELL: pricesOf(ladder.shape, middle, "SELL") }
    // Conflicting levels are removed first, so that the ladder never trades with itself.
    for (const side of ["BUY", "SELL"] as const) this.clear(ladder, side, new Set(wanted[side]))
    for (const side of ["BUY", "SELL"] as const) this.fill(listing, ladder, side, wanted[side])
  }

  /** With the given probability a taker trades a small quantity on either side at the market. */
  trade(listing: Listing, probability: number): void {
    const ladder = this.ladders.get(listing.market.symbol)
    if (ladder === undefined || !quotes(ladder, listing)) return
    if (!this.random.chance(probability)) return
    this.exchange.place({
      ...plain,
      accountId: houseAccounts.taker,
      symbol: listing.market.symbol,
      side: this.random.chance(0.5) ? "BUY" : "SELL",
      price: null,
      quantity: this.random.between(1, Math.max(1, ladder.shape.size)),
      tif: "IOC"
    })
  }

  state(): ReadonlyArray<LadderState> {
    return [...this.ladders].map(([symbol, { shape, usual, orders }]) => {
      const gone = (side: Side) => [...orders[side]].flatMap(([price, order]) => (stands(order) ? [] : [price]))
      return { symbol, shape, usual, gone: { BUY: gone("BUY").toSorted(), SELL: gone("SELL").toSorted() } }
    })
  }

  /** Continues from a stored state; the maker's orders are in the books already. */
  adopt(states: ReadonlyArray<LadderState>): void {
    for (const { symbol, shape, usual, gone } of states) {
      const orders: Ladder["orders"] = { BUY: new Map(), SELL: new Map() }
      for (const side of ["BUY", "SELL"] as const) {
        for (const order of this.exchange.listings.get(symbol)?.book.orders(side) ?? [])
          if (order.accountId === houseAccounts.maker) orders[side].set(order.price, order)
        for (const price of gone?.[side] ?? []) orders[side].set(price, null)
      }
      this.ladders.set(symbol, { shape, usual, orders })
    }
  }

  private reshape(symbol: string, shapeOf: (ladder: Ladder) => LadderShape): void {
    const ladder = this.ladders.get(symbol)
    const listing = this.exchange.listings.get(symbol)
    if (ladder === undefined || listing === undefined) return
    for (const side of ["BUY", "SELL"] as const) this.clear(ladder, side, nothing)
    ladder.shape = shapeOf(ladder)
    this.quote(listing)
  }

  private clear(ladder: Ladder, side: Side, wanted: ReadonlySet<number>): void {
    for (const [price, order] of ladder.orders[side]) {
      if (wanted.has(price)) continue
      if (order !== null) this.exchange.cancel(order)
      ladder.orders[side].delete(price)
    }
  }

  private refills({ shape: { refill = 1 } }: Ladder): boolean {
    return refill === 1 || this.random.chance(refill)
  }

  private fill(listing: Listing, ladder: Ladder, side: Side, prices: ReadonlyArray<number>): void {
    if (ladder.shape.size === 0) return
    for (const price of prices) {
      const before = ladder.orders[side].get(price)
      if (before !== undefined && (stands(before) || !this.refills(ladder))) continue
      const order = this.exchange.place({
        ...plain,
        accountId: houseAccounts.maker,
        symbol: listing.market.symbol,
        side,
        price,
        quantity: this.random.between(Math.ceil(ladder.shape.size / 2), ladder.shape.size),
        tif: "GTC"
      })
      if (isLive(order)) ladder.orders[side].set(price, order)
    }
  }
}

const nothing: ReadonlySet<number> = new Set()

const stands = (order: Order | null): boolean => order !== null && isLive(order)

const quotes = ({ shape }: Ladder, { halt, delisted }: Listing): boolean =>
  shape.size > 0 && shape.levels > 0 && halt === null && !delisted

const bestOf = ({ spread }: LadderShape, middle: number, side: Side): number =>
  side === "BUY" ? middle - Math.floor(spread / 2) - 1 : middle + Math.ceil(spread / 2)

/** The levels of a side, best first. */
const pricesOf = (shape: LadderShape, middle: number, side: Side): ReadonlyArray<number> => {
  const best = bestOf(shape, middle, side)
  return Array.from({ length: shape.levels }, (_, n) => (side === "BUY" ? best - n : best + n)).filter(
    (price) => price > 0
  )
}
