/**
 * The ends of the positions' mark ranges in one market, in order: below its mark the highest first, above it the
 * lowest first (F3).
 */
import { type Entries, enterInto, LevelHeap } from "./LevelHeap.ts"

export class MarketEnds {
  readonly symbol: string
  /** The index of the market in the risk index. */
  readonly number: number
  /** The last known mark price. NaN: the market has never had a mark. */
  mark = NaN
  /** True: the mark was fresh at the last check. */
  live = false
  /** Positions whose loss at a stale mark caused no notice. They are checked at the next fresh mark. */
  readonly untold = new Set<number>()
  /** The number of accounts with a position in the market. */
  holders = 0
  retailCap = 0
  professionalCap = 0
  private readonly ends: Entries
  private readonly below: LevelHeap
  private readonly above: LevelHeap

  constructor(symbol: string, number: number, ends: Entries) {
    this.symbol = symbol
    this.number = number
    this.ends = ends
    this.below = new LevelHeap(ends, "highest")
    this.above = new LevelHeap(ends, "lowest")
  }

  /** Sets or moves an end; null removes it. Even entries are lower ends. */
  enter(end: number, level: number | null): void {
    enterInto(end % 2 === 0 ? this.below : this.above, this.ends, { entry: end, level })
  }

  /** The next position that the mark affects; -1: none is left. */
  concerned(): number {
    const end = this.passed()
    if (end !== -1) return end >> 1
    return this.live && this.untold.size > 0 ? (this.untold.values().next().value as number) : -1
  }

  /** An end that the mark has reached; -1: none is. */
  private passed(): number {
    const low = this.below.first
    if (low !== -1 && (this.ends.levels[low] as number) >= this.mark) return low
    const high = this.above.first
    return high !== -1 && (this.ends.levels[high] as number) <= this.mark ? high : -1
  }

  /** The `count` nearest ends on each side of the mark. */
  nearest(count: number): ReadonlyArray<number> {
    return [...this.below.least(count), ...this.above.least(count)]
  }
}
