/**
 * Webhook delivery: queued in the commit of its cause, retried until a 2xx or ten failures, then kept in the log. The store
 * holds the lease of an attempt; the machine applies the attempt's result. A 2xx that arrives after the delivery was given up
 * still counts, because the receiver has the event (D14, F29).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import { webhookLimits } from "../shared/Limits.ts"
import {
  type DeliveryContext,
  type DeliveryEvent,
  type DeliveryInput,
  type DeliveryTry,
  keptTries,
  partnerClosedError,
  retryDelay
} from "./Webhook.ts"

const delivery = setup({
  types: {
    context: {} as DeliveryContext,
    events: {} as DeliveryEvent,
    emitted: {} as MachineEffect,
    input: {} as DeliveryInput
  },
  guards: { mayRetry: ({ context }) => context.attempts + 1 < webhookLimits.attempts }
})

const remembered = (tries: ReadonlyArray<DeliveryTry>, next: DeliveryTry): ReadonlyArray<DeliveryTry> =>
  [...tries, next].slice(-keptTries)

const acknowledge = delivery.assign(({ context, event }) =>
  event.type === "ACKNOWLEDGED"
    ? {
        attempts: context.attempts + 1,
        lastStatus: event.status,
        error: null,
        sentAt: event.at,
        nextAt: null,
        tries: remembered(context.tries, { at: event.at, status: event.status, error: null })
      }
    : {}
)

const fail = delivery.assign(({ context, event }) =>
  event.type === "ATTEMPT_FAILED"
    ? {
        attempts: context.attempts + 1,
        lastStatus: event.status,
        error: event.error,
        nextAt: null,
        tries: remembered(context.tries, { at: event.at, status: event.status, error: event.error })
      }
    : {}
)

/**
 * Ends a delivery of a closed partner. Migration 0021 does the same in SQL, because a partner may have more deliveries than
 * one commit can have rows.
 */
const partnerClosed = {
  target: "FAILED",
  actions: delivery.assign({ error: partnerClosedError, nextAt: null })
} as const

const retryLater = delivery.assign(({ context, event }) => ({ nextAt: event.at + retryDelay(context.attempts) }))

const acknowledged = { target: "SENT", actions: acknowledge } as const
const failedAttempt = [
  { guard: "mayRetry", target: "RETRYING", actions: [fail, retryLater] },
  { target: "FAILED", actions: fail }
] as const

export const deliveryMachine = delivery.createMachine({
  id: "webhookDelivery",
  version: "3",
  context: ({ input }) => ({ ...input, lastStatus: null, error: null, sentAt: null, tries: [] }),
  initial: "PENDING",
  states: {
    PENDING: {
      description: "Queued in the transaction of its cause and due at once.",
      on: { ACKNOWLEDGED: acknowledged, ATTEMPT_FAILED: failedAttempt, PARTNER_CLOSED: partnerClosed }
    },
    RETRYING: {
      description: "An attempt failed; the next one is due after the backoff.",
      on: { ACKNOWLEDGED: acknowledged, ATTEMPT_FAILED: failedAttempt, PARTNER_CLOSED: partnerClosed }
    },
    SENT: { type: "final", description: "The receiver answered a 2xx in time." },
    FAILED: {
      description:
        "Ten attempts failed, or the partner was closed. It stays in the log, and the operator can redeliver it while the partner is there.",
      on: {
        ACKNOWLEDGED: acknowledged,
        REDELIVER: {
          target: "PENDING",
          actions: [
            delivery.assign(({ event }) => ({ attempts: 0, nextAt: event.at })),
            delivery.emit({
              type: "audit",
              action: "webhook.redeliver",
              before: "FAILED",
              after: "PENDING",
              reason: null
            })
          ]
        }
      }
    }
  }
})
