/**
 * Settlement item: created PENDING in the transaction of its posting; only the partner's reports change it. A FAILED item may
 * still settle; SETTLED is final. The operator corrects a wrong posting with a MANUAL posting, never here (D12).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type { JsonObject } from "../shared/Json.ts"
import { itemOf, type SettlementContext, type SettlementEvent, type SettlementInput } from "./SettlementItem.ts"

const item = setup({
  types: {
    context: {} as SettlementContext,
    events: {} as SettlementEvent,
    emitted: {} as MachineEffect,
    input: {} as SettlementInput
  }
})

/**
 * A report replaces all fields of an earlier one, so that the reason of a failure does not stay as the note of a later
 * settlement.
 */
const report = item.assign(({ context, event }) => ({
  partnerTxRef: event.partnerTxRef,
  settledAt: event.settledAt,
  reportedAt: event.at,
  note: event.note,
  reports: context.reports + 1
}))

const note = (before: string, after: string) =>
  item.emit({ type: "audit", action: "settlement.report", before, after, reason: null })

export const settlementMachine = item.createMachine({
  id: "settlementItem",
  version: "1",
  context: ({ input }) => ({
    ...input,
    partnerTxRef: null,
    settledAt: null,
    reportedAt: null,
    note: null,
    reports: 0
  }),
  initial: "PENDING",
  states: {
    PENDING: {
      description: "The posting is booked; the partner has not reported yet. It is owed from here on.",
      entry: [
        item.emit(({ context }) => ({
          type: "event",
          name: "settlement.item_created",
          data: itemOf(context, "PENDING") as JsonObject
        })),
        item.emit({ type: "audit", action: "settlement.item", before: null, after: "PENDING", reason: null })
      ],
      on: {
        REPORT_SETTLED: { target: "SETTLED", actions: [report, note("PENDING", "SETTLED")] },
        REPORT_FAILED: { target: "FAILED", actions: [report, note("PENDING", "FAILED")] }
      }
    },
    FAILED: {
      description: "The partner could not settle yet and may report SETTLED later.",
      on: { REPORT_SETTLED: { target: "SETTLED", actions: [report, note("FAILED", "SETTLED")] } }
    },
    SETTLED: { type: "final", description: "The partner has settled with its client; a later FAILED is refused." }
  }
})
