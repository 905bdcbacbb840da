/**
 * Quarantines a repeated fault of a stream once a minute per kind, so that a faulty venue does not fill the quarantine
 * (A2-115).
 */
import { Effect } from "effect"
import type { Quarantine } from "../../ports/Quarantine.ts"
import { KindRate } from "./KindRate.ts"

/** The most bytes of a quarantined text. */
const longest = 65_536

export class QuarantineRate {
  private readonly rate: KindRate
  private readonly quarantine: Quarantine["Service"]

  /** `now`: wall time, ms. */
  constructor(quarantine: Quarantine["Service"], now: () => number) {
    this.quarantine = quarantine
    this.rate = new KindRate(now)
  }

  add(kind: string, bytes: string, reason: string): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.rate.pass(kind) === null ? Effect.void : this.quarantine.add(bytes.slice(0, longest), reason)
    )
  }
}

/** The kind of a fault. Faults that differ only in figures are of the same kind. */
export const kindOf = (what: string, symbol: string, fault: string): string =>
  `${what}:${symbol}:${fault.replaceAll(/[0-9.]+/g, "")}`
