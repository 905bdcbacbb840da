/**
 * Ends orders by staff with the venue's evidence, in the client's turn: orders for which the venue gives no answer, or
 * whose report never fits. The order ends as the venue's report would have ended it. A report after that is handled
 * like any report of an ended order (A2-103, A2-115, A2-116, D6).
 */
import { orderRef } from "../../../../machines/order/Order.ts"
import { decimalText, floorToMinor, formatAmount, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import { accept, invalidFields, type Refusal, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { VenueFill, VenueOrder } from "../../../../machines/venue/venueObjects.ts"
import { ownerOfRef } from "../../../../machines/venue/venueRefs.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import type { OrderRow } from "../../../tables/order.ts"
import { breakOfClient } from "../../money/breaks/clientBreaks.ts"
import type { Execution, ResolvedState } from "../rfq/resolveDecisions.ts"
import { endMisfits } from "../../venue/misfits.ts"
import { endCall } from "../../venue/outcomes.ts"
import { noteResolved, unlessUnknown } from "../../venue/resolved.ts"
import type { VenueHandlers } from "../../venue/VenueHandler.ts"
import { type BookingTurn, bookFill, isBooked } from "./fillBooking.ts"
import { orderInTurn } from "./orderDecisions.ts"

/**
 * The refusal of a resolution. Null: staff can end the order, because the venue never answered its call, or because a
 * misfit of the order stands.
 */
export const orderRefusal = (state: SubjectState, { id }: Pick<OrderRow, "id">): Refusal | null =>
  unlessUnknown(state, orderRef(id), `order:${id}`)

/**
 * Ends an order without a further trade, and releases its holds. An order whose call has no answer counts as never
 * received.
 */
export const resolveOrderVoid = (
  at: BookingTurn,
  handlers: VenueHandlers,
  row: OrderRow,
  reason: string
): Verdict<ResolvedState> => {
  const refusal = orderRefusal(at.turn.state, row)
  if (refusal !== null) return refuse(refusal)
  noteResolved(at, `order:${row.id}`, row.state, reason)
  const isKnown = row.context.venueOrderId !== null
  const placing = isKnown
    ? ({ outcome: "EXECUTED", reason, order: orderOf(row, reason) } as const)
    : ({ outcome: "VOID", reason, order: null } as const)
  endCalls(at, handlers, row, placing)
  return accept({ state: stateOf(at, row), breakId: null })
}

/**
 * Ends an order as executed by one trade. The trade is booked as usual, and the unfilled rest ends. A cost beyond the order's
 * limit opens a break.
 */
export const resolveOrderExecuted = (
  at: BookingTurn,
  handlers: VenueHandlers,
  row: OrderRow,
  { reason, ...execution }: Execution & { readonly reason: string }
): Verdict<ResolvedState> => {
  const refusal = orderRefusal(at.turn.state, row)
  if (refusal !== null) return refuse(refusal)
  const { context } = row
  const left = new MoneyDecimal(context.qty).minus(context.filledQty)
  if (left.lt(execution.qty)) {
    return refuse(invalidFields({ qty: `Only ${decimalText(left, context.qtyDecimals)} of the order is left.` }))
  }
  const fill = fillOf(at.turn.now, row, execution)
  if (isBooked(at, row, fill))
    return refuse(invalidFields({ tradeId: `Trade ${execution.tradeId} is booked already.` }))
  noteResolved(at, `order:${row.id}`, row.state, reason)
  const booked = bookFill(at, row, fill)
  compareFromNow(at, row)
  endCalls(at, handlers, row, { outcome: "EXECUTED", reason, order: orderOf(booked, reason) })
  const beyond = beyondLimit(row, execution)
  const sentence = `order:${row.id} was resolved at ${formatAmount(beyond, "USDC")} beyond its limit.`
  return accept({
    state: stateOf(at, row),
    breakId: beyond === 0n ? null : breakOfClient(at.turn, row, beyond, sentence)
  })
}

/** Includes the account in the comparison with the venue, even if no event of it has arrived yet. */
const compareFromNow = ({ turn }: BookingTurn, { clientId }: OrderRow): void => {
  if (turn.state.one("venueAccounts") !== undefined) return
  turn.draft.put("venueAccounts", { clientId, sequence: 0, takenTo: 0, gapTo: 0 })
}

/** The amount by which the trade is worse than the order's limit at the venue; 0 without a limit. */
export const beyondLimit = (
  { context }: Pick<OrderRow, "context">,
  { price, qty }: Pick<Execution, "price" | "qty">
): bigint => {
  const limit = context.venuePrice ?? context.trigger?.limitPrice ?? null
  if (limit === null) return 0n
  const worse = new MoneyDecimal(price).minus(limit).mul(context.side === "BUY" ? 1 : -1)
  return worse.gt(0) ? floorToMinor(worse.mul(qty), "USDC") : 0n
}

/** Ends the calls of an order. The placing is first, so that the later calls find the order ended. */
const endCalls = (
  { turn }: BookingTurn,
  handlers: VenueHandlers,
  { id }: OrderRow,
  placing: { readonly outcome: "EXECUTED" | "VOID"; readonly reason: string; readonly order: VenueOrder | null }
): void => {
  const none = { rfq: null, contract: null, swap: null, at: turn.now }
  endCall(turn, handlers, { ...none, ...placing, ref: orderRef(id) }, { isTrusted: true })
  for (const { ref } of turn.state.all("venueCalls")) {
    const owner = ownerOfRef(ref)
    if (owner?.owner !== "order" || owner.id !== id || ref === orderRef(id)) continue
    endCall(turn, handlers, { ...none, ref, outcome: "VOID", reason: placing.reason, order: null }, { isTrusted: true })
  }
  endMisfits(turn, [`order:${id}`])
}

/** The trade of the evidence in the form of a venue report. */
export const fillOf = (at: number, { context }: OrderRow, { tradeId, price, qty }: Execution): VenueFill => ({
  tradeId,
  orderId: context.venueOrderId ?? 0,
  ref: orderRef(context.orderId),
  account: context.account,
  symbol: context.symbol,
  side: context.side,
  price,
  qty,
  liquidity: "TAKER",
  reason: null,
  at
})

/** Builds the venue's report of the order after the trade: ended, even with an unfilled rest. */
const orderOf = ({ context }: OrderRow, reason: string): VenueOrder => ({
  id: context.venueOrderId ?? 0,
  ref: orderRef(context.orderId),
  account: context.account,
  symbol: context.symbol,
  side: context.side,
  price: context.venuePrice,
  qty: context.qty,
  filledQty: context.filledQty,
  tif: context.venueTif,
  reduceOnly: context.reduceOnly,
  trigger: null,
  group: context.ocoGroup,
  state: new MoneyDecimal(context.filledQty).gte(context.qty) ? "FILLED" : "CANCELLED",
  reason,
  triggeredAt: context.triggeredAt
})

const stateOf = ({ turn }: BookingTurn, row: OrderRow): string => orderInTurn(turn, row.id)?.state ?? row.state
