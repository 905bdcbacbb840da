/** Statement: made in one commit with its notification, superseded by a later version, never deleted (D20, STS-34). */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type { StatementContext, StatementEvent, StatementInput } from "./Statement.ts"

const statement = setup({
  types: {
    context: {} as StatementContext,
    events: {} as StatementEvent,
    emitted: {} as MachineEffect,
    input: {} as StatementInput
  }
})

const made = statement.assign(({ event }) =>
  event.type === "GENERATE" ? { generatedAt: event.at, generatedBy: event.by } : {}
)
const replaced = statement.assign(({ event }) =>
  event.type === "SUPERSEDE" ? { supersededBy: event.supersededBy } : {}
)

/** Notifies the client's feed of every new statement, requested or scheduled. */
const ready = statement.emit(({ context }) => ({
  type: "notify",
  kind: "STATEMENT_READY",
  ref: String(context.statementId)
}))

export const statementMachine = statement.createMachine({
  id: "statement",
  version: "1",
  context: ({ input }) => ({ ...input, generatedAt: 0, generatedBy: "", supersededBy: null }),
  initial: "NEW",
  states: {
    NEW: {
      description: "Not stored: its model is made, and its row is on its way.",
      on: {
        GENERATE: {
          target: "GENERATED",
          actions: [
            made,
            ready,
            statement.emit(({ context }) => ({
              type: "audit",
              action: "statement.generate",
              before: null,
              after: "GENERATED",
              reason: context.correctionReason
            }))
          ]
        }
      }
    },
    GENERATED: {
      description: "The newest version for its period.",
      on: {
        SUPERSEDE: {
          target: "SUPERSEDED",
          actions: [
            replaced,
            statement.emit(({ event }) => ({
              type: "audit",
              action: "statement.supersede",
              before: "GENERATED",
              after: "SUPERSEDED",
              reason: event.type === "SUPERSEDE" ? event.reason : null
            }))
          ]
        }
      }
    },
    SUPERSEDED: { type: "final", description: "A later version has replaced it; it stays readable." }
  }
})
