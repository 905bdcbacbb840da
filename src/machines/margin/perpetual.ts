/**
 * The figures of one perpetual market of an account: value and margin of its position, the possible margin of its orders, and
 * the price at which a close-out would begin. Money is micro-USDC; prices and quantities are decimal texts, or exact
 * decimals. The arithmetic uses scaled integers, because every turn that moves an account's money computes these figures for
 * each of its markets (F4, F5, F6, F8, F11, A2-88, A2-43, A2-45, A2-09, F13).
 */
import type { Grid } from "../market/Grid.ts"
import type { MarketTerms } from "../market/marketTerms.ts"
import {
  absolute,
  ceilDiv,
  ceilTo,
  difference,
  type Exact,
  fixedText,
  floorDiv,
  floorToMicro,
  compared,
  isLess,
  magnitude,
  microPlaces,
  negated,
  product,
  type Scaled,
  scaled,
  shareOf,
  sum,
  tenTo,
  unitsWith
} from "../shared/Exact.ts"
import { decimalText, isNothing, MoneyDecimal } from "../shared/Money.ts"

/** The margin levels, in percent, below which a margin call and a close-out begin. */
export const marginCallPct = 100
export const closeOutPct = 50

/** A netted position, at its average cost. */
export interface PerpPosition {
  readonly symbol: string
  /** Signed: short is negative. */
  readonly netQty: string
  /** Up to 18 places; "0" while flat. */
  readonly avgEntry: string
  /** The signed total cost of the quantity; up to 18 places. */
  readonly netCost: string
  /** Realized PnL of all fills that ever reduced a position in this market, without commission and funding. */
  readonly realizedPnl: bigint
}

/** Whether a position has no quantity. */
export const isFlat = ({ netQty }: Pick<PerpPosition, "netQty">): boolean => isNothing(netQty)

/** An order that may still trade. */
export interface WorkingOrder {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  /** The unfilled quantity. */
  readonly left: string | Scaled
  /**
   * The limit price, or the price bound of a market order. A conditional order without a limit has its trigger price here.
   * Null: a MARKET order without a bound.
   */
  readonly price: string | Scaled | null
  /** For a conditional market order: the largest distance of its trades from the mark at which it triggers, basis points. */
  readonly boundBps: number | null
  /**
   * The trigger level of a conditional order that waits for the mark. Absent when the order has triggered, or when another
   * price than the mark triggers it.
   */
  readonly firesAt?: { readonly price: string; readonly direction: "AT_OR_ABOVE" | "AT_OR_BELOW" }
  readonly reduceOnly: boolean
}

/** The terms on which a client trades a perpetual. */
export interface PerpTerms {
  /** The leverage in force; a whole number. */
  readonly leverage: number
  readonly tiers: MarketTerms["riskTiers"]
  /** The worst expected slippage of a MARKET order from the mark, basis points. */
  readonly slippageBps: number
  /** The highest leverage that the client may choose. */
  readonly cap: number
  readonly commissionBps: number
}

const whole = 10_000

/** The margin of a quantity at a mark. Each tier takes a slice of the value, divided by the leverage that the tier allows. */
export const positionMarginAt = (qtyAbs: Exact, mark: Exact, terms: PerpTerms): bigint => {
  const { over, under } = marginOf(product(scaled(qtyAbs), scaled(mark)), terms)
  return ceilDiv(over, under)
}

/** Unrealized PnL of a position at a mark, rounded towards minus infinity. */
export const unrealizedOf = ({ netQty, avgEntry }: Pick<PerpPosition, "netQty" | "avgEntry">, mark: Exact): bigint =>
  floorToMicro(product(scaled(netQty), sum(scaled(mark), negated(scaled(avgEntry)))))

/**
 * The margin that a market's orders need beyond the position's margin: the margin of the largest exposure that the orders
 * could lead to, less the position's margin, never below zero. So an order that turns the position costs only the margin of
 * the larger exposure, and opposite orders do not add up. Reduce-only orders do not count; conditional orders do. A MARKET
 * order counts as zero while its market has no known price.
 */
export const orderMarginOf = (
  netQty: Exact,
  orders: ReadonlyArray<WorkingOrder>,
  mark: Exact | null,
  terms: PerpTerms
): bigint => {
  if (orders.length === 0) return 0n
  const price = mark === null ? nothing : scaled(mark)
  const held = product(scaled(netQty), price)
  let bids = held
  let asks = held
  for (const order of orders) {
    if (order.reduceOnly) continue
    const value = product(scaled(order.left), order.price === null ? slipped("BUY", price, terms) : scaled(order.price))
    if (order.side === "BUY") bids = sum(bids, value)
    else asks = sum(asks, negated(value))
  }
  const worst = larger(absolute(bids), absolute(asks))
  const now = absolute(held)
  if (larger(worst, now) === now) return 0n
  const [then, already] = [marginOf(worst, terms), marginOf(now, terms)]
  return ceilDiv(then.over * already.under - already.over * then.under, then.under * already.under)
}

/**
 * The loss against the mark if all working orders filled at once, each at its worst allowed price. Losses of several orders
 * add up: the same money never covers two orders. Micro-USDC, rounded up.
 */
export const orderLossOf = (orders: ReadonlyArray<WorkingOrder>, mark: Exact | null, terms: PerpTerms): bigint => {
  if (mark === null) return 0n
  const price = scaled(mark)
  let lost = nothing
  for (const order of orders) {
    if (!order.reduceOnly) lost = sum(lost, product(worstLossOf(order, price, terms), scaled(order.left)))
  }
  return ceilTo(lost, microPlaces)
}

/** The highest cost that an order can still cause, micro-USDC, rounded up. */
export interface OrderCost {
  /**
   * The cost when all orders are considered: reduce-only orders share the quantity that they can close, the costliest unit
   * first.
   */
  readonly cost: bigint
  /** The cost if this were the only reduce-only order. */
  readonly alone: bigint
}

/** The loss of each order against the mark if it filled at once at its worst price, with commission. */
export const orderCosts = (
  netQty: Exact,
  orders: ReadonlyArray<WorkingOrder>,
  mark: Exact,
  terms: Pick<PerpTerms, "slippageBps" | "commissionBps">
): ReadonlyArray<OrderCost> => {
  const price = scaled(mark)
  const unitCosts = orders.map((order) => unitCostOf(order, price, terms))
  const costOf = (at: number, qty: Scaled): bigint => ceilTo(product(unitCosts[at] ?? nothing, qty), microPlaces)
  const costs = orders.map(({ left }, at): OrderCost => {
    const cost = costOf(at, scaled(left))
    return { cost, alone: cost }
  })
  const reducing = orders.flatMap(({ reduceOnly }, at) => (reduceOnly ? [at] : []))
  if (reducing.length === 0) return costs
  const most = { BUY: reducibleBy("BUY", netQty, orders), SELL: reducibleBy("SELL", netQty, orders) }
  const room = { ...most }
  const dearestFirst = reducing.toSorted((one, other) =>
    Math.sign(Number(compared(unitCosts[other] ?? nothing, unitCosts[one] ?? nothing)))
  )
  for (const at of dearestFirst) {
    const { side, left } = orders[at] as WorkingOrder
    const taken = lesser(scaled(left), room[side])
    room[side] = difference(room[side], taken)
    costs[at] = { cost: costOf(at, taken), alone: costOf(at, lesser(scaled(left), most[side])) }
  }
  return costs
}

/**
 * The largest quantity that reduce-only orders of a side can close: the opposite position, plus the orders that may enlarge
 * that position.
 */
const reducibleBy = (side: "BUY" | "SELL", netQty: Exact, orders: ReadonlyArray<WorkingOrder>): Scaled => {
  const held = side === "SELL" ? scaled(netQty) : negated(scaled(netQty))
  const opening = orders.filter((order) => order.side !== side && !order.reduceOnly)
  return opening.reduce((most, { left }) => sum(most, scaled(left)), held.units < 0n ? nothing : held)
}

/**
 * The loss on one unit at the moment of its fill, commission included. A conditional market order (`boundBps`) fills at most
 * `boundBps` away from the mark that triggers it. A limit order fills at its limit at worst, and its loss is the distance from
 * there to the mark. `firesAt` is the trigger level of an order that has not triggered yet: its mark is that level, or `now` if
 * the mark is beyond it.
 */
const unitCostOf = (
  { side, price, boundBps, firesAt }: WorkingOrder,
  now: Scaled,
  terms: Pick<PerpTerms, "slippageBps" | "commissionBps">
): Scaled => {
  const mark = firesAt === undefined || boundBps !== null ? now : firedAt(firesAt, now)
  const worst = price === null ? slipped(side, mark, terms) : scaled(price)
  const lost = boundBps === null ? lossOf(side, worst, mark) : shareOf(mark, boundBps)
  return sum(lost, shareOf(side === "BUY" ? sum(mark, lost) : mark, terms.commissionBps))
}

/** The mark at which the order triggers: its level, or the current mark when that has already passed the level. */
const firedAt = ({ price, direction }: NonNullable<WorkingOrder["firesAt"]>, now: Scaled): Scaled =>
  direction === "AT_OR_ABOVE" ? larger(scaled(price), now) : lesser(scaled(price), now)

/** The worst loss of one unit of a conditional order that another price than the mark may trigger: at least the order's bound. */
const worstLossOf = ({ side, price, boundBps }: WorkingOrder, mark: Scaled, terms: PerpTerms): Scaled =>
  larger(
    boundBps === null ? nothing : shareOf(mark, boundBps),
    lossOf(side, price === null ? slipped(side, mark, terms) : scaled(price), mark)
  )

/**
 * The money needed beyond the market's margin to close the position and everything that its orders can open. Half of the
 * margin of all these quantities counts, or the cost of the reduce-only orders at their worst prices if that is more, plus
 * the commission of the other orders. Without an order that opens, only the reduce-only orders' cost counts. Why the margin
 * alone is not enough: it covers the largest exposure at one time, but orders on both sides, or an order that turns the
 * position, can open more in total when reduce-only orders close in between. Micro-USDC, rounded up.
 */
export const turnoverOf = (
  netQty: Exact,
  orders: ReadonlyArray<WorkingOrder>,
  { mark, tiedUp, terms }: { readonly mark: Exact | null; readonly tiedUp: bigint; readonly terms: PerpTerms }
): bigint => {
  if (mark === null || orders.length === 0) return 0n
  const opening = orders.filter(({ reduceOnly }) => !reduceOnly)
  const reducing = opening.length === orders.length ? 0n : costOfReducing(netQty, orders, mark, terms)
  const price = scaled(mark)
  let [opened, commission] = [absolute(product(scaled(netQty), price)), nothing]
  for (const { side, left, price: worst } of opening) {
    const qty = scaled(left)
    opened = sum(opened, product(qty, price))
    const paid = worst === null ? slipped(side, price, terms) : scaled(worst)
    commission = sum(commission, shareOf(product(qty, paid), terms.commissionBps))
  }
  const half = opening.length === 0 ? nothing : { units: opened.units * BigInt(closeOutPct), places: opened.places + 2 }
  const cap = BigInt(terms.cap)
  const places = Math.max(half.places, commission.places, microPlaces)
  const perMicro = tenTo(places - microPlaces)
  const closing = [unitsWith(half, places), reducing * cap * perMicro].reduce((one, other) =>
    one > other ? one : other
  )
  const missing = ceilDiv(closing + unitsWith(commission, places) * cap, cap * perMicro) - tiedUp
  return missing > 0n ? missing : 0n
}

const costOfReducing = (netQty: Exact, orders: ReadonlyArray<WorkingOrder>, mark: Exact, terms: PerpTerms): bigint =>
  orderCosts(netQty, orders, mark, terms).reduce(
    (total, { cost }, at) => (orders[at]?.reduceOnly === true ? total + cost : total),
    0n
  )

/** The loss of one unit against the mark, when bought above the mark or sold below it; never below zero. */
export const lossOf = (side: "BUY" | "SELL", at: Scaled, mark: Scaled): Scaled => {
  const lost = side === "BUY" ? difference(at, mark) : difference(mark, at)
  return lost.units < 0n ? nothing : lost
}

const nothing: Scaled = { units: 0n, places: 0 }

const slipped = (side: "BUY" | "SELL", mark: Scaled, { slippageBps }: Pick<PerpTerms, "slippageBps">): Scaled => ({
  units: mark.units * BigInt(side === "BUY" ? whole + slippageBps : whole - slippageBps),
  places: mark.places + 4
})

/** The larger value; the second where they are equal. */
const larger = (one: Scaled, other: Scaled): Scaled => {
  const places = Math.max(one.places, other.places)
  return unitsWith(one, places) > unitsWith(other, places) ? one : other
}

const lesser = (one: Scaled, other: Scaled): Scaled => (isLess(other, one) ? other : one)

/** An unrounded amount, micro-USDC. */
interface Fraction {
  readonly over: bigint
  /** The denominator, positive. */
  readonly under: bigint
}

/** The margin of a position's value: each tier takes its slice of the value. The first tier begins at zero. */
const marginOf = (value: Scaled, { leverage, tiers }: PerpTerms): Fraction => {
  const places = Math.max(value.places, microPlaces)
  const notional = unitsWith(value, places)
  const perMicro = tenTo(places - microPlaces)
  let over = 0n
  let under = 1n
  let from = 0n
  for (let at = 0; at === 0 || from < notional; at++) {
    const next = tiers[at + 1]
    const end = next === undefined ? notional : next.from * perMicro
    const slice = (end < notional ? end : notional) - from
    const by = BigInt(Math.min(leverage, tiers[at]?.maxLeverage ?? leverage))
    over = over * by + slice * under
    under *= by
    from += slice
  }
  return { over, under: under * perMicro }
}

/** The account's figures, those of the position included. */
export interface LiquidatedAccount {
  readonly closeOutEquity: bigint
  readonly marginBase: bigint
}

/** The position's part of these figures, at the mark that they were computed with. */
export interface LiquidatedPart {
  readonly unrealizedPnl: bigint
  readonly initialMargin: bigint
  /** The leverage in force. */
  readonly leverage: number
  readonly closeOutPct: number
  readonly tick: Grid
}

/**
 * The mark at which the account would be closed out if no other market moved, rounded to the tick on the early side: up for a
 * long, down for a short. An estimate, because it ignores the steps between tiers. Null when no price above zero would cause
 * a close-out. The position's own rounded result is taken out of the equity first, so the price does not depend on the
 * present mark.
 */
export const estLiquidationPrice = (
  { netQty, avgEntry }: Pick<PerpPosition, "netQty" | "avgEntry">,
  { unrealizedPnl, initialMargin, leverage, closeOutPct, tick }: LiquidatedPart,
  { closeOutEquity, marginBase }: LiquidatedAccount
): string | null => {
  const qty = scaled(netQty)
  if (qty.units === 0n) return null
  const isLong = qty.units > 0n
  const cost = absolute(product(qty, scaled(avgEntry)))
  const equity = closeOutEquity - unrealizedPnl
  const base = marginBase - initialMargin
  // All terms are multiplied by 100 x leverage, because the close-out share divided by the leverage is closeOutPct / (100 x
  // leverage).
  const levered = 100n * BigInt(leverage)
  const lacking = BigInt(closeOutPct) * BigInt(leverage) * base - levered * equity
  const places = Math.max(cost.places, microPlaces)
  const over = (isLong ? lacking : -lacking) * tenTo(places - microPlaces) + levered * unitsWith(cost, places)
  const share = levered + (isLong ? -BigInt(closeOutPct) : BigInt(closeOutPct))
  const under = magnitude(qty.units) * share * tenTo(places) * BigInt(tick.step)
  const ticks = (isLong ? ceilDiv : floorDiv)(over * tenTo(qty.places + tick.decimals), under)
  return ticks <= 0n ? null : fixedText({ units: ticks * BigInt(tick.step), places: tick.decimals })
}

/** The result in percent of the margin that opened the position, two places, half away from zero. */
export const roiPct = (
  { netQty, avgEntry }: Pick<PerpPosition, "netQty" | "avgEntry">,
  unrealizedPnl: bigint,
  leverage: number
): string => {
  const micros = new MoneyDecimal(netQty).abs().mul(avgEntry).mul(1e6)
  if (micros.isZero()) return "0.00"
  const pct = new MoneyDecimal(unrealizedPnl.toString()).mul(100).mul(leverage).div(micros)
  // Rounds before formatting; a small negative value would otherwise show as "-0.00".
  return decimalText(pct.toDecimalPlaces(2, MoneyDecimal.ROUND_HALF_UP), 2)
}
