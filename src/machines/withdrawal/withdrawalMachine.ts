/**
 * Withdrawal request. The amount leaves the client's cash when the request is filed, and the reserve when finance approves
 * it. It returns in full when the request is rejected, cancelled, or finally refused by the bank. All ledger keys belong to
 * the request, so no step is posted twice. Every transition emits withdrawal.status (doc 3, Withdrawal request; D10).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type { LedgerEntryType } from "../postingRules.ts"
import {
  filedDestination,
  type WithdrawalContext,
  type WithdrawalEvent,
  type WithdrawalInput,
  type WithdrawalStatus
} from "./WithdrawalRequest.ts"

const withdrawal = setup({
  types: {
    context: {} as WithdrawalContext,
    events: {} as WithdrawalEvent,
    emitted: {} as MachineEffect,
    input: {} as WithdrawalInput
  },
  guards: {
    /**
     * True if the approval may be granted: its sender ran the money-out gate again, and `refusal` holds the gate's result.
     */
    allowed: ({ event }) => event.type === "APPROVE" && event.refusal === null
  }
})

const approve = withdrawal.assign(({ event }) =>
  event.type === "APPROVE" ? { decidedBy: event.by, decidedAt: event.at, ledgerTxId: event.ledgerTxId } : {}
)

const pay = withdrawal.assign({ paidAt: ({ event }) => event.at })

/** Records a rejection. The rejection of an approved request replaces the approver's decision. */
const turnDown = withdrawal.assign(({ event }) =>
  event.type === "REJECT" || event.type === "FAIL"
    ? { decidedBy: event.by, decidedAt: event.at, decisionNote: event.reason }
    : {}
)

const cancel = withdrawal.assign(({ event }) => ({ decidedBy: "PARTNER", decidedAt: event.at }))

/** Posts the amount: with `gain` to the client's cash, otherwise out of cash or the reserve. */
const post = (entry: LedgerEntryType, step: "reserve" | "out" | "release" | "fail", gain: boolean) =>
  withdrawal.emit(({ context }) => ({
    type: "ledger.post",
    entry,
    key: `withdrawal:${context.requestId}:${step}`,
    currency: context.currency,
    amount: gain ? context.amount : `-${context.amount}`,
    reason: context.decisionNote,
    refs: { requestId: context.requestId, partnerRef: context.partnerRef }
  }))

const release = post("WITHDRAWAL_RELEASE", "release", true)

/** The webhook event about the request's new status, which every transition emits. */
const announce = (status: WithdrawalStatus) =>
  withdrawal.emit(({ context }) => ({
    type: "event",
    name: "withdrawal.status",
    data: {
      requestId: context.requestId,
      partnerRef: context.partnerRef,
      currency: context.currency,
      amount: context.amount,
      status,
      decidedAt: context.decidedAt,
      paidAt: context.paidAt,
      note: context.decisionNote
    }
  }))

const note = (action: string, before: WithdrawalStatus, after: WithdrawalStatus) =>
  withdrawal.emit(({ context }) => ({ type: "audit", action, before, after, reason: context.decisionNote }))

/** Writes the requested destination into the audit entry of the filing, so that it can't be changed later. */
const noteFiling = withdrawal.emit(({ context }) => ({
  type: "audit",
  action: "withdrawal.request",
  before: null,
  after: "REQUESTED",
  reason: filedDestination(context.destinationFingerprint)
}))

export const withdrawalMachine = withdrawal.createMachine({
  id: "withdrawalRequest",
  version: "2",
  context: ({ input }) => ({
    ...input,
    decidedBy: null,
    decidedAt: null,
    paidAt: null,
    decisionNote: null,
    ledgerTxId: null
  }),
  initial: "NEW",
  states: {
    NEW: {
      description: "Not stored: the request is being decided under the client's lock.",
      on: {
        REQUEST: {
          target: "REQUESTED",
          actions: [post("WITHDRAWAL_RESERVE", "reserve", false), announce("REQUESTED"), noteFiling]
        }
      }
    },
    REQUESTED: {
      description: "The amount is reserved; finance has not decided. The partner may cancel.",
      on: {
        APPROVE: {
          guard: "allowed",
          target: "APPROVED",
          actions: [
            approve,
            post("WITHDRAWAL", "out", false),
            announce("APPROVED"),
            note("withdrawal.approve", "REQUESTED", "APPROVED")
          ]
        },
        REJECT: {
          target: "REJECTED",
          actions: [turnDown, release, announce("REJECTED"), note("withdrawal.reject", "REQUESTED", "REJECTED")]
        },
        CANCEL: {
          target: "CANCELLED",
          actions: [cancel, release, announce("CANCELLED"), note("withdrawal.cancel", "REQUESTED", "CANCELLED")]
        }
      }
    },
    APPROVED: {
      description: "The amount has left the client's account and is on its way through the bank or the chain.",
      on: {
        PAY: { target: "PAID", actions: [pay, announce("PAID"), note("withdrawal.pay", "APPROVED", "PAID")] },
        FAIL: {
          target: "REJECTED",
          actions: [
            turnDown,
            post("WITHDRAWAL", "fail", true),
            announce("REJECTED"),
            note("withdrawal.fail", "APPROVED", "REJECTED")
          ]
        }
      }
    },
    PAID: { type: "final", description: "Paid. Money that the bank returns later is booked by hand." },
    REJECTED: { type: "final", description: "The amount is the client's cash again." },
    CANCELLED: { type: "final", description: "Taken back by the partner; the amount is the client's cash again." }
  }
})
