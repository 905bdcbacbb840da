/**
 * A request for quotes. The context keeps the calls in flight at the venue. While an accept is in flight, the request does
 * not end until the venue has answered; a withdrawal is repeated until the venue has confirmed it. A missing answer decides
 * nothing. The venue decides about executions: a request that has ended here still becomes ACCEPTED, with an alarm (D4).
 */
import { assertEvent, setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import {
  type ReceivedQuotes,
  type RfqContext,
  type RfqEvent,
  type RfqInput,
  acceptRef,
  keptQuotes,
  requestRef,
  withdrawalRef
} from "./Rfq.ts"

const rfq = setup({
  types: {
    context: {} as RfqContext,
    events: {} as RfqEvent,
    emitted: {} as MachineEffect,
    input: {} as RfqInput
  },
  guards: {
    /**
     * The quote may be accepted now: no call of the request is in flight, the venue has confirmed the request, and the
     * venue has not refused this quote before.
     */
    acceptable: ({ context, event }) =>
      event.type === "ACCEPT" &&
      context.venueRfqId !== null &&
      context.accepting === null &&
      context.cancelling === null &&
      !context.refusedQuotes.some(({ quoteId }) => quoteId === event.quoteId),
    notAccepting: ({ context }) => context.accepting === null,
    unconfirmed: ({ context }) => context.venueRfqId === null,
    /** The refused accept is the one in flight, and the request's window has ended meanwhile, so the request ends too. */
    refusedTooLate: ({ context, event }) =>
      event.type === "ACCEPT_REFUSED" &&
      context.accepting?.quoteId === event.quoteId &&
      event.at >= context.windowEndsAt,
    refusedInTime: ({ context, event }) =>
      event.type === "ACCEPT_REFUSED" &&
      context.accepting?.quoteId === event.quoteId &&
      event.at < context.windowEndsAt,
    /** The request may be withdrawn now: no accept is in flight, and the attempt is higher than all before. */
    withdrawable: ({ context, event }) =>
      event.type === "CANCEL" && context.accepting === null && event.attempt > context.withdrawals,
    withdrawing: ({ context }) => context.cancelling !== null,
    /** The request has ended in this service, but the venue has not confirmed the end. */
    heldOpen: ({ context }) => context.venueOpen,
    withdrawnAgain: ({ context, event }) =>
      event.type === "CANCEL" && context.venueOpen && event.attempt > context.withdrawals,
    /** The venue has the request although its confirmation was never received, and no withdrawal is in flight. */
    foundOpen: ({ context, event }) =>
      event.type === "FOUND" &&
      context.venueRfqId === null &&
      context.cancelling === null &&
      event.attempt > context.withdrawals,
    refusedEnded: ({ context, event }) =>
      event.type === "ACCEPT_REFUSED" && context.accepting?.quoteId === event.quoteId,
    endedCancelled: ({ context, event }) =>
      event.type === "VENUE_ENDED" && context.accepting === null && event.how === "CANCELLED",
    endedExpired: ({ context, event }) =>
      event.type === "VENUE_ENDED" && context.accepting === null && event.how === "EXPIRED",
    endedRejected: ({ context, event }) =>
      event.type === "VENUE_ENDED" && context.accepting === null && event.how === "REJECTED"
  }
})

const request = rfq.emit(({ context }): MachineEffect => {
  const { rfqId, account, windowEndsAt, closes } = context
  const ref = requestRef(rfqId)
  const contractId = closes?.venueContractId
  if (contractId !== undefined) {
    return { type: "venue.call", call: { name: "requestClose", request: { ref, account, contractId, windowEndsAt } } }
  }
  const { symbol, side, qty, barrierLevel: barrier, takeProfit, expiryTs: expiryAt, strict, premiumBps } = context
  const fields = { symbol, side, qty, barrier, takeProfit, expiryAt, strict, premiumBps, windowEndsAt }
  return { type: "venue.call", call: { name: "requestQuotes", request: { ref, account, ...fields } } }
})

const window = rfq.emit(({ context: { rfqId, windowEndsAt } }) => ({
  type: "timer.set",
  name: `rfq.window:${rfqId}`,
  at: windowEndsAt
}))
const noWindow = rfq.emit(({ context: { rfqId } }) => ({ type: "timer.clear", name: `rfq.window:${rfqId}` }))

const execute = rfq.emit(({ context: { rfqId, account, accepting } }): MachineEffect => {
  if (accepting === null) throw new Error(`rfq:${rfqId} accepts no quote`)
  const { quoteId } = accepting
  const call = { ref: acceptRef(rfqId, quoteId), account, target: requestRef(rfqId), quoteId }
  return { type: "venue.call", call: { name: "acceptQuote", request: call } }
})

/** Withdraws the request at the venue, once per attempt: the attempt's number makes the ref of the call. */
const withdraw = rfq.emit(({ context: { rfqId, account, cancelling } }): MachineEffect => {
  if (cancelling === null) throw new Error(`rfq:${rfqId} is not being withdrawn`)
  const call = { ref: withdrawalRef(rfqId, cancelling.attempt), account, target: requestRef(rfqId) }
  return { type: "venue.call", call: { name: "cancelRequest", request: call } }
})

const note = (action: string, before: string | null, after: string) =>
  rfq.emit(({ context: { rejectReason } }) => ({ type: "audit", action, before, after, reason: rejectReason }))
const refusedNote = rfq.emit(({ context: { autoAcceptNote } }) => ({
  type: "audit",
  action: "rfq.acceptRefused",
  before: "OPEN",
  after: "OPEN",
  reason: autoAcceptNote
}))
const expiredNotice = rfq.emit(({ context: { rfqId } }) => ({
  type: "notify",
  kind: "RFQ_EXPIRED",
  ref: String(rfqId)
}))

const confirmed = rfq.assign(({ event }) => {
  assertEvent(event, "CONFIRMED")
  return { venueRfqId: event.venueRfqId, updatedAt: event.at }
})
const touched = rfq.assign(({ event }) => ("at" in event ? { updatedAt: event.at } : {}))
const refused = rfq.assign(({ event }) => {
  assertEvent(event, "REFUSED")
  return { rejectReason: event.reason, venueOpen: false, cancelling: null, updatedAt: event.at }
})
const accepting = rfq.assign(({ event }) => {
  assertEvent(event, "ACCEPT")
  const { quoteId, price, premium, commission, at, by } = event
  return { accepting: { quoteId, price, premium, commission, at, by }, updatedAt: at }
})
const notAccepted = rfq.assign(({ context, event }) => {
  assertEvent(event, "ACCEPT_REFUSED")
  const { quoteId, reason, at } = event
  const refusedQuotes = [...context.refusedQuotes, { quoteId, reason }].slice(-100)
  return { accepting: null, refusedQuotes, autoAcceptNote: reason, updatedAt: at }
})
const executed = rfq.assign(({ context, event }) => {
  assertEvent(event, "EXECUTED")
  const { at, quoteId, contractId, entryPrice, premium, commission, quotes } = event
  const kept = keptQuotes(quotes, quoteId)
  return {
    accepting: null,
    cancelling: null,
    venueOpen: false,
    rejectReason: null,
    acceptedQuoteId: quoteId,
    contractId,
    entryPrice,
    premium,
    commission,
    quotes: kept.length === 0 ? context.quotes : kept,
    updatedAt: at
  }
})
const cancelling = rfq.assign(({ event }) => {
  assertEvent(event, "CANCEL")
  return { cancelling: { attempt: event.attempt }, withdrawals: event.attempt, updatedAt: event.at }
})
const dropped = rfq.assign(({ event }) => {
  assertEvent(event, "DROP")
  const { reason, attempt, at } = event
  return { rejectReason: reason, cancelling: { attempt }, withdrawals: attempt, updatedAt: at }
})
/** The facts of a request that is closed at the venue. The received quotes are stored with it. */
const over = ({ autoAcceptNote }: RfqContext, { quotes, note: received }: ReceivedQuotes) => ({
  venueOpen: false,
  cancelling: null,
  quotes: keptQuotes(quotes, null),
  autoAcceptNote: received ?? autoAcceptNote
})
/** Ends the request, but keeps an accept in flight, because its answer is still due. */
const contractEnded = rfq.assign(({ context, event }) => {
  assertEvent(event, "CONTRACT_ENDED")
  return { ...over(context, event), rejectReason: "contract ended", updatedAt: event.at }
})
const venueEnded = rfq.assign(({ context, event }) => {
  assertEvent(event, "VENUE_ENDED")
  return { ...over(context, event), rejectReason: event.reason, updatedAt: event.at }
})
/** The venue confirms the end; the request keeps the reason with which it ended here. */
const venueFollowed = rfq.assign(({ context, event }) => {
  assertEvent(event, "VENUE_ENDED")
  return over(context, event)
})
const found = rfq.assign(({ event }) => {
  assertEvent(event, "FOUND")
  const { venueRfqId, attempt } = event
  return { venueRfqId, venueOpen: true, cancelling: { attempt }, withdrawals: attempt }
})
const gone = rfq.assign({ venueOpen: false, cancelling: null })
const notWithdrawn = rfq.assign({ cancelling: null })

type Ended = "CANCELLED" | "EXPIRED" | "REJECTED"
const executedFrom = (before: "CREATING" | "OPEN") =>
  ({ target: "ACCEPTED", actions: [executed, noWindow, note("rfq.accepted", before, "ACCEPTED")] }) as const
/** Transitions for the venue's reports on a request that has ended here. */
const afterEnd = (state: Ended) =>
  ({
    EXECUTED: { target: "ACCEPTED", actions: [executed, note("rfq.lateExecution", state, "ACCEPTED")] },
    FOUND: { guard: "foundOpen", actions: [found, withdraw, note("rfq.lateRequest", state, state)] },
    CANCEL: { guard: "withdrawnAgain", actions: [cancelling, withdraw] },
    NOT_WITHDRAWN: { guard: "heldOpen", actions: notWithdrawn },
    VENUE_ENDED: { guard: "heldOpen", actions: venueFollowed },
    REFUSED: { guard: "heldOpen", actions: gone }
  }) as const

const dropFrom = (before: "CREATING" | "OPEN") =>
  ({
    target: "CANCELLED",
    actions: [dropped, withdraw, noWindow, note("rfq.drop", before, "CANCELLED")]
  }) as const
const elapsedFrom = (before: "CREATING" | "OPEN") =>
  ({
    target: "EXPIRED",
    actions: [touched, noWindow, expiredNotice, note("rfq.expire", before, "EXPIRED")]
  }) as const
const venueEndedFrom = (before: "CREATING" | "OPEN") =>
  [
    {
      guard: "endedCancelled",
      target: "CANCELLED",
      actions: [venueEnded, noWindow, note("rfq.cancel", before, "CANCELLED")]
    },
    {
      guard: "endedExpired",
      target: "EXPIRED",
      actions: [venueEnded, noWindow, expiredNotice, note("rfq.expire", before, "EXPIRED")]
    },
    {
      guard: "endedRejected",
      target: "REJECTED",
      actions: [venueEnded, noWindow, note("rfq.reject", before, "REJECTED")]
    }
  ] as const
const contractEndedFrom = (before: "CREATING" | "OPEN") =>
  ({ target: "CANCELLED", actions: [contractEnded, noWindow, note("rfq.cancel", before, "CANCELLED")] }) as const

export const rfqMachine = rfq.createMachine({
  id: "rfq",
  version: "2",
  context: ({ input }) => ({
    ...input,
    venueRfqId: null,
    accepting: null,
    cancelling: null,
    withdrawals: 0,
    refusedQuotes: [],
    venueOpen: true,
    autoAcceptNote: null,
    rejectReason: null,
    acceptedQuoteId: null,
    contractId: null,
    entryPrice: null,
    premium: null,
    quotes: []
  }),
  initial: "CREATING",
  states: {
    CREATING: {
      description: "Sent to the venue, which has not answered; lists do not show it.",
      entry: [request, window, note("rfq.create", null, "CREATING")],
      on: {
        CONFIRMED: { target: "OPEN", actions: confirmed },
        UNANSWERED: { target: "OPEN", actions: touched },
        REFUSED: { target: "REJECTED", actions: [refused, noWindow, note("rfq.reject", "CREATING", "REJECTED")] },
        EXECUTED: executedFrom("CREATING"),
        DROP: dropFrom("CREATING"),
        CONTRACT_ENDED: contractEndedFrom("CREATING"),
        WINDOW_ELAPSED: elapsedFrom("CREATING"),
        VENUE_ENDED: venueEndedFrom("CREATING")
      }
    },
    OPEN: {
      description: "Dealers may quote. An accept or a withdrawal may be in flight.",
      on: {
        CONFIRMED: { guard: "unconfirmed", actions: confirmed },
        REFUSED: {
          guard: "unconfirmed",
          target: "REJECTED",
          actions: [refused, noWindow, note("rfq.reject", "OPEN", "REJECTED")]
        },
        ACCEPT: { guard: "acceptable", actions: [accepting, execute, note("rfq.accept", "OPEN", "OPEN")] },
        ACCEPT_REFUSED: [
          { guard: "refusedInTime", actions: [notAccepted, refusedNote] },
          {
            guard: "refusedTooLate",
            target: "EXPIRED",
            actions: [notAccepted, refusedNote, noWindow, expiredNotice, note("rfq.expire", "OPEN", "EXPIRED")]
          }
        ],
        EXECUTED: executedFrom("OPEN"),
        CANCEL: { guard: "withdrawable", actions: [cancelling, withdraw, note("rfq.withdraw", "OPEN", "OPEN")] },
        DROP: { guard: "notAccepting", ...dropFrom("OPEN") },
        NOT_WITHDRAWN: { guard: "withdrawing", actions: notWithdrawn },
        CONTRACT_ENDED: contractEndedFrom("OPEN"),
        WINDOW_ELAPSED: { guard: "notAccepting", ...elapsedFrom("OPEN") },
        VENUE_ENDED: venueEndedFrom("OPEN")
      }
    },
    ACCEPTED: { type: "final", description: "A quote was executed: a contract was opened, or closed." },
    CANCELLED: {
      description: "Taken back, by the partner or by a rule.",
      on: {
        ...afterEnd("CANCELLED"),
        ACCEPT_REFUSED: { guard: "refusedEnded", actions: rfq.assign({ accepting: null }) }
      }
    },
    EXPIRED: { description: "The window ended without an accept.", on: afterEnd("EXPIRED") },
    REJECTED: { description: "The venue refused it, or never had it.", on: afterEnd("REJECTED") }
  }
})
