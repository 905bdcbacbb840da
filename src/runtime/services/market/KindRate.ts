/** How often one kind of thing may be said: once a minute, with how many more of it there were. Plain bookkeeping. */

const everyMillis = 60_000
/** Kinds that are remembered; beyond it all are said anew. */
const kindLimit = 4_096

interface Said {
  readonly at: number
  more: number
}

export class KindRate {
  private readonly last = new Map<string, Said>()
  private readonly now: () => number

  /** `now`: wall time, ms. */
  constructor(now: () => number) {
    this.now = now
  }

  /** How many were held back before this one; null: it is held back itself. */
  pass(kind: string): number | null {
    const now = this.now()
    const last = this.last.get(kind)
    if (last !== undefined && now - last.at < everyMillis) {
      last.more++
      return null
    }
    if (last === undefined && this.last.size === kindLimit) this.last.clear()
    this.last.set(kind, { at: now, more: 0 })
    return last?.more ?? 0
  }
}
