/**
 * Quarantines a repeated fault of a stream once a minute per kind: a faulty venue must not fill the quarantine
 * (A2-115).
 */
import { Effect } from "effect"
import type { Quarantine } from "../../ports/Quarantine.ts"
import { KindRate } from "./KindRate.ts"

/** Longest quarantined text, bytes. */
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

/** The kind of a fault: faults that differ in figures only are of the same kind. */
export const kindOf = (what: string, symbol: string, fault: string): string =>
  `${what}:${symbol}:${fault.replaceAll(/[0-9.]+/g, "")}`
