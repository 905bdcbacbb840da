/**
 * The reservation of a spot order, and the part that each fill takes. Payments, commissions and released amounts are rounded
 * on the order's running totals, so a thousand partial fills take exactly as much as one fill of the whole quantity. Money is
 * in minor units of the quote currency unless it names the asset; quantities and prices are decimal texts (F20).
 */
import { type VenueBand, withinBand } from "../margin/priceBound.ts"
import type { Grid } from "../market/Grid.ts"
import { type Currency, isCurrency } from "../shared/Currency.ts"
import type { Exact } from "../shared/Exact.ts"
import { decimalText, ceilToMinor, floorToMinor, MoneyDecimal } from "../shared/Money.ts"
import { commissionOf } from "./positionRules.ts"

/** The payment currency of a spot market, the last part of its symbol; null when clients can't hold it. */
export const spotQuoteOf = (symbol: string): Currency | null => {
  const quote = symbol.slice(symbol.lastIndexOf("-") + 1)
  return isCurrency(quote) ? quote : null
}

export interface SpotOrder {
  readonly side: "BUY" | "SELL"
  /** The asset that is bought or sold. */
  readonly base: Currency
  readonly quote: Currency
  readonly qty: string
  /** The limit of the order (of a conditional order too); null for MARKET. */
  readonly price: string | null
  readonly commissionBps: number
}

export interface SpotReservation {
  /** The quote currency of a BUY, the asset of a SELL. */
  readonly currency: Currency
  readonly amount: bigint
  /** The highest price that a BUY pays: its limit, or the cap sent with a MARKET order. Null on a SELL. */
  readonly price: string | null
}

/** A MARKET buy may trade this far above the best offer, basis points. */
const capBps = 200
/** Basis points in one whole. */
const whole = 10_000

/** The cap of a MARKET buy, on the tick, rounded up. */
const capAt = (bestAsk: Exact, { decimals, step }: Grid): string => {
  const tick = new MoneyDecimal(10).pow(-decimals).mul(step)
  const cap = new MoneyDecimal(bestAsk).mul(whole + capBps).div(whole)
  return decimalText(cap.div(tick).ceil().mul(tick), decimals)
}

/**
 * The reservation of an order before it is sent: its highest possible cost. The cap of a MARKET buy lies inside the venue's
 * `band`; a null band means that the venue checks none now. Returns null for a MARKET buy while the market has no offer.
 */
export const reservationOf = (
  order: SpotOrder,
  bestAsk: Exact | null,
  tick: Grid,
  band: VenueBand | null = null
): SpotReservation | null => {
  const { side, base, quote, qty } = order
  if (side === "SELL") return { currency: base, amount: ceilToMinor(qty, base), price: null }
  const cap = bestAsk === null ? null : capAt(bestAsk, tick)
  const price = order.price ?? (cap === null || band === null ? cap : withinBand("BUY", cap, band, tick))
  if (price === null) return null
  return {
    currency: quote,
    amount: ceilToMinor(new MoneyDecimal(qty).mul(price), quote) + costOf(order, qty, price),
    price
  }
}

const costOf = ({ commissionBps, quote }: SpotOrder, qty: Exact, price: Exact): bigint =>
  commissionOf(qty, price, commissionBps, quote)

/** An order with the totals of its fills so far. */
export interface SpotRunning extends SpotOrder {
  /** The reserved amount, and the price that it was computed at. */
  readonly reservation: SpotReservation
  readonly filledQty: string
  /** Sum of quantity times price of the fills, exact. */
  readonly notional: string
  /** The parts of the reservation that fills have taken or released; the remainder is still held. */
  readonly consumed: bigint
  readonly released: bigint
}

/** The part of the reservation that is still held; a terminal state releases it. */
export const heldOf = ({ reservation, consumed, released }: SpotRunning): bigint =>
  reservation.amount - consumed - released

/** The postings of one fill, all positive. */
export interface SpotSettlement {
  /** The price paid for the asset: a BUY pays it, a SELL receives it. */
  readonly quote: bigint
  /** The traded quantity: a BUY receives it, a SELL delivers it. */
  readonly base: bigint
  /** The commission, taken from the reserve of a BUY or from the proceeds of a SELL. */
  readonly commission: bigint
  /** The part of the cost that the reservation pays: the whole cost, unless the venue breaks the order's terms. */
  readonly consumed: bigint
  /** The part of the reservation that the unfilled quantity can't need any more, at any allowed price. */
  readonly released: bigint
  readonly running: SpotRunning
}

/**
 * Settles one fill. An order never takes more than its reservation, and never releases money that its unfilled quantity could
 * need. After the complete fill, nothing is held any more.
 */
export const settleSpotFill = (
  running: SpotRunning,
  fill: { readonly qty: string; readonly price: string }
): SpotSettlement => {
  const filledQty = new MoneyDecimal(running.filledQty).plus(fill.qty)
  const notional = new MoneyDecimal(fill.qty).mul(fill.price).plus(running.notional)
  const before = postedAt(running, running.filledQty, running.notional)
  const after = postedAt(running, filledQty, notional)
  const cost = after.taken - before.taken
  const { amount } = running.reservation
  const consumed = least(cost, heldOf(running))
  const paid = running.consumed + consumed
  const spare = amount - worstOf(running, filledQty, notional)
  const released = least(most(0n, spare - running.released), amount - paid - running.released)
  return {
    quote: after.quote - before.quote,
    base: after.base - before.base,
    commission: after.commission - before.commission,
    consumed,
    released,
    running: {
      ...running,
      filledQty: decimalText(filledQty),
      notional: decimalText(notional),
      consumed: paid,
      released: running.released + released
    }
  }
}

interface Posted {
  readonly quote: bigint
  readonly base: bigint
  readonly commission: bigint
  /** The amount taken from the reservation, in its currency. */
  readonly taken: bigint
}

/**
 * The total postings of an order at these fill totals. The commission of a SELL is capped by its proceeds, which pay for it:
 * a first fill worth less than a minor unit would otherwise make the quote currency negative.
 */
const postedAt = ({ side, base, quote, commissionBps }: SpotOrder, filledQty: Exact, notional: Exact): Posted => {
  const qty = new MoneyDecimal(filledQty)
  const value = new MoneyDecimal(notional)
  const charge = commissionOf(value, "1", commissionBps, quote)
  if (side === "BUY") {
    const paid = ceilToMinor(value, quote)
    return { quote: paid, base: floorToMinor(qty, base), commission: charge, taken: paid + charge }
  }
  const sold = ceilToMinor(qty, base)
  const proceeds = floorToMinor(value, quote)
  return { quote: proceeds, base: sold, commission: least(charge, proceeds), taken: sold }
}

/** The highest total cost of the order if its unfilled quantity trades at the reserved price. */
const worstOf = (running: SpotRunning, filledQty: MoneyDecimal, notional: MoneyDecimal): bigint => {
  const left = MoneyDecimal.max(0, new MoneyDecimal(running.qty).minus(filledQty))
  const value = left.mul(running.reservation.price ?? 0).plus(notional)
  return postedAt(running, left.plus(filledQty), value).taken
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)
const most = (one: bigint, other: bigint): bigint => (one > other ? one : other)
