/**
 * An order. It counts as being at the venue from the commit that sends it: a missing answer decides nothing, and executions
 * are booked in any state. The transition that takes a trade posts the trade's money under ledger keys of order and trade, so
 * no trade is posted twice. The end returns the unused reserve (D6).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import { amountPlus, isNothing } from "../shared/Money.ts"
import {
  type Amendment,
  amendRef,
  cancelRef,
  type FillMoney,
  isLaterAttempt,
  type OrderContext,
  type OrderEvent,
  type OrderInput,
  orderRef
} from "./Order.ts"

const order = setup({
  types: {
    context: {} as OrderContext,
    events: {} as OrderEvent,
    emitted: {} as MachineEffect,
    input: {} as OrderInput
  },
  guards: {
    /** The order waits for its trigger price. */
    waits: ({ context }) => context.trigger !== null && context.triggeredAt === null,
    complete: ({ event }) => event.type === "FILL" && event.complete,
    rejected: ({ context, event }) => event.type === "ENDED" && event.how === "REJECTED" && context.lastTradeId === 0,
    /** The order never reached the venue, and never will. */
    isVoid: ({ event }) => event.type === "REFUSED" && event.isVoid,
    cancelIsNew: ({ context, event }) => event.type === "CANCEL" && event.attempt > context.cancels,
    /**
     * The order was in state SENT when its cancel was requested, and the venue has not acknowledged the order since.
     */
    wasSent: ({ context }) => context.cancelling?.from === "SENT" && context.venueOrderId === null,
    wasWaiting: ({ context }) => context.trigger !== null && context.triggeredAt === null && context.lastTradeId === 0,
    hasFills: ({ context }) => context.lastTradeId > 0,
    amendable: ({ context, event }) =>
      event.type === "AMEND" && context.amending === null && event.attempt > context.amends
  }
})

const place = order.emit(({ context }): MachineEffect => {
  const { orderId, account, symbol, side, qty, venuePrice, boundBps, venueTif, reduceOnly, trigger, ocoGroup } = context
  const waits = trigger === null ? null : { source: trigger.source, price: trigger.price, direction: trigger.direction }
  const fields = { symbol, side, price: venuePrice, qty, tif: venueTif, reduceOnly, trigger: waits, group: ocoGroup }
  const bounded = boundBps === null ? fields : { ...fields, boundBps }
  return { type: "venue.call", call: { name: "placeOrder", request: { ref: orderRef(orderId), account, ...bounded } } }
})

const callCancel = order.emit(({ context: { orderId, account, cancels } }): MachineEffect => {
  const request = { ref: cancelRef(orderId, cancels), account, target: orderRef(orderId) }
  return { type: "venue.call", call: { name: "cancelOrder", request } }
})

const callAmend = order.emit(({ context: { orderId, account, amends, amending } }): MachineEffect => {
  const fields = { ref: amendRef(orderId, amends), account, target: orderRef(orderId), qty: amending?.qty ?? "0" }
  const bound = amending?.boundBps
  const request = bound === undefined ? fields : { ...fields, boundBps: bound }
  return { type: "venue.call", call: { name: "amendOrder", request } }
})

const note = (action: string, after: string) =>
  order.emit(({ context, event }) => ({
    type: "audit",
    action,
    before: null,
    after,
    reason: "reason" in event ? event.reason : context.note
  }))

/** Later attempts to place a leg raise no notice: the partner has the notice of the first attempt. */
const rejectedNotice = order.enqueueActions(({ context, enqueue }) => {
  if (isLaterAttempt(context) && context.triggeredAt === null) return
  enqueue.emit({ type: "notify", kind: "ORDER_REJECTED", ref: String(context.orderId) })
})
const filledNotice = order.emit(({ context: { orderId } }) => ({
  type: "notify",
  kind: "ORDER_FILLED",
  ref: String(orderId)
}))

const reserve = order.enqueueActions(({ context: { orderId, symbol, reserved }, enqueue }) => {
  if (!reserved) return
  const { currency, amount } = reserved
  enqueue.emit({
    type: "ledger.post",
    entry: "SPOT_RESERVE",
    key: `reserve:${orderId}`,
    currency,
    amount: `-${amount}`,
    reason: null,
    refs: { ClientOrderId: orderRef(orderId), Instrument: symbol }
  })
})

/** Returns the part of the reserve that was neither paid nor returned. */
const release = order.enqueueActions(({ context, enqueue }) => {
  const { orderId, symbol, reserved, consumed, released } = context
  if (reserved === null) return
  const { currency } = reserved
  const rest = amountPlus(currency, reserved.amount, `-${consumed}`, `-${released}`)
  if (isNothing(rest)) return
  enqueue.assign({ released: amountPlus(currency, released, rest) })
  enqueue.emit({
    type: "ledger.post",
    entry: "SPOT_RELEASE",
    key: `release:${orderId}`,
    currency,
    amount: rest,
    reason: null,
    refs: { ClientOrderId: orderRef(orderId), Instrument: symbol }
  })
})

const postings = (
  { orderId, symbol, reserved }: OrderContext,
  tradeId: number,
  { pnl, commission, quote, spot }: FillMoney
): ReadonlyArray<MachineEffect> => {
  const of = `${orderId}:${tradeId}`
  const posting = {
    type: "ledger.post",
    reason: null,
    refs: { TradeId: tradeId, ClientOrderId: orderRef(orderId), Instrument: symbol }
  } as const
  const posted: Array<MachineEffect> = []
  if (spot !== null && reserved !== null && !isNothing(spot.unreserved)) {
    const { currency } = reserved
    posted.push({ ...posting, entry: "SPOT_RELEASE", key: `release:${of}`, currency, amount: spot.unreserved })
  }
  if (spot !== null) {
    const { base: currency, baseAmount: amount, quoteAmount } = spot
    const also = { currency: quote, amount: quoteAmount }
    posted.push({ ...posting, entry: "SPOT_SETTLE", key: `spot:${of}`, currency, amount, also })
  }
  if (pnl !== null && !isNothing(pnl)) {
    posted.push({ ...posting, entry: "PNL", key: `pnl:${of}`, currency: quote, amount: pnl })
  }
  if (!isNothing(commission)) {
    posted.push({ ...posting, entry: "COMMISSION", key: `commission:${of}`, currency: quote, amount: `-${commission}` })
  }
  return posted
}

/** Books a trade: updates the order's totals and posts the money. */
const book = order.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== "FILL") return
  const { at, tradeId, totals, money } = event
  const isFirst = context.triggeredAt === null && context.trigger !== null
  enqueue.assign({
    ...totals,
    lastTradeId: Math.max(context.lastTradeId, tradeId),
    triggeredAt: isFirst ? at : context.triggeredAt,
    updatedAt: at
  })
  for (const posting of postings(context, tradeId, money)) enqueue.emit(posting)
})

const touched = order.assign(({ event }) => ("at" in event ? { updatedAt: event.at } : {}))
const acked = order.assign(({ event }) =>
  event.type === "ACKED" || event.type === "ADOPTED" ? { venueOrderId: event.venueOrderId, updatedAt: event.at } : {}
)
const triggered = order.assign(({ event }) =>
  event.type === "TRIGGERED" ? { triggeredAt: event.at, updatedAt: event.at } : {}
)
const nothingInFlight = order.assign({ cancelling: null, amending: null })
const refusedBy = order.assign(({ event }) =>
  event.type === "REFUSED" || event.type === "ENDED" ? { reject: event.reason, updatedAt: event.at } : {}
)
const endedBy = order.assign(({ context, event }) =>
  event.type === "ENDED" || event.type === "REFUSED"
    ? {
        note: isLaterAttempt(context) ? (event.reason ?? context.note) : (context.note ?? event.reason),
        updatedAt: event.at
      }
    : {}
)
const cancelFrom = (from: "SENT" | "ACKED" | "PARTIAL" | "PENDING_TRIGGER") =>
  order.assign(({ context, event }) =>
    event.type === "CANCEL"
      ? {
          cancelling: { attempt: event.attempt, from },
          cancels: event.attempt,
          note: event.note ?? context.note,
          updatedAt: event.at
        }
      : {}
  )
const cancelAgain = order.assign(({ context, event }) =>
  event.type === "CANCEL"
    ? {
        cancelling: { attempt: event.attempt, from: context.cancelling?.from ?? "ACKED" },
        cancels: event.attempt,
        note: event.note ?? context.note,
        updatedAt: event.at
      }
    : {}
)
/**
 * Sets a durable timer that retries a refused cancel of an order that must not continue to work, or a refused amendment of a
 * bound.
 */
const retryLater = order.enqueueActions(({ context: { orderId }, event, enqueue }) => {
  if (!("askAgainAt" in event) || event.askAgainAt === null) return
  const name =
    event.type === "CANCEL_REFUSED" ? (`order.cancel:${orderId}` as const) : (`order.bound:${orderId}` as const)
  enqueue.emit({ type: "timer.set", name, at: event.askAgainAt })
})
const cancelRefused = [touched, nothingInFlight, retryLater] as const
const counted = order.assign(({ event }) => (event.type === "CANCEL" ? { cancels: event.attempt } : {}))
const cancelledHere = order.assign(({ context, event }) =>
  event.type === "CANCEL" ? { note: event.note ?? context.note, updatedAt: event.at } : {}
)
const amendmentOf = ({ attempt, qty, boundBps }: Amendment & { readonly attempt: number }) =>
  boundBps === undefined ? { attempt, qty } : { attempt, qty, boundBps }
const amending = order.assign(({ context: { boundAmends = 0 }, event }) => {
  if (event.type !== "AMEND") return {}
  const fields = { amending: amendmentOf(event), amends: event.attempt, updatedAt: event.at }
  return event.boundBps === undefined ? fields : { ...fields, boundAmends: boundAmends + 1 }
})
const amended = order.assign(({ context, event }) =>
  event.type === "AMENDED"
    ? { qty: event.qty, boundBps: event.boundBps ?? context.boundBps, amending: null, updatedAt: event.at }
    : {}
)
const notAmended = [
  order.assign(({ event }) =>
    event.type === "AMEND_REFUSED" && event.askAgainAt !== null
      ? { amending: null, boundRetryAt: event.askAgainAt }
      : { amending: null }
  ),
  retryLater
] as const
const attached = order.assign(({ context, event }) =>
  event.type === "ATTACHED" ? { legs: event.legs, note: event.note ?? context.note, updatedAt: event.at } : {}
)

const fills = [
  { guard: "complete", target: "FILLED", actions: [book, nothingInFlight, release, filledNotice] },
  { target: "PARTIAL", actions: book }
] as const
const ends = [
  {
    guard: "rejected",
    target: "REJECTED",
    actions: [refusedBy, nothingInFlight, release, rejectedNotice, note("order.reject", "REJECTED")]
  },
  { target: "CANCELLED", actions: [endedBy, nothingInFlight, release, note("order.end", "CANCELLED")] }
] as const
const cancel = (from: "SENT" | "ACKED" | "PARTIAL" | "PENDING_TRIGGER") =>
  ({
    guard: "cancelIsNew",
    target: "PENDING_CANCEL",
    actions: [cancelFrom(from), callCancel, note("order.cancel", "PENDING_CANCEL")]
  }) as const

/** Events of an order that works at the venue; they keep its state. */
const amendments = {
  AMEND: { guard: "amendable", actions: [amending, callAmend] },
  AMENDED: { actions: amended },
  AMEND_REFUSED: { actions: notAmended }
} as const
const legReports = { ATTACHED: { actions: attached } } as const

/** Transitions of an ended order. The venue decides about executions, so a late trade is still booked, with an alarm. */
const late = {
  FILL: [
    { guard: "complete", target: "FILLED", actions: [book, filledNotice, note("order.lateFill", "FILLED")] },
    { target: "CANCELLED", actions: [book, note("order.lateFill", "CANCELLED")] }
  ],
  /** The order still works at the venue, so the service requests its cancel there. */
  CANCEL: { guard: "cancelIsNew", actions: [counted, callCancel, note("order.foundWorking", "CANCELLED")] },
  ...legReports
} as const

export const orderMachine = order.createMachine({
  id: "order",
  version: "2",
  context: ({ input }) => ({
    ...input,
    venueOrderId: null,
    filledQty: "0",
    lastTradeId: 0,
    consumed: "0",
    released: "0",
    quoteTotal: "0",
    cancelling: null,
    cancels: 0,
    amending: null,
    amends: 0,
    triggeredAt: null,
    reject: null,
    legs: []
  }),
  initial: "CHECKED",
  states: {
    CHECKED: {
      description: "Its gates are passed and its margin or reserve is held; it is not sent yet.",
      entry: reserve,
      on: {
        SEND: { target: "SENT", actions: [touched, place, note("order.place", "SENT")] },
        ADOPTED: { target: "ACKED", actions: [acked, note("order.adopted", "ACKED")] },
        CANCEL: { target: "CANCELLED", actions: [cancelledHere, release, note("order.cancel", "CANCELLED")] }
      }
    },
    SENT: {
      description: "Sent to the venue, which has not acknowledged it yet.",
      on: {
        ACKED: [
          { guard: "waits", target: "PENDING_TRIGGER", actions: acked },
          { target: "ACKED", actions: acked }
        ],
        REFUSED: {
          target: "REJECTED",
          actions: [refusedBy, release, rejectedNotice, note("order.reject", "REJECTED")]
        },
        FILL: fills,
        ENDED: ends,
        CANCEL: cancel("SENT"),
        ...legReports
      }
    },
    ACKED: {
      description: "In the venue's book.",
      on: { FILL: fills, ENDED: ends, CANCEL: cancel("ACKED"), ...amendments, ...legReports }
    },
    PARTIAL: {
      description: "In the venue's book, filled in part.",
      on: {
        ACKED: { actions: acked },
        FILL: fills,
        ENDED: ends[1],
        CANCEL: cancel("PARTIAL"),
        ...amendments,
        ...legReports
      }
    },
    PENDING_TRIGGER: {
      description: "At the venue, where it waits for its price.",
      on: {
        TRIGGERED: { target: "ACKED", actions: triggered },
        FILL: fills,
        ENDED: ends,
        CANCEL: cancel("PENDING_TRIGGER"),
        ...amendments,
        ...legReports
      }
    },
    PENDING_CANCEL: {
      description: "A cancel is sent to the venue, which has not confirmed it.",
      on: {
        ACKED: { actions: acked },
        TRIGGERED: { actions: triggered },
        FILL: [fills[0], { actions: book }],
        ENDED: ends,
        REFUSED: [
          {
            guard: "isVoid",
            target: "CANCELLED",
            actions: [endedBy, nothingInFlight, release, note("order.end", "CANCELLED")]
          },
          {
            target: "REJECTED",
            actions: [refusedBy, nothingInFlight, release, rejectedNotice, note("order.reject", "REJECTED")]
          }
        ],
        CANCEL: { guard: "cancelIsNew", actions: [cancelAgain, callCancel] },
        CANCEL_REFUSED: [
          { guard: "wasSent", target: "SENT", actions: cancelRefused },
          { guard: "wasWaiting", target: "PENDING_TRIGGER", actions: cancelRefused },
          { guard: "hasFills", target: "PARTIAL", actions: cancelRefused },
          { target: "ACKED", actions: cancelRefused }
        ],
        AMENDED: { actions: amended },
        AMEND_REFUSED: { actions: notAmended },
        ...legReports
      }
    },
    FILLED: { description: "Filled to the last lot.", on: legReports },
    CANCELLED: { description: "Ended before it was filled whole; the hold for the rest is released.", on: late },
    REJECTED: { description: "Refused by the venue, or never there: nothing of it was filled.", on: late }
  }
})
