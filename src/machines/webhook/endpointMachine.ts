/**
 * Webhook endpoint of a partner: registered, replaced (with a new secret each time), switched off. Url and secret are columns
 * of the endpoint's row, because a machine's context must hold no secret. A refused PUT never reaches the machine (D13).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type { EndpointContext, EndpointEvent, EndpointInput } from "./Webhook.ts"

const endpoint = setup({
  types: {
    context: {} as EndpointContext,
    events: {} as EndpointEvent,
    emitted: {} as MachineEffect,
    input: {} as EndpointInput
  }
})

const sweepFromNow = endpoint.assign({ sweepFrom: ({ event }) => event.at })

const note = (action: string, before: string | null, after: string) =>
  endpoint.emit({ type: "audit", action, before, after, reason: null })

export const endpointMachine = endpoint.createMachine({
  id: "webhookEndpoint",
  version: "1",
  context: ({ input }) => ({ ...input, sweepFrom: 0 }),
  initial: "NEW",
  states: {
    NEW: {
      description: "Not stored: nothing was ever registered.",
      on: { PUT: { target: "ACTIVE", actions: [sweepFromNow, note("webhook.register", null, "ACTIVE")] } }
    },
    ACTIVE: {
      description: "Events are queued and sent, signed with the present secret.",
      on: {
        // The sweep continues at its cursor: a new secret must not lose notifications that are not forwarded yet.
        PUT: { actions: note("webhook.rotate", "ACTIVE", "ACTIVE") },
        DELETE: { target: "INACTIVE", actions: note("webhook.delete", "ACTIVE", "INACTIVE") },
        PARTNER_CLOSED: { target: "INACTIVE", actions: note("webhook.close", "ACTIVE", "INACTIVE") },
        TEST: {
          actions: endpoint.emit(({ event }) => ({
            type: "event",
            name: "webhook.test",
            data: { message: "Webhook test", requestedAt: event.at }
          }))
        }
      }
    },
    INACTIVE: {
      description: "Nothing is queued and nothing is sent; what was queued before waits for the next registration.",
      on: { PUT: { target: "ACTIVE", actions: [sweepFromNow, note("webhook.register", "INACTIVE", "ACTIVE")] } }
    }
  }
})
