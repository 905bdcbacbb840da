/**
 * Queues a webhook delivery in the turn of its cause (transactional outbox), with the body bytes of every attempt (A3-30). Queues
 * only while the partner's endpoint is ACTIVE (doc 3, Webhook registration and delivery).
 */
import type { EventName, FeedEventName } from "../../machines/Effects.ts"
import type { JsonObject } from "../../machines/shared/Json.ts"
import type { Turn } from "../engine/mailbox/ActorHost.ts"
import type { Instance } from "./Instance.ts"
import { firstRow } from "./machineRow.ts"

export interface QueuedEvent {
  readonly name: EventName | FeedEventName
  readonly data: JsonObject
}

/** Queues the event and returns the id of its delivery; null if the partner has no ACTIVE endpoint. */
export const queueDelivery = (turn: Turn, instance: Instance, event: QueuedEvent): number | null => {
  const { partnerId, clientId, endpoint } = instance
  if (partnerId === null || endpoint?.state !== "ACTIVE") return null
  const id = turn.nextId("delivery")
  const delivery = firstRow(
    "webhookDeliveries",
    { nextAt: turn.now, attempts: 0 },
    {
      id,
      partnerId,
      clientId,
      event: event.name,
      body: JSON.stringify({
        id,
        event: event.name,
        partnerId,
        clientId,
        clientUid: instance.clientUid ?? null,
        partnerClientRef: instance.partnerClientRef ?? null,
        ts: turn.now,
        data: event.data
      }),
      ts: turn.now,
      nextAt: turn.now,
      claimToken: null,
      claimedAt: null
    }
  )
  turn.draft.put("webhookDeliveries", delivery.row)
  return id
}
