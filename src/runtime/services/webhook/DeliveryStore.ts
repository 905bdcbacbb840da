/**
 * Where delivery workers take due deliveries from and write what came of them. A port, because deterministic simulation
 * runs the same worker without a database: `DeliveryStorePg` and `DeliveryStoreMemory` pass one suite
 * (test/runtime/webhooks/deliveryStoreConformance.ts). The cause of a delivery writes its row, nobody else; the columns
 * of the lease belong to the workers alone (D14; doc 3, Webhook registration and delivery).
 */
import { Context, type Effect } from "effect"
import type { DeliveryContext, DeliveryStatus } from "../../../machines/webhook/Webhook.ts"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { DeliveryRow } from "../../store/tables/webhook.ts"

/** How many deliveries of one partner may be leased now. */
export interface Lane {
  readonly partnerId: number
  readonly limit: number
}

export interface LeaseRequest {
  /** Written to each leased row; no two leases share one. */
  readonly token: string
  /** Business time, Unix ms: what is due, and the age of other leases. */
  readonly now: number
  readonly lanes: ReadonlyArray<Lane>
  /** Deliveries the worker holds already: never given twice, however old their lease is. */
  readonly except: ReadonlyArray<number>
}

/** What becomes of a delivery whose row is still as it was when it was leased or read. */
export interface DeliveryChange {
  readonly before: DeliveryRow
  readonly state: DeliveryStatus
  readonly context: DeliveryContext
  /** The next attempt; once there is none, when the delivery came to its end (retention counts from it, A3-36). */
  readonly nextAt: number
}

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
>()("brokerage/runtime/services/webhook/DeliveryStore") {}
