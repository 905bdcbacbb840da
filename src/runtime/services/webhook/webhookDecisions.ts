/**
 * What happens to a partner's webhook inside the partner's turn: the endpoint and single deliveries, each state through
 * its machine (D13, D14; doc 3, Webhook registration and delivery). Pure but for the turn's draft and ids.
 */
import type { JsonObject } from "../../../machines/Effects.ts"
import { accept, conflict, refuse, type Refusal, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { deliveryMachine } from "../../../machines/webhook/deliveryMachine.ts"
import { endpointMachine } from "../../../machines/webhook/endpointMachine.ts"
import {
  type DeliveryContext,
  type EndpointContext,
  type EndpointEvent,
  partnerClosedError
} from "../../../machines/webhook/Webhook.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { create, step, versionOf } from "../../engine/machine/decide.ts"
import { applyEffects, type Instance } from "../../effects/Interpreter.ts"
import { queueDelivery } from "../../effects/queueDelivery.ts"
import type { DeliveryRow, EndpointRow } from "../../store/Rows.ts"

export interface QueuedTest {
  readonly deliveryId: number
  readonly event: "webhook.test"
  /** Unix ms. */
  readonly queuedAt: number
}

export const noWebhook: Refusal = unknown("Webhook")

const aboutEndpoint = (partnerId: number, endpoint: EndpointRow | null = null): Instance => ({
  partnerId,
  clientId: null,
  object: `webhookEndpoint:${partnerId}`,
  endpoint
})

const moved = (row: EndpointRow, event: EndpointEvent) =>
  step(endpointMachine, { state: row.state, context: row.context as unknown as EndpointContext }, event)

/**
 * Registers or replaces the endpoint: ACTIVE from this commit on, signed with `secret` from the next sending on, what is
 * queued already included (D13).
 */
export const registerEndpoint = (turn: Turn, partnerId: number, url: string, secret: string): EndpointRow => {
  const row = turn.state.one("webhookEndpoints")
  const event = { type: "PUT", at: turn.now } as const
  const decided = row === undefined ? create(endpointMachine, { partnerId }, event) : moved(row, event)
  const next: EndpointRow = {
    partnerId,
    state: decided.state,
    version: versionOf("webhookEndpoint"),
    context: { ...decided.context },
    url,
    secret,
    createdAt: row?.createdAt ?? turn.now,
    updatedAt: turn.now
  }
  turn.draft.put("webhookEndpoints", next)
  if (row?.state !== next.state) raiseEpoch(turn)
  applyEffects(turn, aboutEndpoint(partnerId), decided.effects)
  return next
}

/** Switches the endpoint off; an inactive one stays as it is (D13). */
export const removeEndpoint = (turn: Turn): Verdict<EndpointRow> => {
  const row = turn.state.one("webhookEndpoints")
  if (row === undefined) return refuse(noWebhook)
  const next = switchedOff(turn, row, "DELETE")
  if (next === null) return accept(row)
  raiseEpoch(turn)
  return accept(next)
}

/** A closed partner is told nothing more; for the commit that closes it, which raises the epoch itself (D13, D15). */
export const closeEndpoint = (turn: Turn): void => {
  const row = turn.state.one("webhookEndpoints")
  if (row !== undefined) switchedOff(turn, row, "PARTNER_CLOSED")
}

const switchedOff = (turn: Turn, row: EndpointRow, type: "DELETE" | "PARTNER_CLOSED"): EndpointRow | null => {
  const decided = moved(row, { type, at: turn.now })
  if (!decided.changed) return null
  const next = { ...row, state: decided.state, context: { ...decided.context }, updatedAt: turn.now }
  turn.draft.put("webhookEndpoints", next)
  applyEffects(turn, aboutEndpoint(row.partnerId), decided.effects)
  return next
}

/** Whether events are queued depends on the endpoint's state: clients' commits decided under the old one are refused. */
const raiseEpoch = (turn: Turn): void => {
  const partner = turn.state.one("partners")
  if (partner !== undefined) turn.draft.put("partners", { ...partner, epoch: partner.epoch + 1 })
}

/** Queues a webhook.test (D13; A3-37). */
export const testEndpoint = (turn: Turn): Verdict<QueuedTest> => {
  const row = turn.state.one("webhookEndpoints")
  if (row === undefined) return refuse(noWebhook)
  const decided = moved(row, { type: "TEST", at: turn.now })
  if (!decided.changed) return refuse(conflict("The webhook is not active: register it again first."))
  let deliveryId: number | null = null
  for (const effect of decided.effects) {
    // A test is told to the endpoint alone: it says nothing about the partner's business, so the event log has none.
    if (effect.type === "event") deliveryId = queueDelivery(turn, aboutEndpoint(row.partnerId, row), effect)
    else applyEffects(turn, aboutEndpoint(row.partnerId), [effect])
  }
  if (deliveryId === null) throw new Error("an active endpoint queued no test")
  return accept({ deliveryId, event: "webhook.test", queuedAt: turn.now })
}

/** Gives a failed delivery ten attempts more, under the same id and with the same bytes (D14; A3-35). */
export const redeliver = (turn: Turn, row: DeliveryRow): Verdict<DeliveryRow> => {
  if (turn.state.one("partners")?.state === "CLOSED") return refuse(conflict(partnerClosedError))
  const decided = step(
    deliveryMachine,
    { state: row.state, context: row.context as unknown as DeliveryContext },
    { type: "REDELIVER", at: turn.now }
  )
  if (!decided.changed) return refuse(conflict(`The delivery is ${row.state}: only a FAILED one can be redelivered.`))
  const next: DeliveryRow = {
    ...row,
    state: decided.state,
    context: decided.context as unknown as JsonObject,
    nextAt: turn.now,
    claimToken: null,
    claimedAt: null
  }
  turn.draft.put("webhookDeliveries", next)
  applyEffects(
    turn,
    { partnerId: row.partnerId, clientId: row.clientId, object: `webhookDelivery:${row.id}` },
    decided.effects
  )
  return accept(next)
}
