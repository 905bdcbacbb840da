/**
 * For each account, the range of marks within which its equity covers all of its working orders. The index holds only
 * accounts whose orders could cost more than the margin of their positions covers. A new mark finds exactly the
 * accounts whose range it has left. No IO (F13).
 */
import type { OrderRange } from "../trading/order/orderBounds.ts"
import { type Entries, nowhere } from "./LevelHeap.ts"
import { MarketEnds } from "./MarketEnds.ts"

const startSize = 64

export class OrderRanges {
  private readonly ends: Entries = {
    levels: new Float64Array(2 * startSize),
    places: new Int32Array(2 * startSize).fill(nowhere)
  }
  private readonly markets = new Map<string, MarketEnds>()
  /** The client of each range, by range number. Numbers in `free` belong to no range and are used again. */
  private readonly owners: Array<number> = []
  private readonly free: Array<number> = []
  private readonly ranges = new Map<number, ReadonlyArray<{ readonly at: number; readonly market: MarketEnds }>>()

  has(clientId: number): boolean {
    return this.ranges.has(clientId)
  }

  /** Replaces the ranges of an account; an empty list removes the account. */
  put(clientId: number, ranges: ReadonlyArray<OrderRange>): void {
    this.remove(clientId)
    if (ranges.length === 0) return
    const entered = ranges.map(({ symbol, low, high }) => {
      const [at, market] = [this.newRange(clientId), this.marketOf(symbol)]
      market.enter(2 * at, low)
      market.enter(2 * at + 1, high)
      return { at, market }
    })
    this.ranges.set(clientId, entered)
  }

  /** Removes and returns at most `most` accounts whose range the mark `price` has left. */
  left(symbol: string, price: number, most: number): ReadonlyArray<number> {
    const market = this.markets.get(symbol)
    const found: Array<number> = []
    if (market === undefined) return found
    market.mark = price
    for (let at = market.concerned(); at !== -1 && found.length < most; at = market.concerned()) {
      const clientId = this.owners[at] as number
      this.remove(clientId)
      found.push(clientId)
    }
    return found
  }

  private remove(clientId: number): void {
    for (const { at, market } of this.ranges.get(clientId) ?? []) {
      market.enter(2 * at, null)
      market.enter(2 * at + 1, null)
      this.free.push(at)
    }
    this.ranges.delete(clientId)
  }

  private newRange(clientId: number): number {
    const at = this.free.pop() ?? this.owners.length
    this.owners[at] = clientId
    if (2 * at >= this.ends.levels.length) this.grow()
    return at
  }

  private grow(): void {
    const { levels, places } = this.ends
    this.ends.levels = new Float64Array(2 * levels.length)
    this.ends.levels.set(levels)
    this.ends.places = new Int32Array(2 * places.length).fill(nowhere)
    this.ends.places.set(places)
  }

  private marketOf(symbol: string): MarketEnds {
    const market = this.markets.get(symbol) ?? new MarketEnds(symbol, this.markets.size, this.ends)
    this.markets.set(symbol, market)
    return market
  }
}
