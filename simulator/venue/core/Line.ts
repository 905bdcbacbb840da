/** A first in, first out queue whose operations take constant time. */
export class Line<A> {
  private items: Array<A> = []
  private head = 0

  get size(): number {
    return this.items.length - this.head
  }

  push(item: A): void {
    this.items.push(item)
  }

  /** Removes the oldest; undefined if the queue is empty. */
  shift(): A | undefined {
    const item = this.items[this.head]
    if (this.size > 0) this.head++
    // Once half of the array is free, the rest moves to the front in one step, so that a removal is cheap on average.
    if (this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head)
      this.head = 0
    }
    return item
  }

  /** All elements, oldest first. */
  all(): ReadonlyArray<A> {
    return this.items.slice(this.head)
  }
}
