/** Reconciliation break: open until staff close it once, with a reason. It moves no money by itself (A3-11). */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type { ReconBreakContext, ReconBreakEvent, ReconBreakInput } from "./ReconBreak.ts"

const reconBreak = setup({
  types: {
    context: {} as ReconBreakContext,
    events: {} as ReconBreakEvent,
    emitted: {} as MachineEffect,
    input: {} as ReconBreakInput
  }
})

export const reconBreakMachine = reconBreak.createMachine({
  id: "reconBreak",
  version: "1",
  context: ({ input }) => ({ ...input, closedAt: null, closingReason: null }),
  initial: "OPEN",
  states: {
    OPEN: {
      description: "Unexplained: approvals in its scope are refused if it pauses money out.",
      entry: reconBreak.emit(({ context }) => ({
        type: "audit",
        action: "break.open",
        before: null,
        after: "OPEN",
        reason: context.reason
      })),
      on: {
        CLOSE: {
          target: "CLOSED",
          actions: [
            reconBreak.assign({ closedAt: ({ event }) => event.at, closingReason: ({ event }) => event.reason }),
            reconBreak.emit(({ event }) => ({
              type: "audit",
              action: "break.close",
              before: "OPEN",
              after: "CLOSED",
              reason: event.reason
            }))
          ]
        }
      }
    },
    CLOSED: { type: "final", description: "Explained or corrected: it pauses nothing any more." }
  }
})
