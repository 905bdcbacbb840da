/** The same commits on PostgreSQL and on the memory store, for tests that a port and its double give the same answers. */
import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import { makeJournalMemory } from "../../../src/runtime/engine/journal/JournalMemory.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { SealingService } from "../../../src/runtime/engine/sealing/SealingService.ts"
import { submit, testSealing } from "./fixtures.ts"
import { openPgBench } from "./pgBench.ts"

export interface BothStores {
  readonly store: MemoryStore
  /** A port on the database or on the store. */
  readonly build: <I, S>(
    port: Context.Key<I, S>,
    layer: Layer.Layer<I, never, PgClient.PgClient | SealingService>
  ) => Promise<S>
  readonly close: () => Promise<void>
}

export const openBothStores = async (commits: ReadonlyArray<Commit>): Promise<BothStores> => {
  const bench = await openPgBench()
  const scope = await Effect.runPromise(Scope.make())
  const store = new MemoryStore()
  const journal = makeJournalMemory({ store })
  for (const commit of commits) {
    assert.strictEqual((await submit(bench.journal, commit))._tag, "Committed")
    assert.strictEqual((await submit(journal, commit))._tag, "Committed")
  }
  const base = Layer.merge(PgClient.layer({ url: bench.url, maxConnections: 2 }), SealingService.layer(testSealing))
  return {
    store,
    build: (port, layer) =>
      Effect.runPromise(
        Effect.map(Layer.buildWithScope(Layer.provide(layer, base), scope), (context) => Context.get(context, port))
      ),
    close: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await bench.close()
    }
  }
}
