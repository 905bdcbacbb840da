/**
 * How far the venue's events are taken: a low-water mark below which every event is committed, so that a reader that begins
 * there again misses none (A2-96). Plain bookkeeping without time or effects.
 */

/** Events taken above a hole that are remembered; more, and the stream is read again from the mark. */
const keptAbove = 10_000

export class EventCursor {
  /** Every event up to this number is taken. */
  mark: number
  /** The highest number seen. */
  highest: number
  private readonly pending = new Set<number>()
  private readonly taken = new Set<number>()

  constructor(mark: number) {
    this.mark = mark
    this.highest = mark
  }

  /** False for an event that is taken or being taken. */
  begin(number: number): boolean {
    if (number <= this.mark || this.pending.has(number) || this.taken.has(number)) return false
    this.pending.add(number)
    this.highest = Math.max(this.highest, number)
    return true
  }

  done(number: number): void {
    this.pending.delete(number)
    this.taken.add(number)
    while (this.taken.delete(this.mark + 1)) this.mark++
  }

  /** Whether an event is missing that should have come: nothing of the next number is being taken, and later ones are here. */
  get hole(): boolean {
    return this.highest > this.mark && !this.pending.has(this.mark + 1)
  }

  get full(): boolean {
    return this.taken.size > keptAbove
  }

  /** The venue says that there are events up to this number. */
  heard(number: number): void {
    this.highest = Math.max(this.highest, number)
  }

  /** What was said after the mark is asked for again; what is taken already is not taken twice. */
  again(): void {
    this.highest = this.mark
    for (const number of this.pending) this.highest = Math.max(this.highest, number)
    for (const number of this.taken) this.highest = Math.max(this.highest, number)
  }
}
