/** The ends of one market's shares, in their order: below its mark the highest first, above it the lowest (RiskIndex). */
import { type Entries, enterInto, LevelHeap } from "./LevelHeap.ts"

export class MarketEnds {
  readonly symbol: string
  /** Its place among the markets of the index. */
  readonly number: number
  /** The last one known; NaN: there never was one. */
  mark = NaN
  /** The mark was fresh when it was last looked at. */
  live = false
  /** Positions that are to be looked at with the next fresh mark: what they have lost at a stale one was told to nobody (F3). */
  readonly untold = new Set<number>()
  /** Accounts with a position in it. */
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

  /** Enters an end in place of what it was; null: it lies nowhere. Even entries are lower ends. */
  enter(end: number, level: number | null): void {
    enterInto(end % 2 === 0 ? this.below : this.above, this.ends, { entry: end, level })
  }

  /** A position whose account the mark concerns; -1: none is left. */
  concerned(): number {
    const end = this.passed()
    if (end !== -1) return end >> 1
    return this.live && this.untold.size > 0 ? (this.untold.values().next().value as number) : -1
  }

  /** An end that the mark has reached. */
  private passed(): number {
    const low = this.below.first
    if (low !== -1 && (this.ends.levels[low] as number) >= this.mark) return low
    const high = this.above.first
    return high !== -1 && (this.ends.levels[high] as number) <= this.mark ? high : -1
  }

  /** Up to `count` ends on each side of the mark, the nearest ones. */
  nearest(count: number): ReadonlyArray<number> {
    return [...this.below.least(count), ...this.above.least(count)]
  }
}
