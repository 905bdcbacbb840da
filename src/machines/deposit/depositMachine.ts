/**
 * Deposit notice: filed PENDING, decided once by finance (or at once for a sandbox partner). Only the confirmation moves
 * money. Its ledger key belongs to the notice, so a notice is never credited twice (doc 3, Deposit notice; D9, A3-04, A3-05).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type { DepositContext, DepositEvent, DepositInput, DepositStatus } from "./DepositNotice.ts"

const deposit = setup({
  types: {
    context: {} as DepositContext,
    events: {} as DepositEvent,
    emitted: {} as MachineEffect,
    input: {} as DepositInput
  },
  guards: {
    allowed: ({ event }) => event.type === "CONFIRM" && event.refusal === null
  }
})

const confirm = deposit.assign(({ event }) =>
  event.type === "CONFIRM"
    ? { decidedBy: event.by, decidedAt: event.at, decisionNote: event.note, ledgerTxId: event.ledgerTxId }
    : {}
)

const reject = deposit.assign(({ event }) =>
  event.type === "REJECT" ? { decidedBy: event.by, decidedAt: event.at, decisionNote: event.reason } : {}
)

const post = deposit.emit(({ context }) => ({
  type: "ledger.post",
  entry: "DEPOSIT",
  key: `deposit:${context.noticeId}`,
  currency: context.currency,
  amount: context.amount,
  reason: null,
  refs: {
    noticeId: context.noticeId,
    partnerRef: context.partnerRef,
    method: context.method,
    evidenceRef: context.evidenceRef
  }
}))

/** The facts of a notice that both of its webhook events carry. */
const announced = ({ noticeId, partnerRef, currency, amount }: DepositContext, status: DepositStatus) => ({
  noticeId,
  partnerRef,
  currency,
  amount,
  status
})

const note = (action: string, before: DepositStatus | null, after: DepositStatus) =>
  deposit.emit(({ context }) => ({ type: "audit", action, before, after, reason: context.decisionNote }))

export const depositMachine = deposit.createMachine({
  id: "depositNotice",
  version: "1",
  context: ({ input }) => ({ ...input, decidedBy: null, decidedAt: null, decisionNote: null, ledgerTxId: null }),
  initial: "PENDING",
  states: {
    PENDING: {
      description: "The partner reports that it passed the money on; finance has not decided yet.",
      entry: note("deposit.file", null, "PENDING"),
      on: {
        CONFIRM: {
          guard: "allowed",
          target: "CONFIRMED",
          actions: [
            confirm,
            post,
            deposit.emit(({ context }) => ({
              type: "event",
              name: "deposit.confirmed",
              data: { ...announced(context, "CONFIRMED"), ledgerTxId: context.ledgerTxId }
            })),
            note("deposit.confirm", "PENDING", "CONFIRMED")
          ]
        },
        REJECT: {
          target: "REJECTED",
          actions: [
            reject,
            deposit.emit(({ context }) => ({
              type: "event",
              name: "deposit.rejected",
              data: { ...announced(context, "REJECTED"), reason: context.decisionNote }
            })),
            note("deposit.reject", "PENDING", "REJECTED")
          ]
        }
      }
    },
    CONFIRMED: { type: "final", description: "The client's cash is credited, once and for good." },
    REJECTED: { type: "final", description: "Nothing was credited; a new attempt needs a new reference." }
  }
})
