/**
 * Partner status. Clients' positions, settlements and webhooks continue while a partner is suspended, so the machine holds
 * only the status, and gates read it (doc 1, Partner status; A1-49, D15).
 */
import { assertEvent, setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type { PartnerContext, PartnerEvent, PartnerInput } from "./Partner.ts"

const partner = setup({
  types: {
    context: {} as PartnerContext,
    events: {} as PartnerEvent,
    emitted: {} as MachineEffect,
    input: {} as PartnerInput
  },
  guards: {
    noBlockers: ({ event }) => {
      assertEvent(event, ["CLOSE", "CHANGE_CUSTODY"])
      return event.blockers.length === 0
    }
  }
})

const ruled = partner.assign({ reason: ({ event }) => event.reason, changedAt: ({ event }) => event.at })

const note = (action: string, before: string | null, after: string) =>
  partner.emit(({ event }) => ({ type: "audit", action, before, after, reason: event.reason }))

const close = (from: "ACTIVE" | "SUSPENDED") =>
  ({ guard: "noBlockers", target: "CLOSED", actions: [ruled, note("partner.close", from, "CLOSED")] }) as const

/** The machine writes only the audit entry: the status stays, and the custody model is in the partner's row. */
const changeCustody = {
  guard: "noBlockers",
  actions: partner.emit(({ event }) => {
    assertEvent(event, "CHANGE_CUSTODY")
    const { before, after, reason } = event
    return { type: "audit", action: "partner.custody", before, after, reason }
  })
} as const

export const partnerMachine = partner.createMachine({
  id: "partner",
  version: "2",
  context: ({ input }) => ({ ...input, reason: null, changedAt: 0 }),
  initial: "NEW",
  states: {
    NEW: {
      description: "Not stored: the partner is about to be created.",
      on: { CREATE: { target: "ACTIVE", actions: [ruled, note("partner.create", null, "ACTIVE")] } }
    },
    ACTIVE: {
      description: "Normal service.",
      on: {
        SUSPEND: { target: "SUSPENDED", actions: [ruled, note("partner.suspend", "ACTIVE", "SUSPENDED")] },
        CLOSE: close("ACTIVE"),
        CHANGE_CUSTODY: changeCustody
      }
    },
    SUSPENDED: {
      description: "Every request with the partner's keys answers 403 code 4037; its clients' business goes on.",
      on: {
        REACTIVATE: { target: "ACTIVE", actions: [ruled, note("partner.reactivate", "SUSPENDED", "ACTIVE")] },
        CLOSE: close("SUSPENDED"),
        CHANGE_CUSTODY: changeCustody
      }
    },
    CLOSED: {
      type: "final",
      description: "The partner's keys act as unknown (401 code 4010); its webhook is inactive."
    }
  }
})
