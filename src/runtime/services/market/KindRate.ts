/** How often one kind of thing may be said: so often a minute, with how many more of it there were. Plain bookkeeping. */

const everyMillis = 60_000
/** Kinds that are remembered; beyond it all are said anew. */
const kindLimit = 4_096

interface Said {
  /** When its minute began. */
  readonly at: number
  said: number
  /** Held back. */
  more: number
}

export class KindRate {
  private readonly last = new Map<string, Said>()
  private readonly now: () => number
  private readonly most: number

  /** `now`: wall time, ms. `most`: how often a kind may be said in a minute. */
  constructor(now: () => number, most = 1) {
    this.now = now
    this.most = most
  }

  /** How many were held back before this one; null: it is held back itself. */
  pass(kind: string): number | null {
    const now = this.now()
    const last = this.last.get(kind)
    if (last !== undefined && now - last.at < everyMillis) {
      if (last.said < this.most) {
        last.said++
        return 0
      }
      last.more++
      return null
    }
    if (last === undefined && this.last.size === kindLimit) this.last.clear()
    this.last.set(kind, { at: now, said: 1, more: 0 })
    return last?.more ?? 0
  }

  /** Forgets kinds of which nothing was said for a minute; those with some held back, and how many. */
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
