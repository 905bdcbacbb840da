/** Checks whether the venue's report of an order, and each of its trades, fits the order as sent (A2-115). */
import { callOfRef } from "../../../../machines/order/Order.ts"
import { fillMisfit } from "../../../../machines/venueChecks/fillChecks.ts"
import { orderMisfit } from "../../../../machines/venueChecks/orderChecks.ts"
import { fixedText, scaled, sum } from "../../../../machines/shared/Exact.ts"
import { floorToMinor, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import type { VenueFill, VenueOrder } from "../../../../machines/venue/venueObjects.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { OrderRow } from "../../../tables/order.ts"
import { type ObjectReport, reportsOther } from "../../venue/VenueHandler.ts"
import { judgedOn, type Verdict } from "../../venue/verdict.ts"
import { isBooked } from "./fillBooking.ts"
import type { Recall } from "../../account/Recall.ts"

interface Judging {
  readonly turn: Turn
  readonly recall: Recall
}

export const orderVerdict = (
  at: Judging,
  row: OrderRow,
  { order = null, fill, fills = [], at: reportedAt, isEvent = false, ...rest }: ObjectReport
): Verdict => {
  if (reportsOther(rest, ["order"])) {
    return { reason: "the message of its ref has no order", worth: worthOf(at, row, null) }
  }
  if (contradicts(rest, order, fills.length)) {
    return {
      reason: "the venue refused the order and reports trades of it",
      worth: worthOf(at, row, fills[0]?.fill ?? null)
    }
  }
  const verdict = order === null ? null : reportVerdict(at, row, order, { at: reportedAt, isEvent })
  if (verdict !== null) return verdict
  if (fill !== undefined) return tradeVerdict(at, row, fill, order, isEvent)
  let judged = row
  for (const { fill: next } of fills) {
    const misfit = tradeVerdict(at, judged, next, order)
    if (misfit !== null) return misfit
    if (!isBooked(at, row, next)) judged = withTrade(judged, next)
  }
  return null
}

/**
 * True if trades contradict the outcome of a placing: an order that was refused or never received can't have any. Other
 * calls do not count, because a refused cancel may have found the order filled.
 */
const contradicts = (
  { ref, outcome }: Pick<ObjectReport, "ref" | "outcome">,
  order: VenueOrder | null,
  fills: number
): boolean =>
  (outcome === "REFUSED" || outcome === "VOID") &&
  callOfRef(ref) === "place" &&
  (fills > 0 || (order !== null && scaled(order.filledQty).units > 0n))

/**
 * The order as if a trade were booked, so that the next trade of the same report is checked against the remaining quantity.
 */
const withTrade = (row: OrderRow, { qty }: VenueFill): OrderRow => ({
  ...row,
  context: {
    ...row.context,
    filledQty: fixedText(sum(scaled(row.context.filledQty), scaled(qty)), row.context.qtyDecimals)
  }
})

/** Checks whether the venue's report of an order fits the order as sent; null if it does. */
export const reportVerdict = (
  at: Judging,
  row: OrderRow,
  report: VenueOrder,
  message: Pick<ObjectReport, "at" | "isEvent">
): Verdict =>
  judgedOn(
    at.turn,
    { ...message, symbol: row.symbol, of: [`order:${row.id}`] },
    (seen) => orderMisfit(report, { order: row.context, ...seen }),
    () => worthOf(at, row, null)
  )

/**
 * Checks whether a trade fits its order; null if it does. A trade that is already booked is not checked here:
 * `bookFill` compares it with its row.
 */
export const tradeVerdict = (
  at: Judging,
  row: OrderRow,
  fill: VenueFill,
  report: VenueOrder | null,
  isEvent = false
): Verdict => {
  const { symbol, context } = row
  const verdict = judgedOn(
    at.turn,
    { symbol, at: fill.at, of: [`order:${row.id}`], isEvent },
    (seen) => fillMisfit(fill, { order: context, report, ...seen }),
    () => worthOf(at, row, fill)
  )
  return verdict === null || isBooked(at, row, fill) ? null : verdict
}

/**
 * The value at stake for a break, micro-USDC: that of the trade, or of the unfilled rest of the order at its price or the
 * last mark.
 */
const worthOf = ({ turn }: Judging, { symbol, context }: OrderRow, fill: VenueFill | null): bigint => {
  if (fill !== null) return floorToMinor(new MoneyDecimal(fill.qty).mul(fill.price), "USDC")
  const price = context.venuePrice ?? context.trigger?.price ?? turn.facts.marks.get(symbol)?.price ?? 0
  return floorToMinor(new MoneyDecimal(context.qty).minus(context.filledQty).mul(price), "USDC")
}
