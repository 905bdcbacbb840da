/**
 * The cursor of the venue's events. Every event up to its checkpoint is committed, so a reader that restarts there
 * misses no event. An event number is plausible only near the number in the venue's last heartbeat. No IO and no clock
 * (A2-96, A2-115).
 */
import { Effect, Latch } from "effect"

/** The most events above the checkpoint that are done or in progress. Further events wait until the checkpoint advances. */
export const heldLimit = 10_000
/**
 * The largest plausible distance of an event number beyond the last heartbeat. Events arrive before the heartbeat with
 * their number.
 */
export const aheadLimit = 100_000

export class EventCursor {
  /** The checkpoint: every event up to this number is done. */
  mark: number
  /** The venue's last event number, by the last heartbeat of this connection. */
  private reported: number
  /** True: this connection has had no heartbeat yet. */
  private fresh = true
  /** The highest event number that is done or in progress. */
  private furthest: number
  private readonly pending = new Set<number>()
  private readonly taken = new Set<number>()
  /** Opens when no event is in progress. */
  private readonly ended = Latch.makeUnsafe(false)
  /** True: later events don't wait for those in progress, until these have ended. */
  private isLeft = false

  constructor(mark: number) {
    this.mark = mark
    this.reported = mark
    this.furthest = mark
  }

  /** Whether an event number is plausible. Events with other numbers are never started. */
  believes(number: number): boolean {
    return number <= Math.max(this.reported, this.mark) + aheadLimit
  }

  /** Whether an event is done or in progress. */
  has(number: number): boolean {
    return number <= this.mark || this.pending.has(number) || this.taken.has(number)
  }

  /** Starts an event. False: it is done or in progress. */
  begin(number: number): boolean {
    if (this.has(number)) return false
    this.pending.add(number)
    this.furthest = Math.max(this.furthest, number)
    return true
  }

  /** Marks an event as committed or quarantined. No-op for an event that was dropped (`forget`), because it arrives again. */
  done(number: number): void {
    if (!this.pending.delete(number)) return
    if (this.pending.size === 0) {
      this.isLeft = false
      this.ended.openUnsafe()
    }
    this.taken.add(number)
    while (this.taken.delete(this.mark + 1)) this.mark++
  }

  /** Drops an event that was not applied. It counts as missing, and is read again. */
  forget(number: number): void {
    this.pending.delete(number)
  }

  /** True: the next event is missing although later ones have arrived. */
  get hole(): boolean {
    return Math.max(this.reported, this.furthest) > this.mark && !this.pending.has(this.mark + 1)
  }

  /** The first plausible event after the missing ones; null: none has arrived. */
  get afterHole(): number | null {
    let first = Number.POSITIVE_INFINITY
    for (const held of [this.pending, this.taken]) for (const number of held) first = Math.min(first, number)
    return first <= this.reported ? first : null
  }

  /** Skips the missing events before this number for good. */
  pass(number: number): void {
    this.mark = number - 1
    while (this.taken.delete(this.mark + 1)) this.mark++
  }

  /** Completes when no event is in progress, and at once while events are left behind. */
  readonly idle: Effect.Effect<void> = Effect.suspend(() => {
    if (this.pending.size === 0 || this.isLeft) return Effect.void
    this.ended.closeUnsafe()
    return this.ended.await
  })

  /** No longer lets later events wait for those in progress. */
  leaveBehind(): void {
    this.isLeft = true
  }

  /** Whether an event may start now. The event after the checkpoint always may. */
  hasRoom(number: number): boolean {
    return this.held < heldLimit || number === this.mark + 1 || this.has(number)
  }

  /** The number of events above the checkpoint that are done or in progress. */
  get held(): number {
    return this.pending.size + this.taken.size
  }

  /**
   * Applies the event number of a heartbeat. False: the number is implausible. Only the first heartbeat of a connection
   * may be far ahead, because later numbers follow events on this connection. Held events beyond the number do not
   * exist at the venue. They are dropped, because they would leave a permanent hole.
   */
  heartbeat(number: number): boolean {
    if (!this.fresh && number > Math.max(this.reported, this.furthest) + aheadLimit) return false
    this.fresh = false
    this.reported = Math.max(number, this.mark)
    if (this.furthest > this.reported) {
      for (const held of [this.pending, this.taken]) {
        for (const each of held) if (each > this.reported) held.delete(each)
      }
      this.furthest = this.reported
    }
    return true
  }

  /** Prepares a new connection, which reads again from the checkpoint. Events that are already done are not applied again. */
  again(): void {
    this.fresh = true
    this.reported = this.mark
  }
}
