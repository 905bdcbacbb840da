/**
 * Compliance case: open until compliance clears or rejects it, once. Opening goes to the audit alone: the client machine
 * publishes the holding event in the same commit (D1, D2).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type { CaseContext, CaseEvent, CaseInput, CaseStatus } from "./Case.ts"

const review = setup({
  types: {
    context: {} as CaseContext,
    events: {} as CaseEvent,
    emitted: {} as MachineEffect,
    input: {} as CaseInput
  }
})

const ruled = review.assign({
  decidedBy: ({ event }) => ("by" in event ? event.by : null),
  decidedAt: ({ event }) => event.at,
  note: ({ event }) => event.note
})

const note = (action: string, after: CaseStatus) =>
  review.emit(({ event }) => ({ type: "audit", action, before: "OPEN", after, reason: event.note }))

export const caseMachine = review.createMachine({
  id: "case",
  version: "1",
  context: ({ input }) => ({ ...input, decidedBy: null, decidedAt: null, note: null }),
  initial: "OPEN",
  states: {
    OPEN: {
      description: "Compliance has not decided.",
      entry: review.emit(({ context }) => ({
        type: "audit",
        action: "case.open",
        before: null,
        after: "OPEN",
        reason: context.reason
      })),
      on: {
        NOTE: { actions: note("case.note", "OPEN") },
        CLEAR: { target: "CLEARED", actions: [ruled, note("case.clear", "CLEARED")] },
        REJECT: { target: "REJECTED", actions: [ruled, note("case.reject", "REJECTED")] }
      }
    },
    CLEARED: { type: "final", description: "The doubt is removed; the grant has run again." },
    REJECTED: { type: "final", description: "The doubt is confirmed: reliance or the person was refused." }
  }
})
