/**
 * An account's recorded risk state. It follows the account's figures, and notifies the client when the state is entered, at
 * most once a minute (D23, A2-105, F7).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import { noticeMillis, type RiskMonitorContext, type RiskMonitorEvent, type RiskMonitorInput } from "./RiskMonitor.ts"
import type { RiskState } from "./accountRisk.ts"

const monitor = setup({
  types: {
    context: {} as RiskMonitorContext,
    events: {} as RiskMonitorEvent,
    emitted: {} as MachineEffect,
    input: {} as RiskMonitorInput
  },
  guards: {
    calledLately: ({ context, event }) => isLately(context.calledAt, event.at),
    closedOutLately: ({ context, event }) => isLately(context.closedOutAt, event.at)
  }
})

const isLately = (last: number | null, at: number): boolean => last !== null && at - last < noticeMillis

const called = monitor.assign(({ event }) => ({ calledAt: event.at }))
const closedOut = monitor.assign(({ event }) => ({ closedOutAt: event.at }))
const notice = (kind: "MARGIN_CALL" | "CLOSE_OUT") =>
  monitor.emit(({ context: { clientId } }) => ({ type: "notify", kind, ref: String(clientId) }))
const note = (before: RiskState, after: RiskState) =>
  monitor.emit({ type: "audit", action: "risk.state", before, after, reason: null })

const toMarginCall = (before: RiskState) =>
  [
    { guard: "calledLately", target: "MARGIN_CALL", actions: note(before, "MARGIN_CALL") },
    { target: "MARGIN_CALL", actions: [called, notice("MARGIN_CALL"), note(before, "MARGIN_CALL")] }
  ] as const

const toCloseOut = (before: RiskState) =>
  [
    { guard: "closedOutLately", target: "CLOSE_OUT", actions: note(before, "CLOSE_OUT") },
    { target: "CLOSE_OUT", actions: [closedOut, notice("CLOSE_OUT"), note(before, "CLOSE_OUT")] }
  ] as const

const toNormal = (before: RiskState) => ({ target: "NORMAL", actions: note(before, "NORMAL") }) as const

export const riskMonitorMachine = monitor.createMachine({
  id: "riskMonitor",
  version: "1",
  context: ({ input }) => ({ ...input, calledAt: null, closedOutAt: null }),
  initial: "NORMAL",
  states: {
    NORMAL: {
      description: "The equity covers the margin.",
      on: { CALL: toMarginCall("NORMAL"), CLOSE_OUT: toCloseOut("NORMAL") }
    },
    MARGIN_CALL: {
      description: "The equity is below the margin: no new risk, no money out.",
      on: { RECOVER: toNormal("MARGIN_CALL"), CLOSE_OUT: toCloseOut("MARGIN_CALL") }
    },
    CLOSE_OUT: {
      description: "The equity is below half of the margin, or below zero: the account is closed out.",
      on: { RECOVER: toNormal("CLOSE_OUT"), CALL: toMarginCall("CLOSE_OUT") }
    }
  }
})
