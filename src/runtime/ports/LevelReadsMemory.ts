/** Levels in the memory store, for deterministic simulation: the guarantees of LevelReads without SQL. */
import { Effect, Layer } from "effect"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import type { MemoryStore } from "../engine/journal/MemoryStore.ts"
import { LevelReads } from "./LevelReads.ts"

export interface LevelReadsMemoryOptions {
  readonly store: MemoryStore
  /** True while the store is unreachable; called at each read. */
  readonly away?: () => boolean
}

export const LevelReadsMemory = {
  layer: ({ store, away }: LevelReadsMemoryOptions): Layer.Layer<LevelReads> =>
    Layer.succeed(
      LevelReads,
      LevelReads.of({
        each: (take) =>
          Effect.suspend(() => {
            if (away?.() === true) return Effect.fail(new Unavailable({ unknown: false }))
            for (const { id, clientId, symbol, state, context } of store.rows("barrierContracts")) {
              const { side, barrier, takeProfit, said: notified } = context
              if (state === "OPEN") take({ contractId: id, clientId, symbol, side, barrier, takeProfit, notified })
            }
            return Effect.void
          })
      })
    )
}
