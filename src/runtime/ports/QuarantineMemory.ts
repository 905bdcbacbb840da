/** A quarantine that keeps what it is given in memory, for tests. */
import { Effect } from "effect"
import { Quarantine } from "./Quarantine.ts"

export interface SetAside {
  readonly bytes: string
  readonly reason: string
}

/** Into `kept`, oldest first. */
export const quarantineMemory = (kept: Array<SetAside>): Quarantine["Service"] => ({
  add: (bytes, reason) => Effect.sync(() => void kept.push({ bytes, reason }))
})
