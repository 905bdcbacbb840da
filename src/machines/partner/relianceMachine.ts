/**
 * Reliance status. Revoking reliance puts no client into review by itself: compliance decides each client separately (doc 1,
 * Partner status; D16).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type { RelianceContext, RelianceEvent, RelianceInput, RelianceStatus } from "./Reliance.ts"

const reliance = setup({
  types: {
    context: {} as RelianceContext,
    events: {} as RelianceEvent,
    emitted: {} as MachineEffect,
    input: {} as RelianceInput
  }
})

const ruled = reliance.assign({ reason: ({ event }) => event.reason, changedAt: ({ event }) => event.at })

const move = <To extends RelianceStatus>(action: string, before: RelianceStatus, target: To) => ({
  target,
  actions: [
    ruled,
    reliance.emit(({ event }) => ({ type: "audit", action, before, after: target, reason: event.reason }))
  ]
})

export const relianceMachine = reliance.createMachine({
  id: "reliance",
  version: "1",
  context: ({ input }) => ({ ...input, reason: null, changedAt: 0 }),
  initial: "NONE",
  states: {
    NONE: {
      description: "No reliance agreement: onboarding writes answer 403 code 4036.",
      on: { REQUEST: move("reliance.request", "NONE", "REQUESTED") }
    },
    REQUESTED: {
      description: "The agreement is filed; compliance has not decided.",
      on: {
        WITHDRAW: move("reliance.withdraw", "REQUESTED", "NONE"),
        APPROVE: move("reliance.approve", "REQUESTED", "APPROVED")
      }
    },
    APPROVED: {
      description: "The partner's KYC is relied upon: onboarding writes are open.",
      on: {
        SUSPEND: move("reliance.suspend", "APPROVED", "SUSPENDED"),
        REVOKE: move("reliance.revoke", "APPROVED", "REVOKED")
      }
    },
    SUSPENDED: {
      description: "Onboarding writes are refused for the time being; clients already onboarded go on.",
      on: {
        REINSTATE: move("reliance.reinstate", "SUSPENDED", "APPROVED"),
        REVOKE: move("reliance.revoke", "SUSPENDED", "REVOKED")
      }
    },
    REVOKED: {
      description: "The agreement has ended; a new one starts at REQUESTED.",
      on: { REQUEST: move("reliance.request", "REVOKED", "REQUESTED") }
    }
  }
})
