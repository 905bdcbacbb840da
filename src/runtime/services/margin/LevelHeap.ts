/** A binary heap of numbered entries, ordered by level. Any entry can be moved or removed. */

/** The levels and places of the entries, which several heaps share. An entry lies in at most one of these heaps. */
export interface Entries {
  /**
   * The level of each entry. All entries of a heap use one unit: whole units of the market's last decimal place, or a plain
   * floating-point figure.
   */
  levels: Float64Array
  /** The index of each entry in the array of its heap; `nowhere` for an entry in no heap. */
  places: Int32Array
}

export class LevelHeap {
  private entries: Int32Array = new Int32Array(16)
  private count = 0
  private readonly shared: Entries
  /** The sign by which levels are compared. 1: the lowest level comes first; -1: the highest. */
  private readonly order: 1 | -1

  constructor(shared: Entries, first: "lowest" | "highest") {
    this.shared = shared
    this.order = first === "lowest" ? 1 : -1
  }

  get size(): number {
    return this.count
  }

  /** The number of the entry with the first level; -1 if the heap is empty. */
  get first(): number {
    return this.count === 0 ? -1 : (this.entries[0] as number)
  }

  add(entry: number): void {
    if (this.count === this.entries.length) {
      const more = new Int32Array(this.count * 2)
      more.set(this.entries)
      this.entries = more
    }
    this.rise(this.count++, entry)
  }

  remove(entry: number): void {
    const place = this.shared.places[entry] as number
    const last = this.entries[--this.count] as number
    if (last !== entry) this.settle(place, last)
  }

  /** Moves an entry of this heap to another level. */
  move(entry: number, level: number): void {
    this.shared.levels[entry] = level
    this.settle(this.shared.places[entry] as number, entry)
  }

  /** The first `count` entries in the order of their levels. */
  least(count: number): ReadonlyArray<number> {
    const found: Array<number> = []
    const waiting = this.count === 0 ? [] : [0]
    while (found.length < count && waiting.length > 0) {
      const at = waiting.reduce(
        (best, place, index) =>
          this.precedes(this.entries[place] as number, this.entries[waiting[best] as number] as number) ? index : best,
        0
      )
      const place = waiting.splice(at, 1)[0] as number
      found.push(this.entries[place] as number)
      for (const below of [2 * place + 1, 2 * place + 2]) if (below < this.count) waiting.push(below)
    }
    return found
  }

  private settle(place: number, entry: number): void {
    if (place > 0 && this.precedes(entry, this.entries[(place - 1) >> 1] as number)) this.rise(place, entry)
    else this.sink(place, entry)
  }

  private precedes(one: number, other: number): boolean {
    const { levels } = this.shared
    return ((levels[one] as number) - (levels[other] as number)) * this.order < 0
  }

  private put(place: number, entry: number): void {
    this.entries[place] = entry
    this.shared.places[entry] = place
  }

  private rise(from: number, entry: number): void {
    let place = from
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = this.entries[above] as number
      if (!this.precedes(entry, parent)) break
      this.put(place, parent)
      place = above
    }
    this.put(place, entry)
  }

  private sink(from: number, entry: number): void {
    let place = from
    for (let below = 2 * place + 1; below < this.count; below = 2 * place + 1) {
      const right = below + 1
      const second = right < this.count && this.precedes(this.entries[right] as number, this.entries[below] as number)
      const at = second ? right : below
      const child = this.entries[at] as number
      if (!this.precedes(child, entry)) break
      this.put(place, child)
      place = at
    }
    this.put(place, entry)
  }
}

/** The place of an entry that lies in no heap, for users of `enterInto`. */
export const nowhere = -1

/**
 * Adds an entry to a heap at a level, or moves the entry there. A level of null removes the entry and sets its place
 * to `nowhere`.
 */
export const enterInto = (
  heap: LevelHeap,
  { levels, places }: Entries,
  { entry, level }: { readonly entry: number; readonly level: number | null }
): void => {
  const isIn = places[entry] !== nowhere
  if (level === null) {
    if (isIn) heap.remove(entry)
    places[entry] = nowhere
  } else if (isIn) heap.move(entry, level)
  else {
    levels[entry] = level
    heap.add(entry)
  }
}
