/**
 * Price levels with waiting items: triggers of conditional orders, barriers and take profits of contracts. A price move touches
 * the levels on its straight line, the nearest first, and the items of one level in order of arrival. A move that touches no
 * level costs two comparisons, however many items wait. Insertion and removal cost a few steps, however many items share a
 * level.
 */

export type Direction = "AT_OR_ABOVE" | "AT_OR_BELOW"

/** A waiting item; the handle for its removal. */
export interface Waiting<Item> {
  readonly direction: Direction
  /** Ticks. */
  readonly level: number
  readonly item: Item
}

export class Levels<Item> {
  private readonly above = new Queue<Item>("AT_OR_ABOVE")
  private readonly below = new Queue<Item>("AT_OR_BELOW")

  add(direction: Direction, level: number, item: Item): Waiting<Item> {
    return this.queueOf(direction).add(level, item)
  }

  /** Removes an item; no-op for an item that was touched already. */
  remove(waiting: Waiting<Item>): void {
    this.queueOf(waiting.direction).remove(waiting)
  }

  /** Removes and returns the next item that a price has reached, or null. */
  touched(price: number): Waiting<Item> | null {
    return this.above.touched(price) ?? this.below.touched(price)
  }

  /** Whether a price would touch the next item. */
  reaches(price: number): boolean {
    return this.above.reaches(price) || this.below.reaches(price)
  }

  /** All items, ordered so that they can be added again: at one level, the first to be touched first. */
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

/** A waiting item. There can be very many, so shared data are in the line of their level. */
class Entry<Item> implements Waiting<Item> {
  readonly item: Item
  readonly line: Line<Item>
  /** The previous item in the same line; null: this item is the first; undefined: this item was removed. */
  previous: Entry<Item> | null | undefined
  next: Entry<Item> | null = null

  constructor(item: Item, line: Line<Item>) {
    this.item = item
    this.line = line
    this.previous = line.last
  }

  get direction(): Direction {
    return this.line.direction
  }

  get level(): number {
    return this.line.level
  }
}

/** The items of one level, the first to be touched first. */
interface Line<Item> {
  readonly direction: Direction
  readonly level: number
  first: Entry<Item> | null
  last: Entry<Item> | null
}

/** Limit on empty lines before they are removed. */
const fewEmpty = 64

/** The items of one direction: a heap of their lines, the nearest on top. An empty line is removed when it reaches the top. */
class Queue<Item> {
  size = 0
  private readonly direction: Direction
  private readonly lines = new Map<number, Line<Item>>()
  private heap: Array<Line<Item>> = []
  private empty = 0

  constructor(direction: Direction) {
    this.direction = direction
  }

  add(level: number, item: Item): Waiting<Item> {
    const line = this.lineOf(level)
    const entry = new Entry(item, line)
    if (line.last === null) line.first = entry
    else line.last.next = entry
    line.last = entry
    this.size++
    return entry
  }

  remove(waiting: Waiting<Item>): void {
    const entry = waiting as Entry<Item>
    const { line, previous, next } = entry
    if (previous === undefined) return
    if (previous === null) line.first = next
    else previous.next = next
    if (next === null) line.last = previous
    else next.previous = previous
    entry.previous = undefined
    entry.next = null
    this.size--
    if (line.first === null) this.empty++
    if (this.empty > fewEmpty && this.empty * 2 > this.heap.length) this.clear()
  }

  touched(price: number): Waiting<Item> | null {
    if (!this.reaches(price)) return null
    const entry = this.heap[0]?.first ?? null
    if (entry !== null) this.remove(entry)
    return entry
  }

  reaches(price: number): boolean {
    for (let top = this.heap[0]; top !== undefined; top = this.heap[0]) {
      if (top.first !== null) return this.direction === "AT_OR_ABOVE" ? price >= top.level : price <= top.level
      this.lines.delete(top.level)
      this.empty--
      this.takeTop()
    }
    return false
  }

  all(): ReadonlyArray<Waiting<Item>> {
    const found: Array<Waiting<Item>> = []
    for (const { first } of this.heap.toSorted((one, other) => this.distance(one, other))) {
      for (let entry = first; entry !== null; entry = entry.next) found.push(entry)
    }
    return found
  }

  private lineOf(level: number): Line<Item> {
    const known = this.lines.get(level)
    if (known !== undefined) {
      if (known.first === null) this.empty--
      return known
    }
    const line: Line<Item> = { direction: this.direction, level, first: null, last: null }
    this.lines.set(level, line)
    this.heap.push(line)
    this.raise(this.heap.length - 1)
    return line
  }

  /** Compares the levels of two lines: negative if a price that moves in this direction reaches the first line first. */
  private distance(one: Line<Item>, other: Line<Item>): number {
    return this.direction === "AT_OR_ABOVE" ? one.level - other.level : other.level - one.level
  }

  /** Removes all empty lines. A sorted array is a heap. */
  private clear(): void {
    for (const { level, first } of this.heap) if (first === null) this.lines.delete(level)
    this.heap = [...this.lines.values()].toSorted((one, other) => this.distance(one, other))
    this.empty = 0
  }

  private raise(from: number): void {
    const { heap } = this
    for (let at = from; at > 0;) {
      const above = (at - 1) >>> 1
      if (this.distance(heap[at] as Line<Item>, heap[above] as Line<Item>) >= 0) return
      this.swap(at, above)
      at = above
    }
  }

  private takeTop(): void {
    const { heap } = this
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    heap[0] = last
    for (let at = 0; ;) {
      let nearest = at
      for (const below of [2 * at + 1, 2 * at + 2]) {
        const line = heap[below]
        if (line !== undefined && this.distance(line, heap[nearest] as Line<Item>) < 0) nearest = below
      }
      if (nearest === at) return
      this.swap(at, nearest)
      at = nearest
    }
  }

  private swap(one: number, other: number): void {
    const { heap } = this
    const line = heap[one] as Line<Item>
    heap[one] = heap[other] as Line<Item>
    heap[other] = line
  }
}
