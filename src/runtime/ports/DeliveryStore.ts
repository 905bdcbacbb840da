/**
 * The store from which delivery workers lease due deliveries, and to which they write results. A port, because deterministic
 * simulation runs the same worker without a database: its Postgres layer and `DeliveryStoreMemory` pass one suite
 * (test/runtime/webhooks/deliveryStoreConformance.ts). Only the cause of a delivery inserts its row, and only the workers write
 * the columns of the lease (D14; doc 3, Webhook registration and delivery).
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
     * Leases due deliveries, at most `limit` of each lane, the oldest nextAt first. A lease of another worker that is older than
     * 60 s is taken over (A3-34, doc 3 Limits). Returns the rows as leased.
     */
    lease(request: LeaseRequest): Effect.Effect<ReadonlyArray<DeliveryRow>, Unavailable>
    /**
     * Writes results and ends the leases, all in one statement. A row that no longer equals `before` (taken over, or finished by
     * another worker) is not changed. Returns the ids of the written rows. A change to the same state and context only ends the
     * lease.
     */
    finish(changes: ReadonlyArray<DeliveryChange>): Effect.Effect<ReadonlySet<number>, Unavailable>
    /** The current rows; deleted ones are missing. */
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
