/** Contents of documents in the memory store: written before the commit of their document. */
import { Clock, Effect, Layer } from "effect"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import type { MemoryStore } from "../engine/journal/MemoryStore.ts"
import { DocumentContents } from "./DocumentContents.ts"

export interface DocumentContentsMemoryOptions {
  readonly store: MemoryStore
  /** True while the store is unreachable; called at each write. */
  readonly away: () => boolean
}

export const DocumentContentsMemory = {
  layer: ({ store, away }: DocumentContentsMemoryOptions): Layer.Layer<DocumentContents> =>
    Layer.succeed(
      DocumentContents,
      DocumentContents.of({
        write: (content) =>
          Effect.gen(function* () {
            if (away()) return yield* new Unavailable({ unknown: false })
            const storedAt = yield* Clock.currentTimeMillis
            const rows = { documentContents: [{ ...content, storedAt }] }
            const outcome = store.apply({
              fence: null,
              partner: null,
              claims: [],
              releases: [],
              clearedTimers: [],
              endedCalls: [],
              rows
            })
            if (outcome._tag !== "Committed") throw new Error(`a content was not stored: ${outcome._tag}`)
          }),
        // An abandoned content is harmless; the service sweeps it after a day.
        discard: () => Effect.void,
        sweep: () => Effect.succeed(0)
      })
    )
}
