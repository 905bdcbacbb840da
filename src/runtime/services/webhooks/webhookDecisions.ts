/**
 * Decisions on a partner's webhook inside the partner's turn: on the endpoint and on single deliveries. Every state
 * changes through its machine. Pure except for the turn's draft and ids (D13, D14, A3-37).
 */
import type { QueuedTest } from "../../../machines/webhook/WebhookWire.ts"
import { accept, conflict, refuse, type Refusal, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { partnerClosedError } from "../../../machines/webhook/Webhook.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { Instance } from "../../effects/Instance.ts"
import { queueDelivery } from "../../effects/queueDelivery.ts"
import type { DeliveryRow, EndpointRow } from "../../tables/webhook.ts"
import { advance, start } from "../../effects/advance.ts"
import { nextRow } from "../../effects/machineRow.ts"

export const noWebhook: Refusal = unknown("Webhook")

const aboutEndpoint = (partnerId: number, endpoint: EndpointRow | null = null): Instance => ({
  partnerId,
  clientId: null,
  object: `webhookEndpoint:${partnerId}`,
  endpoint
})

/**
 * Registers or replaces the endpoint, which is ACTIVE from this commit on. From then on every attempt uses `secret`,
 * also for deliveries that were queued before.
 */
export const registerEndpoint = (turn: Turn, partnerId: number, url: string, secret: string): EndpointRow => {
  const row = turn.state.one("webhookEndpoints")
  const event = { type: "PUT", at: turn.now } as const
  const next =
    row === undefined
      ? start(turn, "webhookEndpoints", {
          input: { partnerId },
          event,
          columns: { partnerId, url, secret, createdAt: turn.now, updatedAt: turn.now }
        })
      : advance(turn, "webhookEndpoints", row, event, { set: { url, secret, updatedAt: turn.now } })
  if (next === null) throw new Error("an endpoint refused to be registered")
  if (row?.state !== next.state) raiseEpoch(turn)
  return next
}

/** Switches the endpoint off; an inactive one stays unchanged. */
export const removeEndpoint = (turn: Turn): Verdict<EndpointRow> => {
  const row = turn.state.one("webhookEndpoints")
  if (row === undefined) return refuse(noWebhook)
  const next = switchedOff(turn, row, "DELETE")
  if (next === null) return accept(row)
  raiseEpoch(turn)
  return accept(next)
}

/** Switches the endpoint of a partner off, in the commit that closes the partner and raises its epoch (D15). */
export const closeEndpoint = (turn: Turn): void => {
  const row = turn.state.one("webhookEndpoints")
  if (row !== undefined) switchedOff(turn, row, "PARTNER_CLOSED")
}

const switchedOff = (turn: Turn, row: EndpointRow, type: "DELETE" | "PARTNER_CLOSED"): EndpointRow | null =>
  advance(turn, "webhookEndpoints", row, { type, at: turn.now }, { set: { updatedAt: turn.now } })

/**
 * Raises the partner's epoch, because the state of the endpoint decides whether events are queued. Commits of clients
 * that were decided under the old state then fail.
 */
const raiseEpoch = (turn: Turn): void => {
  const partner = turn.state.one("partners")
  if (partner !== undefined) turn.draft.put("partners", { ...partner, epoch: partner.epoch + 1 })
}

/** Queues a webhook.test event for the endpoint and returns its delivery id; refused without an ACTIVE endpoint (A3-37). */
export const testEndpoint = (turn: Turn): Verdict<QueuedTest> => {
  const row = turn.state.one("webhookEndpoints")
  if (row === undefined) return refuse(noWebhook)
  const tested = nextRow("webhookEndpoints", row, { type: "TEST", at: turn.now })
  if (tested === null)
    return refuse(conflict("WEBHOOK_INACTIVE", "The webhook is not active: register it again first."))
  let deliveryId: number | null = null
  for (const effect of tested.effects) {
    // A test event goes to the endpoint only. It is no business event, so the event log does not contain it.
    if (effect.type === "event") deliveryId = queueDelivery(turn, aboutEndpoint(row.partnerId, row), effect)
    else applyEffects(turn, aboutEndpoint(row.partnerId), [effect])
  }
  if (deliveryId === null) throw new Error("an active endpoint queued no test")
  return accept({ deliveryId, event: "webhook.test", queuedAt: turn.now })
}

/** Gives a failed delivery ten more attempts, with the same id and the same bytes (A3-35). */
export const redeliver = (turn: Turn, row: DeliveryRow): Verdict<DeliveryRow> => {
  if (turn.state.one("partners")?.state === "CLOSED") return refuse(conflict("PARTNER_CLOSED", partnerClosedError))
  const next = advance(
    turn,
    "webhookDeliveries",
    row,
    { type: "REDELIVER", at: turn.now },
    { set: { nextAt: turn.now, claimToken: null, claimedAt: null } }
  )
  return next === null
    ? refuse(conflict("WRONG_STATE", `The delivery is ${row.state}: only a FAILED one can be redelivered.`))
    : accept(next)
}
