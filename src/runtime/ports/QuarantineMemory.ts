/** A quarantine that keeps what it is given in memory, for tests, or logs it alone. */
import { Effect, Layer } from "effect"
import { Quarantine } from "./Quarantine.ts"

export interface SetAside {
  readonly bytes: string
  readonly reason: string
}

/** Into `kept`, oldest first. */
export const quarantineMemory = (kept: Array<SetAside>): Quarantine["Service"] => ({
  add: (bytes, reason) => Effect.sync(() => void kept.push({ bytes, reason }))
})

/** Keeps nothing: an error in the log, with the beginning of the bytes. */
export const layerQuarantineLog: Layer.Layer<Quarantine> = Layer.succeed(Quarantine, {
  add: (bytes, reason) =>
    Effect.annotateLogs(Effect.logError(`something of the venue is set aside: ${reason}`), {
      bytes: bytes.slice(0, 512)
    })
})
