/**
 * Where delivery workers take due deliveries from and write what came of them. A port, because deterministic simulation
 * runs the same worker without a database: its Postgres layer and `DeliveryStoreMemory` pass one suite
 * (test/runtime/webhooks/deliveryStoreConformance.ts). The cause of a delivery writes its row, nobody else; the columns
 * of the lease belong to the workers alone (D14; doc 3, Webhook registration and delivery).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { SealingService } from "../engine/sealing/SealingService.ts"
import { withinTime } from "../engine/withinTime.ts"
import { rowsWithIds } from "../store/reads/rowReads.ts"
import type { DeliveryRow } from "../tables/webhook.ts"
import { whenAway } from "../store/whenAway.ts"
import {
  leaseDeliveries,
  type LeaseRequest,
  type DeliveryChange,
  finishDeliveries
} from "../store/writes/deliveryWrites.ts"

export class DeliveryStore extends Context.Service<
  DeliveryStore,
  {
    /**
     * Leases due deliveries, at most `limit` of each lane, the oldest nextAt first. A row that another worker leased is
     * taken over once that lease is older than 60 s (A3-34, doc 3 Limits). The rows come back as leased.
     */
    lease(request: LeaseRequest): Effect.Effect<ReadonlyArray<DeliveryRow>, Unavailable>
    /**
     * Writes results and ends the leases, all in one statement. A row that is no longer as `before` shows (taken over,
     * finished by another) is left alone; the ids that were written come back. A change to the same state and context
     * only gives the lease back.
     */
    finish(changes: ReadonlyArray<DeliveryChange>): Effect.Effect<ReadonlySet<number>, Unavailable>
    /** The rows as they are now; a deleted one is missing. */
    read(ids: ReadonlyArray<number>): Effect.Effect<ReadonlyArray<DeliveryRow>, Unavailable>
  }
>()("brokerage/runtime/ports/DeliveryStore") {
  static readonly layer: Layer.Layer<DeliveryStore, never, PgClient.PgClient | SealingService> = Layer.effect(
    DeliveryStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const patiently = <A>(query: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, Unavailable> =>
        withinTime(query, () => new Unavailable({ unknown: true })).pipe(
          Effect.catch((error) => (error instanceof Unavailable ? Effect.fail(error) : whenAway(error)))
        )
      return DeliveryStore.of({
        lease: (request) =>
          request.lanes.length === 0 ? Effect.succeed([]) : patiently(leaseDeliveries(sql, sealing, request)),
        finish: (changes) =>
          changes.length === 0 ? Effect.succeed(new Set()) : patiently(finishDeliveries(sql, changes)),
        read: (ids) =>
          ids.length === 0 ? Effect.succeed([]) : patiently(rowsWithIds(sql, sealing, "webhookDeliveries", ids))
      })
    })
  )
}
