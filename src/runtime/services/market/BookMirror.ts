/**
 * One market's order book, from the venue's channel: a snapshot, then updates. Each message is checked level by level
 * and by the venue's checksum. A message that does not fit leaves the book unchanged, and the reason is returned (F30).
 */
import { type Grid, onGrid } from "../../../machines/market/Grid.ts"
import type { OrderBookWire } from "../../../machines/market/MarketWire.ts"
import type { BookMessage } from "../../../machines/venue/marketData.ts"
import { bookChecksum, type Level } from "./bookChecksum.ts"
import { Shared } from "./Shared.ts"

interface BookLevel {
  /** The price in units of its last decimal place. */
  readonly units: number
  /** The level in the venue's own text, over which the checksum is computed. */
  readonly raw: Level
  /** The level on the grid, as partners see it (F2). */
  readonly shown: Level
}

type Side = ReadonlyArray<BookLevel>

/** Levels per side: the limit of a snapshot, and the limit of a book that grows by updates. */
const snapshotLevels = 100
const keptLevels = 2 * snapshotLevels
/** The number of depths whose pages are cached per book. */
const shownDepths = 4

export class BookMirror {
  private bids: Side = []
  private asks: Side = []
  private seq = 0
  private ts = 0
  private readonly symbol: string
  private readonly price: Grid
  private readonly qty: Grid
  /** Cached pages by depth. */
  private readonly shown = new Shared<number, OrderBookWire>(shownDepths)

  constructor(symbol: string, price: Grid, qty: Grid) {
    this.symbol = symbol
    this.price = price
    this.qty = qty
  }

  /** Applies a message. Returns the reason if the message is impossible; the book is then unchanged. */
  take(message: BookMessage): string | null {
    const fresh = message.kind === "snapshot"
    const bids = this.side(fresh ? [] : this.bids, message.bids, -1)
    if (typeof bids === "string") return bids
    const asks = this.side(fresh ? [] : this.asks, message.asks, 1)
    if (typeof asks === "string") return asks
    const [bid, ask] = [bids[0], asks[0]]
    if (bid !== undefined && ask !== undefined && bid.units >= ask.units) return "the book is crossed"
    if (bookChecksum(bids.map(raw), asks.map(raw)) !== message.checksum) return wrongChecksum
    this.bids = bids
    this.asks = asks
    this.seq = message.seq
    this.ts = message.ts
    return null
  }

  /** The best levels. All readers get the same object until the book changes. */
  show(depth: number): OrderBookWire {
    // Each message creates new sides, so their identity shows a change.
    return this.shown.of(this.bids, depth, () => {
      const bids = this.bids.slice(0, depth).map((level) => level.shown)
      const asks = this.asks.slice(0, depth).map((level) => level.shown)
      return {
        symbol: this.symbol,
        bids,
        asks,
        checksum: bookChecksum(bids, asks),
        asOfSeq: this.seq,
        ts: this.ts
      }
    })
  }

  /**
   * A side with the levels of a message, best first. `sign` -1: the highest price first. Returns the reason if a level
   * is impossible.
   */
  private side(before: Side, levels: ReadonlyArray<Level>, sign: 1 | -1): Side | string {
    if (levels.length > keptLevels) return "the book has too many levels"
    const after = [...before]
    for (const level of levels) {
      const price = onGrid(level[0], this.price)
      const qty = onGrid(level[1], this.qty)
      if (price === null || price.units === 0) return `the price ${level[0]} is not on the grid`
      if (qty === null) return `the quantity ${level[1]} is not on the grid`
      const at = place(after, price.units * sign, sign)
      const replaced = after[at]?.units === price.units ? 1 : 0
      const put = qty.units === 0 ? [] : [{ units: price.units, raw: level, shown: [price.text, qty.text] as const }]
      after.splice(at, replaced, ...put)
    }
    return after.length > keptLevels ? "the book has too many levels" : after
  }
}

/** The reason for a wrong checksum. It means that a message was lost, which a new snapshot repairs. */
export const wrongChecksum = "the checksum does not fit the book"

const raw = (level: BookLevel): Level => level.raw

/** The index of a price, or the index at which it would be inserted. */
const place = (side: Side, signed: number, sign: 1 | -1): number => {
  let low = 0
  let high = side.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((side[middle]?.units ?? 0) * sign < signed) low = middle + 1
    else high = middle
  }
  return low
}
