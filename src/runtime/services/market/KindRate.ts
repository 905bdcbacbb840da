/** Limits a log to a number of messages per kind and minute, and counts those that it suppresses. No effects. */

const everyMillis = 60_000
/** The most kinds in memory. With more kinds all counts begin again. */
const kindLimit = 4_096

interface Counted {
  /** The start of the kind's present minute, wall ms. */
  readonly at: number
  passed: number
  /** The number of messages suppressed in this minute. */
  more: number
}

export class KindRate {
  private readonly last = new Map<string, Counted>()
  private readonly now: () => number
  private readonly most: number

  /** `now`: wall time, ms. `most`: messages of a kind per minute. */
  constructor(now: () => number, most = 1) {
    this.now = now
    this.most = most
  }

  /** Returns the number of messages suppressed before this one; null: this one is suppressed. */
  pass(kind: string): number | null {
    const now = this.now()
    const last = this.last.get(kind)
    if (last !== undefined && now - last.at < everyMillis) {
      if (last.passed < this.most) {
        last.passed++
        return 0
      }
      last.more++
      return null
    }
    if (last === undefined && this.last.size === kindLimit) this.last.clear()
    this.last.set(kind, { at: now, passed: 1, more: 0 })
    return last?.more ?? 0
  }

  /** Removes kinds without a message for a minute. Returns the kinds with suppressed messages, and their numbers. */
  settle(): ReadonlyArray<{ readonly kind: string; readonly more: number }> {
    const now = this.now()
    const held: Array<{ readonly kind: string; readonly more: number }> = []
    for (const [kind, { at, more }] of this.last) {
      if (now - at < everyMillis) continue
      this.last.delete(kind)
      if (more > 0) held.push({ kind, more })
    }
    return held
  }
}
