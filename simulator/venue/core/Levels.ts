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

interface Place<Item> extends Waiting<Item> {
  /** Taken out, or touched; it may still stand in its queue. */
  gone: boolean
}

/** Those that are gone are taken out of a queue once they are more than these and than those that wait. */
const fewGone = 64

class Queue<Item> {
  /** The next to be touched stands last. */
  private places: Array<Place<Item>> = []
  private gone = 0

  add(waiting: Place<Item>): void {
    this.places.splice(place(this.places, waiting), 0, waiting)
  }

  /** Costs nothing but now and then a pass over the queue: thousands may wait at one level, and end at once. */
  remove(waiting: Place<Item>): void {
    if (waiting.gone) return
    waiting.gone = true
    this.gone++
    if (this.gone <= fewGone || this.gone * 2 <= this.places.length) return
    this.places = this.places.filter((each) => !each.gone)
    this.gone = 0
  }

  /** The next to be touched; undefined: none waits. */
  get next(): Place<Item> | undefined {
    for (let last = this.places.at(-1); last !== undefined; last = this.places.at(-1)) {
      if (!last.gone) return last
      this.places.pop()
      this.gone--
    }
    return undefined
  }

  pop(): Place<Item> | null {
    const next = this.next
    if (next === undefined) return null
    this.places.pop()
    next.gone = true
    return next
  }

  get size(): number {
    return this.places.length - this.gone
  }

  /** The first to be touched first. */
  all(): ReadonlyArray<Waiting<Item>> {
    return this.places.filter((each) => !each.gone).toReversed()
  }
}

export class Levels<Item> {
  private readonly above = new Queue<Item>()
  private readonly below = new Queue<Item>()

  add(direction: Direction, level: number, item: Item): Waiting<Item> {
    const waiting: Place<Item> = { direction, level, item, gone: false }
    this.queueOf(direction).add(waiting)
    return waiting
  }

  /** Takes one out; one that was touched already is gone. */
  remove(waiting: Waiting<Item>): void {
    this.queueOf(waiting.direction).remove(waiting as Place<Item>)
  }

  /** Takes out the next one that a price has reached, or null. */
  touched(price: number): Waiting<Item> | null {
    const { above, below } = this
    if (above.next !== undefined && price >= above.next.level) return above.pop()
    if (below.next !== undefined && price <= below.next.level) return below.pop()
    return null
  }

  /** True when a price would touch the next one. */
  reaches(price: number): boolean {
    const [above, below] = [this.above.next, this.below.next]
    return (above !== undefined && price >= above.level) || (below !== undefined && price <= below.level)
  }

  /** All of them, in an order in which they can be added again: of one level the first to be touched first. */
  all(): ReadonlyArray<Waiting<Item>> {
    return [...this.above.all(), ...this.below.all()]
  }

  get size(): number {
    return this.above.size + this.below.size
  }

  private queueOf(direction: Direction): Queue<Item> {
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
