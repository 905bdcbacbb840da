/**
 * How far the venue's events are taken: a low-water mark below which every event is committed, so that a reader that begins
 * there again misses none (A2-96). A number is believed as far as the venue's heartbeats bear it out (A2-115). Plain
 * bookkeeping without time or effects.
 */

/** Events above the mark that are taken or being taken; with so many the next ones wait until the mark moves. */
export const heldLimit = 10_000
/** How far beyond the venue's last heartbeat a number may lie: events come before the heartbeat that names them. */
export const unheardLimit = 100_000

export class EventCursor {
  /** Every event up to this number is taken. */
  mark: number
  /** How far the venue is, by its last heartbeat of this connection. */
  private said: number
  /** Whether this connection has had no heartbeat yet. */
  private fresh = true
  /** No event above is held. */
  private furthest: number
  private readonly pending = new Set<number>()
  private readonly taken = new Set<number>()

  constructor(mark: number) {
    this.mark = mark
    this.said = mark
    this.furthest = mark
  }

  /** Whether the venue can have so many events: a number that it can't have never begins. */
  believes(number: number): boolean {
    return number <= Math.max(this.said, this.mark) + unheardLimit
  }

  /** False for an event that is taken or being taken. */
  begin(number: number): boolean {
    if (number <= this.mark || this.pending.has(number) || this.taken.has(number)) return false
    this.pending.add(number)
    this.furthest = Math.max(this.furthest, number)
    return true
  }

  /** It is committed, or set aside. One that was forgotten meanwhile comes again. */
  done(number: number): void {
    if (!this.pending.delete(number)) return
    this.taken.add(number)
    while (this.taken.delete(this.mark + 1)) this.mark++
  }

  /** It could not be taken: it is missing, and comes again. */
  forget(number: number): void {
    this.pending.delete(number)
  }

  /** Whether an event is missing that should have come: nothing of the next number is being taken, and there are later ones. */
  get hole(): boolean {
    return Math.max(this.said, this.furthest) > this.mark && !this.pending.has(this.mark + 1)
  }

  /** The first event after a hole, of those that the venue's last word bears out; null: there is none. */
  get afterHole(): number | null {
    let first = Number.POSITIVE_INFINITY
    for (const held of [this.pending, this.taken]) for (const number of held) first = Math.min(first, number)
    return first <= this.said ? first : null
  }

  /** What is missing before this number is missing for good. */
  pass(number: number): void {
    this.mark = number - 1
    while (this.taken.delete(this.mark + 1)) this.mark++
  }

  /** Whether an event may begin now. The one that the mark waits for always may. */
  hasRoom(number: number): boolean {
    return this.held < heldLimit || number <= this.mark + 1 || this.pending.has(number) || this.taken.has(number)
  }

  /** Events above the mark that are taken or being taken. */
  get held(): number {
    return this.pending.size + this.taken.size
  }

  /**
   * The venue says that there are events up to this number. False when that can't be believed: only the first heartbeat of a
   * connection may be far ahead, for all that is named later has come on it before. What lies beyond it does not exist: such
   * events are forgotten, so that none of them is a hole for ever.
   */
  heard(number: number): boolean {
    if (!this.fresh && number > Math.max(this.said, this.furthest) + unheardLimit) return false
    this.fresh = false
    this.said = Math.max(number, this.mark)
    if (this.furthest > this.said) {
      for (const held of [this.pending, this.taken]) {
        for (const each of held) if (each > this.said) held.delete(each)
      }
      this.furthest = this.said
    }
    return true
  }

  /** What was said after the mark is asked for again, on a new connection; what is taken already is not taken twice. */
  again(): void {
    this.fresh = true
    this.said = this.mark
  }
}
