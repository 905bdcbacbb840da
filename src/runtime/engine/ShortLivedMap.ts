/**
 * A Map for entries that live for a short time.
 *
 * V8 replaces the table of a Map after some deletions and links the replaced table to its successor. A replaced table in the old
 * generation keeps every later table alive, with all the values in them. Short-lived values then survive into the old generation.
 * This map holds each value in a box and empties the box when its entry is deleted.
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

  /** Adds an entry, or replaces its value. A replaced value keeps the position of its entry. */
  set(key: K, value: V): void {
    const box = this.boxes.get(key)
    if (box === undefined) this.boxes.set(key, { value })
    else box.value = value
  }

  /** True if the entry existed. */
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

  /** The entries in the order of insertion. Entries may be deleted during the iteration. */
  *entries(): Generator<[K, V]> {
    for (const [key, { value }] of this.boxes) if (value !== undefined) yield [key, value]
  }

  *values(): Generator<V> {
    for (const { value } of this.boxes.values()) if (value !== undefined) yield value
  }
}
