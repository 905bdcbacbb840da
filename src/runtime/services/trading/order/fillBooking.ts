/**
 * Books a trade of an order once, in one commit: the fill, the order's totals, the position or the lots, and the
 * postings of the order machine. The venue is the authority on executions, whatever the state of the order in this
 * service. The venue's fees are never charged to the client (A2-44, A2-96, A2-97, A3-11, D6, F11, F12, F14, F20, F21).
 */
import { type FillMoney, isWorking, type OrderContext } from "../../../../machines/order/Order.ts"
import { applyFill, commissionOf, flatPosition } from "../../../../machines/order/positionRules.ts"
import { settleSpotFill, type SpotRunning, spotQuoteOf } from "../../../../machines/order/spotRules.ts"
import { type Currency, currencyFacts } from "../../../../machines/shared/Currency.ts"
import {
  absolute,
  fixedText,
  floorToMicro,
  floorTo,
  isLess,
  product,
  scaled,
  sum
} from "../../../../machines/shared/Exact.ts"
import { decimalText, formatAmount, floorToMinor, minorOf, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import type { VenueFill } from "../../../../machines/venue/venueObjects.ts"
import type { OwnedTurn } from "../../../effects/Instance.ts"
import { advance } from "../../../effects/advance.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { putLot, takeFromLots } from "../../../ledger/lots.ts"
import type { FillRow, OrderRow, PositionRow } from "../../../tables/order.ts"
import { countFill } from "../../account/accountTotals.ts"
import { countFoundTrade } from "../funding/fundingBooking.ts"
import { breakOfClient } from "../../money/breaks/clientBreaks.ts"
import type { Recall } from "../../account/Recall.ts"
import { cancelReducing, positionInTurn } from "./orderDecisions.ts"

export interface BookingTurn extends OwnedTurn {
  readonly recall: Recall
  /**
   * True if the trade comes from a query and not from an event. It then has no place in the account's sequence, and is
   * ordered by its time.
   */
  readonly isFound?: boolean
}

/** Books a trade and returns the order's row after it. A trade that is already booked changes nothing. */
export const bookFill = (at: BookingTurn, row: OrderRow, fill: VenueFill): OrderRow => {
  const known = knownFill(at, row, fill)
  if (known !== null) {
    if (!isSame(known, fill)) otherFigures(at, row, known, fill)
    return row
  }
  return isWorking(row) ? booked(at, row, fill) : bookedLate(at, row, fill)
}

/** True if a trade with this id is already booked. The booked figures may differ from the reported ones. */
export const isBooked = (at: Pick<BookingTurn, "turn" | "recall">, row: OrderRow, fill: VenueFill): boolean =>
  knownFill(at, row, fill) !== null

/**
 * The booked row of a trade; null if the trade is not booked. A trade whose id is above all booked ids of the order is new,
 * which saves the query.
 */
const knownFill = (
  { turn, recall }: Pick<BookingTurn, "turn" | "recall">,
  row: OrderRow,
  { tradeId }: VenueFill
): FillRow | null => {
  if (tradeId > row.context.lastTradeId) return null
  const near = turn.draft.written("fills").find((each) => each.orderId === row.id && each.tradeId === tradeId)
  return near ?? recall.matching(turn, "fills", { order_id: row.id, trade_id: tradeId })
}

const isSame = (known: FillRow, { side, qty, price }: VenueFill): boolean =>
  known.side === side && new MoneyDecimal(known.qty).eq(qty) && new MoneyDecimal(known.price).eq(price)

/** Price times quantity of a trade, minor units of the quote currency, rounded by the rule of postings. */
const valueOf = ({ qty, price }: Pick<VenueFill, "qty" | "price">, quote: Currency): bigint =>
  floorTo(product(scaled(qty), scaled(price)), currencyFacts[quote].scale)

/** Raises an alarm for a known trade id with other figures. The report is not booked; staff decide. */
const otherFigures = ({ turn, of }: BookingTurn, row: OrderRow, known: FillRow, fill: VenueFill): void => {
  const value = ({ qty, price }: Pick<VenueFill, "qty" | "price">) => new MoneyDecimal(qty).mul(price)
  const difference = floorToMinor(value(fill).minus(value(known)), "USDC")
  const figures = `${fill.side} ${fill.qty} at ${fill.price}`
  const reason = `Trade ${fill.tradeId} of order ${row.id} came again as ${figures}; booked was ${known.side} ${known.qty} at ${known.price}.`
  applyEffects(turn, { ...of, object: `order:${row.id}` }, [
    { type: "audit", action: "order.otherTrade", before: null, after: null, reason }
  ])
  breakOfClient(turn, row, difference, reason)
}

/** Books a trade of an order that has ended here, and raises an alarm and a break for staff. */
const bookedLate = (at: BookingTurn, row: OrderRow, fill: VenueFill): OrderRow => {
  const next = booked(at, row, fill)
  const value = valueOf(fill, "USDC")
  const reason = `Order ${row.id} was ${row.state} when its trade ${fill.tradeId} came: ${fill.side} ${fill.qty} at ${fill.price}.`
  breakOfClient(at.turn, row, value, reason)
  return next
}

const booked = (at: BookingTurn, row: OrderRow, fill: VenueFill): OrderRow => {
  const { turn, of } = at
  const { context } = row
  const filled = sum(scaled(context.filledQty), scaled(fill.qty))
  const money = context.family === "SPOT" ? settledSpot(at, row, fill) : settledPerp(at, row, fill)
  const next = advance(
    turn,
    "orders",
    row,
    {
      type: "FILL",
      at: turn.now,
      tradeId: fill.tradeId,
      totals: { ...money.totals, filledQty: fixedText(filled, context.qtyDecimals) },
      complete: !isLess(filled, scaled(context.qty)),
      money: money.posted
    },
    { of }
  )
  if (next === null) throw new Error(`order:${row.id} does not take trade ${fill.tradeId}`)
  putFill(turn, next, fill, money)
  if (at.isFound === true && context.family === "PERP") countFoundTrade(at, next, fill)
  if (context.ocoGroup !== null && context.lastTradeId === 0) fireGroup(turn, next, context.ocoGroup)
  if (money.emptied) cancelReducing(at, row.symbol, row.id)
  return next
}

const fireGroup = (turn: Turn, { id, partnerId, clientId, symbol }: OrderRow, name: string): void =>
  turn.draft.put("firedGroups", { id, partnerId, clientId, symbol, name, firedAt: turn.now })

interface Settled {
  readonly posted: FillMoney
  readonly totals: Pick<OrderContext, "consumed" | "released" | "quoteTotal">
  readonly commission: bigint
  readonly realized: bigint
  readonly closedQty: string | null
  /** True: the trade has closed the position, or turned it to the other side. */
  readonly emptied: boolean
}

const putFill = (turn: Turn, row: OrderRow, fill: VenueFill, { commission, realized, closedQty, posted }: Settled) => {
  const { context, id: orderId, partnerId, clientId, symbol } = row
  const booked: FillRow = {
    id: turn.nextId("fill"),
    partnerId,
    clientId,
    orderId,
    tradeId: fill.tradeId,
    symbol,
    family: context.family,
    side: fill.side,
    price: fixedText(scaled(fill.price), context.priceDecimals),
    qty: fixedText(scaled(fill.qty), context.qtyDecimals),
    closedQty,
    currency: posted.quote,
    notional: valueOf(fill, posted.quote),
    commission,
    realizedPnl: realized,
    orderType: context.type,
    origin: context.origin,
    ts: fill.at,
    bookedAt: turn.now
  }
  turn.draft.put("fills", booked)
  countFill(turn, booked)
}

const settledPerp = ({ turn }: BookingTurn, row: OrderRow, fill: VenueFill): Settled => {
  const { commissionBps, consumed, released, quoteTotal, qtyDecimals } = row.context
  const before = positionInTurn(turn, row.symbol)
  const { position, realized, closedQty, kind } = applyFill(before ?? flatPosition(row.symbol), fill)
  const { netQty, avgEntry, netCost, realizedPnl } = position
  const isFlat = scaled(netQty).units === 0n
  const opens = kind === "opened" || kind === "turned"
  putPosition(turn, row, fill, before, {
    state: isFlat ? "FLAT" : "OPEN",
    netQty: fixedText(scaled(netQty), qtyDecimals),
    avgEntry,
    netCost,
    realizedPnl,
    openedAt: opens || before === undefined ? turn.now : before.openedAt
  })
  // A trade that the venue itself started costs the client no commission.
  const commission = fill.reason === null ? commissionOf(fill.qty, fill.price, commissionBps, "USDC") : 0n
  const closes = kind === "reduced" || kind === "closed" || kind === "turned"
  return {
    posted: {
      pnl: closes ? formatAmount(realized, "USDC") : null,
      commission: formatAmount(commission, "USDC"),
      quote: "USDC",
      spot: null
    },
    totals: { consumed, released, quoteTotal },
    commission,
    realized,
    closedQty: closes ? fixedText(scaled(closedQty), qtyDecimals) : null,
    emptied: kind === "closed" || kind === "turned"
  }
}

type Moved = Pick<PositionRow, "state" | "netQty" | "avgEntry" | "netCost" | "realizedPnl" | "openedAt">

const putPosition = (
  turn: Turn,
  row: OrderRow,
  { at }: Pick<VenueFill, "at">,
  before: PositionRow | undefined,
  moved: Moved
): void => {
  const { partnerId, clientId, symbol } = row
  turn.draft.put("positions", {
    id: before?.id ?? turn.nextId("position"),
    partnerId,
    clientId,
    symbol,
    currency: "USDC",
    amount: floorToMicro(absolute(scaled(moved.netCost))),
    ...moved,
    // The latest time of any trade of the position. It never decreases, even if trades are booked out of order.
    updatedAt: Math.max(before?.updatedAt ?? 0, turn.now, at)
  })
}

const settledSpot = (at: BookingTurn, row: OrderRow, fill: VenueFill): Settled => {
  const { turn } = at
  const running = runningOf(row)
  const { base, quote, side } = running
  const settled = settleSpotFill(running, fill)
  const isBuy = side === "BUY"
  const before = positionInTurn(turn, row.symbol)
  const net = new MoneyDecimal(before?.netQty ?? 0).plus(new MoneyDecimal(fill.qty).mul(isBuy ? 1 : -1))
  putPosition(turn, row, fill, before, {
    state: "SPOT",
    netQty: decimalText(net, row.context.qtyDecimals),
    avgEntry: "0",
    netCost: "0",
    realizedPnl: 0n,
    openedAt: before?.openedAt ?? turn.now
  })
  const realized = isBuy ? 0n : settled.quote - takeFromLots(turn, base, settled.base)
  if (isBuy) putLot(turn, row, base, { qty: settled.base, cost: settled.quote, commission: settled.commission })
  const signed = (minor: bigint, currency: Currency, gains: boolean) => formatAmount(gains ? minor : -minor, currency)
  const { reserved } = row.context
  return {
    posted: {
      pnl: null,
      commission: formatAmount(settled.commission, quote),
      quote,
      spot: {
        base,
        baseAmount: signed(settled.base, base, isBuy),
        quoteAmount: signed(settled.quote, quote, !isBuy),
        // An order that has ended in this service has no reserve left, so nothing of it is released.
        unreserved: isWorking(row)
          ? formatAmount(settled.consumed + settled.released, reserved?.currency ?? quote)
          : formatAmount(0n, quote)
      }
    },
    totals: isWorking(row)
      ? {
          consumed: formatAmount(settled.running.consumed, reserved?.currency ?? quote),
          released: formatAmount(settled.running.released, reserved?.currency ?? quote),
          quoteTotal: settled.running.notional
        }
      : { consumed: row.context.consumed, released: row.context.released, quoteTotal: settled.running.notional },
    commission: settled.commission,
    realized,
    closedQty: null,
    emptied: false
  }
}

/** The totals of a spot order so far, from which its next trade is posted. */
const runningOf = ({ symbol, context }: OrderRow): SpotRunning => {
  const { side, qty, venuePrice, trigger, commissionBps, reserved, consumed, released, quoteTotal, filledQty } = context
  const quote = spotQuoteOf(symbol)
  if (quote === null || reserved === null) throw new Error(`${symbol} is paid in nothing that a client can hold`)
  const price = venuePrice ?? trigger?.limitPrice ?? null
  const { currency } = reserved
  return {
    side,
    base: symbol.slice(0, symbol.indexOf("-")) as Currency,
    quote,
    qty,
    price,
    commissionBps,
    reservation: { currency, amount: minorOf(reserved.amount, currency), price: side === "BUY" ? price : null },
    filledQty,
    notional: quoteTotal,
    consumed: minorOf(consumed, currency),
    released: minorOf(released, currency)
  }
}
