/** A line of things, first in, first out, at a cost that does not grow with it. */
export class Line<A> {
  private items: Array<A> = []
  private head = 0

  get size(): number {
    return this.items.length - this.head
  }

  push(item: A): void {
    this.items.push(item)
  }

  /** Takes out the oldest; undefined when there is none. */
  shift(): A | undefined {
    const item = this.items[this.head]
    if (this.size > 0) this.head++
    // Half of it is gone: moved at once, so that one costs nothing.
    if (this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head)
      this.head = 0
    }
    return item
  }

  /** The oldest first. */
  all(): ReadonlyArray<A> {
    return this.items.slice(this.head)
  }
}
