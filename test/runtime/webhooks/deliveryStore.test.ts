/** Delivery stores: the common suite on Postgres and in memory. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { SealingService } from "../../../src/runtime/engine/sealing/SealingService.ts"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import type { DeliveryRow } from "../../../src/runtime/tables/webhook.ts"
import { DeliveryStore } from "../../../src/runtime/ports/DeliveryStore.ts"
import { DeliveryStoreMemory } from "../../../src/runtime/ports/DeliveryStoreMemory.ts"
import { commitOf, submit, testSealing } from "../engine/fixtures.ts"
import { openPgBench } from "../engine/pgBench.ts"
import { deliveryStoreConformance } from "./deliveryStoreConformance.ts"

const commitOfRows = (rows: ReadonlyArray<DeliveryRow>): Commit => commitOf({ rows: { webhookDeliveries: rows } })
const byId = (rows: ReadonlyArray<DeliveryRow>): ReadonlyArray<DeliveryRow> => rows.toSorted((a, b) => a.id - b.id)

deliveryStoreConformance("DeliveryStore", async () => {
  const pg = await openPgBench()
  const scope = await Effect.runPromise(Scope.make())
  const context = await Effect.runPromise(
    Layer.buildWithScope(
      DeliveryStore.layer.pipe(
        Layer.provide(SealingService.layer(testSealing)),
        Layer.provide(PgClient.layer({ url: pg.url, maxConnections: 8 }))
      ),
      scope
    )
  )
  return {
    store: Context.get(context, DeliveryStore),
    put: async (rows) => {
      const { _tag } = await submit(pg.journal, commitOfRows(rows))
      if (_tag !== "Committed") throw new Error(_tag)
    },
    rows: async () => byId(await pg.rows("webhookDeliveries")),
    close: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await pg.close()
    }
  }
})

deliveryStoreConformance("DeliveryStoreMemory", async () => {
  const store = new MemoryStore()
  const context = await Effect.runPromise(Effect.scoped(Layer.build(DeliveryStoreMemory.layer({ store }))))
  return {
    store: Context.get(context, DeliveryStore),
    put: (rows) => {
      const { _tag } = store.apply(commitOfRows(rows))
      return _tag === "Committed" ? Promise.resolve() : Promise.reject(new Error(_tag))
    },
    rows: () => Promise.resolve(byId(store.rows("webhookDeliveries"))),
    close: () => Promise.resolve()
  }
})
