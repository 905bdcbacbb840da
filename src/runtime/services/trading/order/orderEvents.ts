/**
 * Applies outcomes of calls and execution reports to orders, in their client's turn. Only trades with an id are booked;
 * no trade is inferred from a quantity. An order is out of sync, and is queried, if the venue reports an end or a
 * larger fill than the booked trades (`OrderResync`; A2-39, A2-96, A2-97, D6, F11).
 */
import { notFilledAtOnce, refusalReason } from "../../../../machines/venue/venueCalls.ts"
import { Effect } from "effect"
import {
  callOfRef,
  cancelRef,
  isWorking,
  noLiquidity,
  type OrderContext,
  orderRef
} from "../../../../machines/order/Order.ts"
import { pauseAfter } from "../../../../machines/margin/CloseOut.ts"
import { isLess, scaled } from "../../../../machines/shared/Exact.ts"
import { decimalText, floorToMinor, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import type { AccountFact } from "../../../../machines/venue/VenueEvent.ts"
import type { VenueFill, VenueOrder } from "../../../../machines/venue/venueObjects.ts"
import { advance } from "../../../effects/advance.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import type { OrderRow } from "../../../tables/order.ts"
import { ownedTurn } from "../../account/ownedTurn.ts"
import { onFundingStamp } from "../funding/fundingBooking.ts"
import { Directory } from "../../partners/Directory.ts"
import { breakOfClient } from "../../money/breaks/clientBreaks.ts"
import { Recall } from "../../account/Recall.ts"
import { takeUntilFull } from "../../venue/batches.ts"
import { endMisfit, misfitOf, noteMisfit } from "../../venue/misfits.ts"
import type { DefiniteOutcome, Unnamed, VenueHandler } from "../../venue/VenueHandler.ts"
import type { Misfit } from "../../venue/verdict.ts"
import { scheduleQuery, queryScheduled } from "./statusQueries.ts"
import { bookFill, type BookingTurn } from "./fillBooking.ts"
import {
  adoptOrder,
  cancelOrder,
  closingAtMarket,
  isInFlight,
  ordersInTurn,
  positionInTurn,
  reducesNothing
} from "./orderDecisions.ts"
import { orderVerdict, reportVerdict, tradeVerdict } from "./orderVerdict.ts"
import { OutOfSync } from "../../venue/OutOfSync.ts"

export interface OrderParts {
  readonly directory: Directory["Service"]
  readonly recall: Recall
  /** The queue of orders that are out of sync with the venue and must be queried. */
  readonly unsettled: OutOfSync["Service"]
}

export const orderPartsOf: Effect.Effect<OrderParts, never, Directory | RowReads | OutOfSync> = Effect.gen(
  function* () {
    return { directory: yield* Directory, recall: new Recall(yield* RowReads), unsettled: yield* OutOfSync }
  }
)

/** A turn of the client's mailbox in which ended orders can be loaded again after they have left memory. */
interface HandlerTurn extends BookingTurn, Pick<OrderParts, "unsettled"> {}

export const orderHandler = (parts: OrderParts): VenueHandler => ({
  verdict: (turn, report) => {
    const row = parts.recall.row(turn, "orders", report.id)
    return row === null ? null : orderVerdict({ turn, recall: parts.recall }, row, report)
  },
  ended: (turn, { id, outcome, fills = [] }) => {
    const row = parts.recall.row(turn, "orders", id)
    if (row !== null) onCallResult(ownedTurn(turn, parts), row, outcome, fills)
  },
  reported: (turn, { id, fact }) => {
    const row = parts.recall.row(turn, "orders", id)
    if (row === null) return false
    if (fact.type === "order") onOrderFact(ownedTurn(turn, parts), row, fact.order)
    if (fact.type === "fill") {
      const at = ownedTurn(turn, parts)
      onOrderFact(at, bookFill(at, amended(at, row, fact.order), fact.fill), fact.order)
    }
    return true
  },
  quoted: null
})

/** Applies a venue event that names no order of this service. Returns true, or false or a reason if it can't be applied. */
export const onVenueTrade = (turn: Turn, parts: OrderParts, fact: AccountFact, report: Unnamed): boolean | string => {
  if (fact.type === "funding") return onFundingStamp(ownedTurn(turn, parts), fact.funding, report)
  if (fact.type === "fill" && fact.fill.reason !== null) return adopted(ownedTurn(turn, parts), fact.fill, fact.order)
  if (fact.type === "bust") return busted(ownedTurn(turn, parts), fact)
  return false
}

/** The venue's record of an order, as a status query returns it. */
export interface WholeOrder {
  readonly orderId: number
  readonly order: VenueOrder
  /** Trades of the order, if the venue has some that may not be booked; otherwise empty. */
  readonly fills: ReadonlyArray<VenueFill>
  /** True if the order had ended in this service before the venue was queried. */
  readonly wasOver: boolean
  /** True if a timer would query the order again; the answer clears it. */
  readonly isTimed: boolean
}

/**
 * Applies the venue's records of several orders of one client, including trades that are already booked. The trades of
 * all orders are booked in the venue's sequence, because a position's result depends on it. Returns the records that
 * did not fit into this commit; null: all are applied.
 */
export const onOrderReport = (
  turn: Turn,
  parts: OrderParts,
  orders: ReadonlyArray<WholeOrder>
): ReadonlyArray<WholeOrder> | null => {
  const at = { ...ownedTurn(turn, parts), isFound: true }
  const rowOf = (id: number): OrderRow | null => parts.recall.row(turn, "orders", id)
  /** Orders whose report does not fit, by id. Nothing of such a report is booked. */
  const kept = new Map<number, Misfit>()
  for (const { orderId, order } of orders) {
    const row = rowOf(orderId)
    if (row === null) continue
    const verdict = reportVerdict(at, row, order, { at: turn.now })
    if (verdict === null) amended(at, row, order)
    else kept.set(orderId, verdict)
  }
  const trades = orders
    .flatMap(({ orderId, order, fills }) => fills.map((fill) => ({ orderId, order, fill })))
    .toSorted((one, other) => one.fill.tradeId - other.fill.tradeId)
  const { length } = takeUntilFull(turn, trades, ({ orderId, order, fill }) => {
    const row = rowOf(orderId)
    if (row === null || kept.has(orderId)) return true
    const verdict = tradeVerdict(at, row, fill, order)
    if (verdict === null) bookFill(at, acknowledged(at, row, order), fill)
    else kept.set(orderId, verdict)
    return true
  })
  for (const whole of orders) {
    const now = rowOf(whole.orderId)
    const verdict = kept.get(whole.orderId)
    if (now === null || verdict === undefined) continue
    noteMisfit(turn, { ref: orderRef(now.id), misfit: verdict, bytes: whole })
    if (whole.isTimed) queryScheduled(turn, now.id)
  }
  const fitting = orders.filter(({ orderId }) => !kept.has(orderId))
  if (length < trades.length) {
    const left = new Set(trades.slice(length).map(({ fill }) => fill))
    return fitting.map((whole) => ({ ...whole, fills: whole.fills.filter((fill) => left.has(fill)) }))
  }
  for (const { orderId, order, wasOver, isTimed } of fitting) {
    const now = rowOf(orderId)
    if (now === null) continue
    endMisfit(turn, orderRef(orderId))
    if (wasOver && !isWorking(now) && isLive(order)) foundWorking(at, now, order)
    else onOrderFact(at, now, order)
    if (isTimed) queryScheduled(turn, orderId)
  }
  return null
}

/** Queries the working orders of an account, because an event of it is missing or implausible. */
export const doubtOrders = (turn: Turn, { unsettled }: Pick<OrderParts, "unsettled">): void => {
  for (const row of ordersInTurn(turn)) {
    if (unsettled.of(row) === undefined) {
      unsettled.add({ clientId: row.clientId, orderId: row.id, filledQty: "0", ended: false, wasOver: false })
    }
  }
}

const onCallResult = (
  at: HandlerTurn,
  row: OrderRow,
  outcome: DefiniteOutcome,
  fills: ReadonlyArray<VenueFill>
): void => {
  switch (callOfRef(outcome.ref)) {
    case "place":
      return onPlaceResult(at, row, outcome, fills)
    case "cancel":
      return onCancelResult(at, row, outcome)
    case "amend":
      return onAmendResult(at, row, outcome)
  }
}

const onPlaceResult = (
  at: HandlerTurn,
  row: OrderRow,
  { outcome, reason, order }: DefiniteOutcome,
  fills: ReadonlyArray<VenueFill>
): void => {
  const { turn, of } = at
  if (outcome === "EXECUTED") {
    if (order === null) return
    // The trades in the answer are the account's next events. Booking them here saves a query and the handling of these
    // events. The venue's confirmation is applied before them, because a filled order accepts none.
    const traded = fills.reduce((booked, fill) => bookFill(at, booked, fill), acknowledged(at, row, order))
    return onOrderFact(at, traded, order)
  }
  const isVoid = outcome === "VOID"
  const event = { type: "REFUSED", at: turn.now, reason: refusalReason({ outcome, reason }), isVoid } as const
  advance(turn, "orders", row, event, { of })
}

const onCancelResult = (at: HandlerTurn, row: OrderRow, { outcome, reason, order }: DefiniteOutcome): void => {
  const { turn } = at
  // The refusal is applied before the order's report. The report alone would count this cancel as lost and send it
  // again.
  const isRefused = outcome === "REFUSED" && order !== null && isLive(order)
  const stands = isRefused && row.state === "PENDING_CANCEL" ? notCancelled(at, row, reason) : row
  if (order !== null) onOrderFact(at, stands, order)
  const now = at.recall.row(turn, "orders", row.id) ?? row
  if (now.state !== "PENDING_CANCEL") return
  // VOID: the venue never received the cancel, or received it before the order. The order's confirmation sends it again.
  if (outcome === "VOID") return void cancelOrder(at, now, null)
  if (order === null && outcome === "REFUSED" && !isInFlight(turn, orderRef(row.id))) notCancelled(at, now, reason)
}

/** Applies a refused cancel. While the order has nothing to reduce, the cancel is repeated after growing pauses. */
const notCancelled = ({ turn, of }: HandlerTurn, row: OrderRow, reason: string | null): OrderRow => {
  const askAgainAt = reducesNothing(turn, row) ? turn.now + pauseAfter(row.context.cancels) : null
  const event = { type: "CANCEL_REFUSED", at: turn.now, reason: reason ?? "refused", askAgainAt } as const
  return advance(turn, "orders", row, event, { of }) ?? row
}

const onAmendResult = (at: HandlerTurn, row: OrderRow, { outcome, order }: DefiniteOutcome): void => {
  const { turn, of } = at
  const { amending, amends } = row.context
  if (amending !== null) {
    const askAgainAt = amending.boundBps === undefined ? null : turn.now + pauseAfter(amends)
    const event =
      outcome === "EXECUTED"
        ? ({ ...amending, type: "AMENDED", at: turn.now } as const)
        : ({ type: "AMEND_REFUSED", at: turn.now, askAgainAt } as const)
    advance(turn, "orders", row, event, { of })
  }
  if (order !== null) onOrderFact(at, at.recall.row(turn, "orders", row.id) ?? row, order)
}

/**
 * Confirms an amended quantity as soon as a report of the order shows it, even before the outcome of the amendment,
 * because fills are checked against the new quantity. Reports do not show an amended bound.
 */
const amended = ({ turn, of }: HandlerTurn, row: OrderRow, { qty }: VenueOrder): OrderRow => {
  const { amending } = row.context
  if (amending === null || amending.boundBps !== undefined || !new MoneyDecimal(amending.qty).eq(qty)) return row
  return advance(turn, "orders", row, { type: "AMENDED", at: turn.now, qty: amending.qty }, { of }) ?? row
}

const isLive = ({ state }: Pick<VenueOrder, "state">): boolean => state === "WAITING" || state === "WORKING"

/** Applies the state of an order in a venue report: confirmed, triggered, with fills that are not booked, or ended. */
const onOrderFact = (at: HandlerTurn, row: OrderRow, order: VenueOrder): void => {
  if (!isWorking(row)) return onReportAfterEnd(at, row, order)
  const there = confirmed(at, amended(at, row, order), order)
  const booked = scaled(there.context.filledQty)
  const reported = scaled(order.filledQty)
  if (isLess(booked, reported)) return unsettled(at, row, order)
  if (order.state === "CANCELLED" || order.state === "REJECTED") {
    const { turn, of } = at
    // A report with fewer fills than are booked is older than the booked state.
    if (isLess(reported, booked)) return unsettled(at, row, order)
    advance(
      turn,
      "orders",
      there,
      { type: "ENDED", at: turn.now, how: order.state, reason: endOf(there, order) },
      { of }
    )
  }
}

/** The reason for the end of an order. A market order that found no counterparty within its bound has its own reason. */
const endOf = (
  { context: { price, trigger, venuePrice, priceDecimals } }: OrderRow,
  { reason, price: limit }: VenueOrder
): string | null => {
  const bound = limit ?? venuePrice
  const isAtMarket = price === null && (trigger === null || trigger.limitPrice === null)
  return isAtMarket && bound !== null && reason === notFilledAtOnce
    ? `${noLiquidity} of ${decimalText(new MoneyDecimal(bound), priceDecimals)}`
    : reason
}

const unsettled = (at: HandlerTurn, row: OrderRow, { filledQty, ...order }: VenueOrder): void => {
  const { clientId, id: orderId } = row
  // An order with a misfit is queried by the misfit's own timer, with growing pauses.
  if (misfitOf(at.turn, orderRef(orderId)) !== undefined) return
  at.unsettled.add({ clientId, orderId, filledQty, ended: !isLive(order), wasOver: !isWorking(row) })
}

/** Records that the venue has accepted the order, and the venue's id of it. */
const acknowledged = ({ turn, of }: HandlerTurn, row: OrderRow, { id: venueOrderId }: VenueOrder): OrderRow =>
  row.context.venueOrderId === null && isWorking(row)
    ? (advance(turn, "orders", row, { type: "ACKED", at: turn.now, venueOrderId }, { of }) ?? row)
    : row

/** Confirms an order and its trigger. A cancel that the venue received before the order is sent again. */
const confirmed = (at: HandlerTurn, row: OrderRow, order: VenueOrder): OrderRow => {
  const { turn, of } = at
  const { cancels, orderId } = row.context
  const acked = acknowledged(at, row, order)
  const waits = acked.context.trigger !== null && acked.context.triggeredAt === null
  const there =
    waits && order.triggeredAt !== null
      ? (advance(turn, "orders", acked, { type: "TRIGGERED", at: order.triggeredAt }, { of }) ?? acked)
      : acked
  if (there.state !== "PENDING_CANCEL" || !isLive(order) || isInFlight(turn, cancelRef(orderId, cancels))) return there
  return cancelOrder(at, there, null) ?? there
}

/**
 * Handles a report that an order which has ended in this service works at the venue. The report may be older than the
 * end, so the venue is queried before any action.
 */
const onReportAfterEnd = (at: HandlerTurn, row: OrderRow, order: VenueOrder): void => {
  const isBehind = isLess(scaled(row.context.filledQty), scaled(order.filledQty))
  if (!isBehind && (row.state === "FILLED" || !isLive(order))) return
  unsettled(at, row, order)
  scheduleQuery(at.turn, row.id)
}

/** Cancels an order that has ended here but still works at the venue according to a query, and raises an alarm. */
const foundWorking = (at: HandlerTurn, row: OrderRow, order: VenueOrder): void => {
  if (row.state === "FILLED") return
  const { turn, of } = at
  const { cancels, orderId } = row.context
  if (isInFlight(turn, cancelRef(orderId, cancels))) return
  advance(turn, "orders", row, { type: "CANCEL", at: turn.now, attempt: cancels + 1, note: null }, { of })
  const left = new MoneyDecimal(order.qty).minus(order.filledQty)
  const value = floorToMinor(left.mul(order.price ?? order.trigger?.price ?? 0), "USDC")
  const reason = `Order ${row.id} is ${row.state} here and works at the venue: ${order.side} ${decimalText(left)}.`
  breakOfClient(turn, row, value, reason)
}

/**
 * Adopts an order that the venue created and filled: deleveraging, liquidation or delisting. Returns false for a market
 * without positions.
 */
const adopted = (at: HandlerTurn, fill: VenueFill, order: VenueOrder): boolean => {
  const { turn, of, recall } = at
  const client = turn.state.one("clients")
  if (client === undefined) return false
  const { symbol, side, tradeId } = fill
  const booked = recall.matching(turn, "fills", { client_id: client.id, trade_id: tradeId, symbol, side })
  if (booked !== null) return true
  const grids = gridsOf(turn, fill)
  if (grids === null) return false
  const note = `venue:${fill.reason}`
  const qty = decimalText(new MoneyDecimal(fill.qty), grids.qtyDecimals)
  const terms = { symbol, side, qty, note, venuePrice: null, leverage: null, commissionBps: 0, ...grids }
  const made = closingAtMarket(terms)
  bookFill(at, adoptOrder({ turn, of }, client, made, order.id), fill)
  for (const rest of ordersInTurn(turn)) {
    if (rest.symbol === symbol && rest.state !== "PENDING_CANCEL") cancelOrder(at, rest, note)
  }
  return true
}

type Grids = Pick<OrderContext, "priceDecimals" | "qtyDecimals">

/**
 * The decimal places of a perpetual's prices and quantities. For a delisted market they derive from the position and
 * the trade. Null: the market is no perpetual.
 */
const gridsOf = (turn: Turn, { symbol, price }: VenueFill): Grids | null => {
  const listed = turn.facts.instruments.get(symbol)
  if (listed !== undefined) {
    const { family, priceDecimals, qtyDecimals } = listed
    return family === "PERP" ? { priceDecimals, qtyDecimals } : null
  }
  const held = positionInTurn(turn, symbol)
  if (held === undefined || held.state === "SPOT") return null
  return { priceDecimals: placesOf(price), qtyDecimals: placesOf(held.netQty) }
}
const placesOf = (text: string): number => text.split(".")[1]?.length ?? 0

/**
 * Raises an alarm for a trade that the venue has busted. The trade stays booked, and staff decide. Returns false if the
 * trade is not ours.
 */
const busted = (
  at: HandlerTurn,
  { tradeId, orderId, reason }: Extract<AccountFact, { readonly type: "bust" }>
): boolean => {
  const { turn, recall } = at
  const client = turn.state.one("clients")
  if (client === undefined) return false
  const fill = recall.matching(turn, "fills", { client_id: client.id, trade_id: tradeId })
  if (fill === null) return false
  const sentence = `The venue has taken trade ${tradeId} of its order ${orderId} back: ${reason}.`
  applyEffects(turn, { ...at.of, object: `order:${fill.orderId}` }, [
    { type: "audit", action: "order.bust", before: null, after: null, reason: sentence }
  ])
  breakOfClient(turn, fill, fill.notional, sentence)
  return true
}
