/**
 * Four-eyes approval. The grant is committed before the command runs. The command's commit then stores a unique fact that the
 * approval is used, so that one grant runs one command only. A key never grants its own request; any key may refuse it (operator
 * surface, Four eyes).
 */
import { assertEvent, setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import {
  type ApprovalContext,
  type ApprovalEvent,
  type ApprovalInput,
  type ApprovalStatus,
  requestNote
} from "./Approval.ts"

const approval = setup({
  types: {
    context: {} as ApprovalContext,
    events: {} as ApprovalEvent,
    emitted: {} as MachineEffect,
    input: {} as ApprovalInput
  },
  guards: {
    secondKeySameArguments: ({ event, context }) => {
      assertEvent(event, "GRANT")
      const inTime = event.at < context.expiresAt
      return inTime && event.by !== context.requestedBy && event.argumentsHash === context.argumentsHash
    },
    due: ({ event, context }) => event.at >= context.expiresAt
  }
})

const ruled = approval.assign({
  decidedBy: ({ event }) => ("by" in event ? event.by : null),
  decidedAt: ({ event }) => event.at
})

const note = (action: string, after: ApprovalStatus) =>
  approval.emit(({ context }) => ({ type: "audit", action, before: "PENDING", after, reason: context.command }))

export const approvalMachine = approval.createMachine({
  id: "approval",
  version: "1",
  context: ({ input }) => ({ ...input, decidedBy: null, decidedAt: null }),
  initial: "PENDING",
  states: {
    PENDING: {
      description: "Waits for a second operator key.",
      entry: approval.emit(({ context }) => ({
        type: "audit",
        action: "approval.request",
        before: null,
        after: "PENDING",
        // The audit is sealed; the approval's own row is not. With the request in the audit, a manipulated row can't change
        // the command or its requesting key unnoticed.
        reason: requestNote(context)
      })),
      on: {
        GRANT: {
          guard: "secondKeySameArguments",
          target: "GRANTED",
          actions: [ruled, note("approval.grant", "GRANTED")]
        },
        REFUSE: { target: "REFUSED", actions: [ruled, note("approval.refuse", "REFUSED")] },
        EXPIRE: { guard: "due", target: "EXPIRED", actions: [ruled, note("approval.expire", "EXPIRED")] }
      }
    },
    GRANTED: { type: "final", description: "Granted by a second key, and the command has run." },
    REFUSED: { type: "final", description: "Refused: the command will not run." },
    EXPIRED: { type: "final", description: "No second key granted it in time." }
  }
})
