/** What a stream repeats is set aside once a minute a kind: a venue that went wrong must not fill the quarantine (A2-115). */
import { Effect } from "effect"
import type { Quarantine } from "../../ports/Quarantine.ts"

const everyMillis = 60_000
/** Kinds that are remembered; beyond it all are set aside anew. */
const kindLimit = 4_096
/** Of the bytes. */
const longest = 65_536

export class QuarantineRate {
  /** By kind, when it was last set aside; wall time. */
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
      const last = this.last.get(kind)
      if (last !== undefined && now - last < everyMillis) return Effect.void
      if (this.last.size === kindLimit) this.last.clear()
      this.last.set(kind, now)
      return this.quarantine.add(bytes.slice(0, longest), reason)
    })
  }
}

/** The kind of a fault of something: the same fault with other figures is of the same kind. */
export const kindOf = (what: string, symbol: string, fault: string): string =>
  `${what}:${symbol}:${fault.replaceAll(/[0-9.]+/g, "")}`
