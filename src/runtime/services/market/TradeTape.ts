/** The newest public trades of one market, newest first and without repetition (A2-07). */
import { type Grid, onGrid } from "../../../machines/market/Grid.ts"
import type { MarketTradesWire } from "../../../machines/market/MarketWire.ts"
import { pageLimits } from "../../../machines/shared/Limits.ts"
import type { TradesMessage } from "../../../machines/venue/marketData.ts"
import { Shared } from "./Shared.ts"

type Row = MarketTradesWire["trades"][number]

/** The most page lengths that are cached. */
const keptPages = 16

export class TradeTape {
  private rows: ReadonlyArray<Row> = []
  private seq = 0
  private ts = 0
  private readonly symbol: string
  private readonly price: Grid
  private readonly qty: Grid
  /** Cached pages by length. */
  private readonly shown = new Shared<number, MarketTradesWire>(keptPages)

  constructor(symbol: string, price: Grid, qty: Grid) {
    this.symbol = symbol
    this.price = price
    this.qty = qty
  }

  /**
   * Applies a message. Returns the reason if the message is impossible; nothing has then changed. `latest`: the latest
   * possible time of a trade.
   */
  take(message: TradesMessage, latest: number): string | null {
    const added: Array<Row> = []
    for (const { id, price, qty, side, flags, ts } of message.trades) {
      const at = onGrid(price, this.price)
      const of = onGrid(qty, this.qty)
      if (at === null || at.units === 0) return `the price ${price} is not on the grid`
      if (of === null || of.units === 0) return `the quantity ${qty} is not on the grid`
      if (ts > latest) return "a trade is of a time to come"
      added.push({ tradeId: id, price: at.text, qty: of.text, side, flags, ts })
    }
    added.sort((a, b) => b.tradeId - a.tradeId)
    const before = message.kind === "snapshot" ? [] : this.rows
    const newest = before[0]?.tradeId ?? 0
    const fresh = added.filter(({ tradeId }, at) => tradeId > newest && tradeId !== added[at - 1]?.tradeId)
    this.rows = [...fresh, ...before].slice(0, pageLimits.marketTrades.max)
    this.seq = message.seq
    this.ts = message.ts
    return null
  }

  /** The newest trades. All readers get the same object until the next trade. */
  show(limit: number): MarketTradesWire {
    // Each message creates a new array, so its identity shows a change.
    return this.shown.of(this.rows, limit, () => ({
      symbol: this.symbol,
      trades: this.rows.slice(0, limit),
      asOfSeq: this.seq,
      ts: this.ts
    }))
  }
}
