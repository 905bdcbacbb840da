/**
 * A Map for entries that come and go at speed.
 *
 * V8 replaces the table of a Map after some deletions and links the replaced table to its successor. A replaced table that has
 * reached the old generation keeps alive every table after it, and so every value that those tables still hold: short-lived
 * values grow old with them. This map holds each value in a box and empties the box when its entry leaves.
 */
export class ShortLivedMap<K, V extends NonNullable<unknown>> {
  private readonly boxes = new Map<K, { value: V | undefined }>()

  get size(): number {
    return this.boxes.size
  }

  has(key: K): boolean {
    return this.boxes.has(key)
  }

  get(key: K): V | undefined {
    return this.boxes.get(key)?.value
  }

  /** Adds an entry, or replaces its value at its place. */
  set(key: K, value: V): void {
    const box = this.boxes.get(key)
    if (box === undefined) this.boxes.set(key, { value })
    else box.value = value
  }

  /** Whether there was such an entry. */
  delete(key: K): boolean {
    const box = this.boxes.get(key)
    if (box === undefined) return false
    box.value = undefined
    return this.boxes.delete(key)
  }

  clear(): void {
    for (const box of this.boxes.values()) box.value = undefined
    this.boxes.clear()
  }

  keys(): IterableIterator<K> {
    return this.boxes.keys()
  }

  /** In the order of their entries. Entries may leave while they are iterated. */
  *entries(): Generator<[K, V]> {
    for (const [key, { value }] of this.boxes) if (value !== undefined) yield [key, value]
  }

  *values(): Generator<V> {
    for (const { value } of this.boxes.values()) if (value !== undefined) yield value
  }
}
