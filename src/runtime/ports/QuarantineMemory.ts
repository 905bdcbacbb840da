/** A quarantine in memory, for tests. */
import { Effect } from "effect"
import { Quarantine } from "./Quarantine.ts"

export interface QuarantineEntry {
  readonly bytes: string
  readonly reason: string
}

/** A quarantine that appends its entries to `kept`, oldest first. */
export const quarantineMemory = (kept: Array<QuarantineEntry>): Quarantine["Service"] => ({
  add: (bytes, reason) => Effect.sync(() => void kept.push({ bytes, reason }))
})
