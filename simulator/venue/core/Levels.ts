/**
 * Price levels that something waits for: triggers of conditional orders, barriers and take profits of contracts. A move
 * of the price touches those on the straight line from where it stood, the nearest first; those of one level in the order
 * in which they came. A move that touches nothing costs two comparisons, however many wait.
 */

export type Direction = "AT_OR_ABOVE" | "AT_OR_BELOW"

/** One waiting thing; handed back to take it out. */
export interface Waiting<Item> {
  readonly direction: Direction
  /** Ticks. */
  readonly level: number
  readonly item: Item
}

export class Levels<Item> {
  // The next to be touched stands last.
  private readonly above: Array<Waiting<Item>> = []
  private readonly below: Array<Waiting<Item>> = []

  add(direction: Direction, level: number, item: Item): Waiting<Item> {
    const waiting: Waiting<Item> = { direction, level, item }
    const queue = this.queueOf(direction)
    queue.splice(place(queue, waiting), 0, waiting)
    return waiting
  }

  /** Takes one out; one that was touched already is gone. */
  remove(waiting: Waiting<Item>): void {
    const queue = this.queueOf(waiting.direction)
    for (let at = place(queue, waiting); queue[at]?.level === waiting.level; at++) {
      if (queue[at] === waiting) return void queue.splice(at, 1)
    }
  }

  /** Takes out the next one that a price has reached, or null. */
  touched(price: number): Waiting<Item> | null {
    const above = this.above.at(-1)
    if (above !== undefined && price >= above.level) return this.above.pop() ?? null
    const below = this.below.at(-1)
    if (below !== undefined && price <= below.level) return this.below.pop() ?? null
    return null
  }

  /** True when a price would touch the next one. */
  reaches(price: number): boolean {
    const [above, below] = [this.above.at(-1), this.below.at(-1)]
    return (above !== undefined && price >= above.level) || (below !== undefined && price <= below.level)
  }

  /** All of them, in an order in which they can be added again: of one level the first to be touched first. */
  all(): ReadonlyArray<Waiting<Item>> {
    return [...this.above.toReversed(), ...this.below.toReversed()]
  }

  get size(): number {
    return this.above.length + this.below.length
  }

  private queueOf(direction: Direction): Array<Waiting<Item>> {
    return direction === "AT_OR_ABOVE" ? this.above : this.below
  }
}

/** The first place whose level is touched no later than this one: whoever waits there already is touched first. */
const place = <Item>(queue: ReadonlyArray<Waiting<Item>>, { direction, level }: Waiting<Item>): number => {
  const sign = direction === "AT_OR_ABOVE" ? -1 : 1
  let low = 0
  let high = queue.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (((queue[middle] as Waiting<Item>).level - level) * sign < 0) low = middle + 1
    else high = middle
  }
  return low
}
