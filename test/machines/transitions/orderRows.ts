/** Orders as literal rows (D6). */
import { rowsOf } from "./TransitionRow.ts"
import type { OrderEvent } from "../../../src/machines/order/Order.ts"
import { lastFill, partialFill, perpInput, spotInput, stopInput } from "../../../src/machines/order/orderSamples.ts"

const row = rowsOf<OrderEvent>(perpInput)
const ofStop = rowsOf<OrderEvent>(stopInput)
const ofSpot = rowsOf<OrderEvent>(spotInput)
const ofAttempt = rowsOf<OrderEvent>({ ...stopInput, origin: "ATTACHED", note: "attempt 2" })

const send: OrderEvent = { type: "SEND", at: 10 }
const ack: OrderEvent = { type: "ACKED", at: 11, venueOrderId: 9 }
const adopted: OrderEvent = { type: "ADOPTED", at: 10, venueOrderId: 9 }
const triggered: OrderEvent = { type: "TRIGGERED", at: 12 }
const refused: OrderEvent = { type: "REFUSED", at: 11, reason: "market halted", isVoid: false }
const neverThere: OrderEvent = { type: "REFUSED", at: 60, reason: "not found at the venue", isVoid: true }
const part: OrderEvent = { ...partialFill, at: 20 } as OrderEvent
/** Another trade of the same size: a repeated trade must not be posted twice. */
const more: OrderEvent = { ...partialFill, at: 20, tradeId: 72 } as OrderEvent
const rest: OrderEvent = { ...lastFill, at: 30 } as OrderEvent
const ended: OrderEvent = { type: "ENDED", at: 40, how: "CANCELLED", reason: "not filled at once" }
const rejected: OrderEvent = { type: "ENDED", at: 40, how: "REJECTED", reason: "no position to reduce" }
const cancel: OrderEvent = { type: "CANCEL", at: 15, attempt: 1, note: null }
const again: OrderEvent = { type: "CANCEL", at: 50, attempt: 2, note: "found working at the venue" }
const cancelRefused: OrderEvent = { type: "CANCEL_REFUSED", at: 16, reason: "busy", askAgainAt: null }
const refusedForNow: OrderEvent = { ...cancelRefused, askAgainAt: 1_016 }
const amend: OrderEvent = { type: "AMEND", at: 17, attempt: 1, qty: "0.2000" }
const amended: OrderEvent = { type: "AMENDED", at: 18, qty: "0.2000" }
const notAmended: OrderEvent = { type: "AMEND_REFUSED", at: 18, askAgainAt: null }
const bounded: OrderEvent = { type: "AMEND", at: 17, attempt: 1, qty: "0.1000", boundBps: 100 }
const protectedBy: OrderEvent = { type: "ATTACHED", at: 21, legs: [4, 5], note: null }

const rejects = ["notify ORDER_REJECTED", "audit order.reject"]
const ends = ["audit order.end"]
const cancels = ["venue.call cancelOrder", "audit order.cancel"]
/** The postings of the samples' trades: a loss and a commission; on spot the exchanged amounts. */
const lastPosts = ["ledger.post PNL", "ledger.post COMMISSION"]
const spotPosts = ["ledger.post SPOT_RELEASE", "ledger.post SPOT_SETTLE", "ledger.post COMMISSION"]
/** The partial sample on a perpetual, where nothing is reserved. */
const partPosts = ["ledger.post SPOT_SETTLE", "ledger.post COMMISSION"]
const fills = [...lastPosts, "notify ORDER_FILLED"]

const acked = [send, ack]
const partial = [send, ack, part]
const waiting = [send, ack]
const cancelling = [send, ack, cancel]
const noCancel = { cancelling: null }

/** The events of an order that works at the venue, except its acknowledgement. */
const worked = (
  state: "SENT" | "ACKED" | "PARTIAL" | "PENDING_TRIGGER",
  given: ReadonlyArray<OrderEvent>,
  of = row
) => [
  of(`D6: ${state}, fill, filled < qty`, state, given, state === "PARTIAL" ? more : part, "PARTIAL", partPosts, {
    filledQty: "0.0400",
    updatedAt: 20
  }),
  of(`D6: ${state}, fill, filled = qty`, state, given, rest, "FILLED", fills, { filledQty: "0.1000", updatedAt: 30 }),
  of(`D6: ${state}, the venue ended the rest`, state, given, ended, "CANCELLED", ends, { note: "not filled at once" }),
  of(`D6: ${state}, cancel`, state, given, cancel, "PENDING_CANCEL", cancels, {
    cancelling: { attempt: 1, from: state },
    cancels: 1
  }),
  of(`A2-40: ${state}, its protection is placed`, state, given, protectedBy, state, [], { legs: [4, 5], updatedAt: 21 })
]

/** Another quantity of a working order (A2-40). */
const amendments = (state: "ACKED" | "PARTIAL" | "PENDING_TRIGGER", given: ReadonlyArray<OrderEvent>, of = row) => [
  of(`A2-40: ${state}, amended`, state, given, amend, state, ["venue.call amendOrder"], { amends: 1 }),
  of(`A2-40: ${state}, amended while another quantity is in flight`, state, [...given, amend], amend, "refused"),
  of(`A2-40: ${state}, the venue has the quantity`, state, [...given, amend], amended, state, [], {
    qty: "0.2000",
    amending: null
  }),
  of(`A2-40: ${state}, the venue keeps the quantity`, state, [...given, amend], notAmended, state, [], {
    qty: "0.1000",
    amending: null
  })
]

/** Another bound of a waiting order (F13). */
const bounds = [
  ofStop(
    "F13: PENDING_TRIGGER, its bound changes",
    "PENDING_TRIGGER",
    waiting,
    bounded,
    "PENDING_TRIGGER",
    ["venue.call amendOrder"],
    { amends: 1, boundAmends: 1 }
  ),
  ofStop(
    "F13: PENDING_TRIGGER, the venue has the bound",
    "PENDING_TRIGGER",
    [...waiting, bounded],
    { ...bounded, type: "AMENDED" },
    "PENDING_TRIGGER",
    [],
    { boundBps: 100, qty: "0.1000", amending: null }
  ),
  ofStop(
    "F13: PENDING_TRIGGER, the venue keeps the bound: it is asked for again",
    "PENDING_TRIGGER",
    [...waiting, bounded],
    { ...notAmended, askAgainAt: 1_018 },
    "PENDING_TRIGGER",
    ["timer.set order.bound:2"],
    { amending: null, boundRetryAt: 1_018 }
  )
]

/** Executions at the venue count, even after the order has ended here. */
const late = (state: "CANCELLED" | "REJECTED", given: ReadonlyArray<OrderEvent>, asked: number) => [
  row(`D6: ${state}, late fill, complete`, state, given, rest, "FILLED", [...fills, "audit order.lateFill"], {
    filledQty: "0.1000"
  }),
  row(`D6: ${state}, late fill`, state, given, part, "CANCELLED", [...partPosts, "audit order.lateFill"], {
    filledQty: "0.0400"
  }),
  row(`D6: ${state}, found working at the venue`, state, given, { ...again, attempt: asked + 1 }, state, [
    "venue.call cancelOrder",
    "audit order.foundWorking"
  ]),
  row(`A2-40: ${state}, its protection`, state, given, protectedBy, state, [], { legs: [4, 5] }),
  row(`D6: ${state}, ends again`, state, given, ended, "refused"),
  row(`D6: ${state}, acknowledged late`, state, given, ack, "refused")
]

export const orderRows = [
  row("D6: CHECKED, send", "CHECKED", [], send, "SENT", ["venue.call placeOrder", "audit order.place"], {
    updatedAt: 10
  }),
  row("A2-97: CHECKED, the venue made it by itself", "CHECKED", [], adopted, "ACKED", ["audit order.adopted"], {
    venueOrderId: 9
  }),
  row("D6: CHECKED, cancel, not yet sent", "CHECKED", [], cancel, "CANCELLED", ["audit order.cancel"], { cancels: 0 }),
  ofSpot(
    "F20: CHECKED, cancel, the reserve comes back whole",
    "CHECKED",
    [],
    cancel,
    "CANCELLED",
    ["ledger.post SPOT_RELEASE", "audit order.cancel"],
    { released: "6006.000000" }
  ),
  row("D6: CHECKED, a fill of what was never sent", "CHECKED", [], rest, "refused"),

  row("D6: SENT, ack", "SENT", [send], ack, "ACKED", [], { venueOrderId: 9 }),
  ofStop("D6: SENT, ack, conditional", "SENT", [send], ack, "PENDING_TRIGGER", [], { venueOrderId: 9 }),
  row("D6: SENT, reject", "SENT", [send], refused, "REJECTED", rejects, { reject: "market halted" }),
  ofAttempt(
    "D7: SENT, a later attempt of a leg is rejected",
    "SENT",
    [send],
    refused,
    "REJECTED",
    ["audit order.reject"],
    {
      reject: "market halted"
    }
  ),
  ofAttempt("D7: SENT, a later attempt of a leg ends", "SENT", [send], ended, "CANCELLED", ends, {
    note: "not filled at once"
  }),
  row("D6: SENT, not found", "SENT", [send], neverThere, "REJECTED", rejects, { reject: "not found at the venue" }),
  ofSpot(
    "F20: SENT, reject, the reserve comes back whole",
    "SENT",
    [send],
    refused,
    "REJECTED",
    ["ledger.post SPOT_RELEASE", ...rejects],
    { released: "6006.000000" }
  ),
  row("D6: SENT, taken and rejected by the venue", "SENT", [send], rejected, "REJECTED", rejects),
  ofSpot("F20: SENT, fill, its part of the reserve is paid", "SENT", [send], part, "PARTIAL", spotPosts, {
    consumed: "2362.360000",
    released: "40.040000"
  }),
  ...worked("SENT", [send]),

  row("D6: ACKED, venue reject after ack", "ACKED", acked, rejected, "REJECTED", rejects, {
    reject: "no position to reduce"
  }),
  row("D6: ACKED, acknowledged twice", "ACKED", acked, ack, "refused"),
  ...worked("ACKED", acked),
  ...amendments("ACKED", acked),

  row("D6: PARTIAL, ack, stale", "PARTIAL", [send, part], ack, "PARTIAL", [], { venueOrderId: 9 }),
  row("D6: PARTIAL, what traded is not rejected", "PARTIAL", partial, rejected, "CANCELLED", ends),
  ofSpot(
    "F20: PARTIAL, the rest ends and comes back",
    "PARTIAL",
    partial,
    ended,
    "CANCELLED",
    ["ledger.post SPOT_RELEASE", ...ends],
    { consumed: "2362.360000", released: "3643.640000" }
  ),
  ...worked("PARTIAL", partial),
  ...amendments("PARTIAL", partial),

  ofStop("D6: PENDING_TRIGGER, triggered", "PENDING_TRIGGER", waiting, triggered, "ACKED", [], { triggeredAt: 12 }),
  ofStop("D6: PENDING_TRIGGER, a fill is its trigger", "PENDING_TRIGGER", waiting, rest, "FILLED", fills, {
    triggeredAt: 30
  }),
  ofStop("D6: ACKED, triggered twice", "ACKED", [...waiting, triggered], triggered, "refused"),
  ofStop("D6: PENDING_TRIGGER, triggered, then refused", "PENDING_TRIGGER", waiting, rejected, "REJECTED", rejects),
  ...worked("PENDING_TRIGGER", waiting, ofStop),
  ...amendments("PENDING_TRIGGER", waiting, ofStop),
  ...bounds,

  row("D6: PENDING_CANCEL, ack", "PENDING_CANCEL", [send, cancel], ack, "PENDING_CANCEL", [], { venueOrderId: 9 }),
  ofStop("D6: PENDING_CANCEL, triggered", "PENDING_CANCEL", cancelling, triggered, "PENDING_CANCEL", [], {
    triggeredAt: 12
  }),
  row("D6: PENDING_CANCEL, fill, filled = qty", "PENDING_CANCEL", cancelling, rest, "FILLED", fills, noCancel),
  row("D6: PENDING_CANCEL, partial fill", "PENDING_CANCEL", cancelling, part, "PENDING_CANCEL", partPosts, {
    filledQty: "0.0400"
  }),
  row("D6: PENDING_CANCEL, cancelled", "PENDING_CANCEL", cancelling, ended, "CANCELLED", ends, noCancel),
  row(
    "D6: PENDING_CANCEL, rejected by the venue",
    "PENDING_CANCEL",
    cancelling,
    rejected,
    "REJECTED",
    rejects,
    noCancel
  ),
  row("D6: PENDING_CANCEL, not found", "PENDING_CANCEL", [send, cancel], neverThere, "CANCELLED", ends, {
    note: "not found at the venue"
  }),
  row(
    "D6: PENDING_CANCEL, the order is refused",
    "PENDING_CANCEL",
    [send, cancel],
    refused,
    "REJECTED",
    rejects,
    noCancel
  ),
  row(
    "D6: PENDING_CANCEL, cancel once more",
    "PENDING_CANCEL",
    cancelling,
    again,
    "PENDING_CANCEL",
    ["venue.call cancelOrder"],
    { cancelling: { attempt: 2, from: "ACKED" }, cancels: 2 }
  ),
  row("D6: PENDING_CANCEL, the same cancel", "PENDING_CANCEL", cancelling, cancel, "refused"),
  row(
    "D6: PENDING_CANCEL, cancel refused: it was SENT",
    "PENDING_CANCEL",
    [send, cancel],
    cancelRefused,
    "SENT",
    [],
    noCancel
  ),
  row(
    "D6: PENDING_CANCEL, cancel refused: it works",
    "PENDING_CANCEL",
    cancelling,
    cancelRefused,
    "ACKED",
    [],
    noCancel
  ),
  row(
    "A2-39: PENDING_CANCEL, cancel refused of what has nothing left to reduce",
    "PENDING_CANCEL",
    cancelling,
    refusedForNow,
    "ACKED",
    ["timer.set order.cancel:1"],
    noCancel
  ),
  row(
    "D6: PENDING_CANCEL, cancel refused: it was acknowledged meanwhile",
    "PENDING_CANCEL",
    [send, cancel, ack],
    cancelRefused,
    "ACKED"
  ),
  row(
    "D6: PENDING_CANCEL, cancel refused: filled in part",
    "PENDING_CANCEL",
    [...cancelling, part],
    cancelRefused,
    "PARTIAL",
    [],
    noCancel
  ),
  ofStop(
    "D6: PENDING_CANCEL, cancel refused: it waits",
    "PENDING_CANCEL",
    cancelling,
    cancelRefused,
    "PENDING_TRIGGER",
    [],
    noCancel
  ),
  row(
    "A2-40: PENDING_CANCEL, the venue has the quantity",
    "PENDING_CANCEL",
    [send, ack, amend, cancel],
    amended,
    "PENDING_CANCEL",
    [],
    { qty: "0.2000" }
  ),
  row(
    "A2-40: PENDING_CANCEL, the venue keeps the quantity",
    "PENDING_CANCEL",
    [send, ack, amend, cancel],
    notAmended,
    "PENDING_CANCEL",
    [],
    { amending: null }
  ),
  row("A2-40: PENDING_CANCEL, its protection", "PENDING_CANCEL", cancelling, protectedBy, "PENDING_CANCEL", [], {
    legs: [4, 5]
  }),

  row("A2-40: FILLED, its protection", "FILLED", [...acked, rest], protectedBy, "FILLED", [], { legs: [4, 5] }),
  row("D6: FILLED, ack, stale", "FILLED", [send, rest], ack, "refused"),
  row("D6: FILLED, cancel", "FILLED", [send, rest], cancel, "refused"),
  row("D6: FILLED, the venue ends it", "FILLED", [send, rest], ended, "refused"),
  ...late("CANCELLED", [...cancelling, ended], 1),
  ...late("REJECTED", [send, refused], 0)
]
