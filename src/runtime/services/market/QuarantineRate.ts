/**
 * What the venue repeats is set aside once a minute a kind, and no more than so much a minute of all kinds: a venue that went
 * wrong must not fill the quarantine (A2-115).
 */
import { Effect } from "effect"
import type { Quarantine } from "../../ports/Quarantine.ts"

const everyMillis = 60_000
/** Of all kinds, within `everyMillis`. */
const kindLimit = 256
/** Of the bytes. */
const longest = 65_536

export class QuarantineRate {
  /** By kind, when it was last set aside, oldest first; wall time. */
  private readonly last = new Map<string, number>()
  private readonly quarantine: Quarantine["Service"]
  private readonly now: () => number

  constructor(quarantine: Quarantine["Service"], now: () => number) {
    this.quarantine = quarantine
    this.now = now
  }

  add(kind: string, bytes: string, reason: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const now = this.now()
      for (const [each, at] of this.last) {
        if (now - at < everyMillis) break
        this.last.delete(each)
      }
      if (this.last.has(kind) || this.last.size === kindLimit) return Effect.void
      this.last.set(kind, now)
      return this.quarantine.add(bytes.slice(0, longest), reason)
    })
  }
}
