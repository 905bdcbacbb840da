/**
 * Collateral report: booked or refused, finally, in the request that brings it. This is the hot path: plain emits, one
 * assign, no nested object (doc 3, Collateral report; D11).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import { type CollateralContext, type CollateralEvent, type CollateralInput, reportOf } from "./CollateralReport.ts"

const collateral = setup({
  types: {
    context: {} as CollateralContext,
    events: {} as CollateralEvent,
    emitted: {} as MachineEffect,
    input: {} as CollateralInput
  },
  guards: {
    allowed: ({ event }) => event.refusal === null && event.ledgerTxId !== null
  }
})

const book = collateral.assign({
  ledgerTxId: ({ event }) => event.ledgerTxId,
  cashAfter: ({ event }) => event.balances?.cash ?? null,
  reservedAfter: ({ event }) => event.balances?.reserved ?? null,
  freeAfter: ({ event }) => event.balances?.free ?? null,
  freeMarginAfter: ({ event }) => event.balances?.freeMargin ?? null,
  createdAt: ({ event }) => event.at
})

/** A refusal posts nothing: a `ledgerTxId` in its event is ignored. */
const refuse = collateral.assign({
  refusal: ({ event }) => event.refusal ?? "The report could not be booked.",
  createdAt: ({ event }) => event.at
})

/** Posts the money without a settlement item, because the partner has moved this money itself (postingRules). */
const post = collateral.emit(({ context }) => {
  const deposit = context.direction === "DEPOSIT"
  return {
    type: "ledger.post",
    entry: deposit ? "PARTNER_COLLATERAL_IN" : "PARTNER_COLLATERAL_OUT",
    key: `collateral:${context.reportId}`,
    currency: context.currency,
    amount: deposit ? context.amount : `-${context.amount}`,
    reason: null,
    refs: {
      partnerId: context.partnerId,
      reportId: context.reportId,
      partnerRef: context.partnerRef,
      sourceAsset: context.sourceAsset,
      txRef: context.txRef,
      direction: context.direction,
      occurredAt: context.occurredAt
    }
  }
})

export const collateralMachine = collateral.createMachine({
  id: "collateralReport",
  version: "2",
  context: ({ input }) => ({
    ...input,
    cashAfter: null,
    reservedAfter: null,
    freeAfter: null,
    freeMarginAfter: null,
    refusal: null,
    ledgerTxId: null,
    createdAt: 0
  }),
  initial: "NEW",
  states: {
    NEW: {
      description: "Not stored: the report is being decided under the client's lock.",
      on: {
        REPORT: [
          {
            guard: "allowed",
            target: "BOOKED",
            actions: [
              book,
              post,
              collateral.emit(({ context }) => ({
                type: "event",
                name: "collateral.booked",
                data: reportOf(context, "BOOKED")
              })),
              collateral.emit({
                type: "audit",
                action: "collateral.report",
                before: null,
                after: "BOOKED",
                reason: null
              })
            ]
          },
          {
            target: "REFUSED",
            actions: [
              refuse,
              collateral.emit(({ context }) => ({
                type: "event",
                name: "collateral.refused",
                data: reportOf(context, "REFUSED")
              })),
              collateral.emit(({ context }) => ({
                type: "audit",
                action: "collateral.report",
                before: null,
                after: "REFUSED",
                reason: context.refusal
              }))
            ]
          }
        ]
      }
    },
    BOOKED: { type: "final", description: "The client's cash has moved; the reference keeps this report for good." },
    REFUSED: { type: "final", description: "Nothing has moved; a new attempt needs a new reference." }
  }
})
