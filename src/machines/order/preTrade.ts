/**
 * The effect of an order on the account, computed before any row is stored. POST orders refuses by it, and the margin preview
 * shows it. Money is micro-USDC; on SPOT, minor units of the named currency (F13, A2-49, A2-90, F20, F6, F9).
 */
import { type AccountRisk, marginLevelOf, type RiskAfter, riskWith, spendableOf } from "../margin/accountRisk.ts"
import { closeOutPct, estLiquidationPrice, lossOf, type PerpPosition } from "../margin/perpetual.ts"
import { boundAt, withinBand } from "../margin/priceBound.ts"
import { ordersWith, type PerpHolding, perpRisk, type PerpRisk, type ShownMark } from "../margin/perpRisk.ts"
import type { Facts } from "../market/Facts.ts"
import type { Grid } from "../market/Grid.ts"
import { type Currency, scaleOf } from "../shared/Currency.ts"
import {
  ceilTo,
  compared,
  difference,
  type Exact,
  exactText,
  floorToMicro,
  microPlaces,
  negated,
  product,
  type Scaled,
  scaled,
  shareOf
} from "../shared/Exact.ts"
import { formatAmount } from "../shared/Money.ts"
import type { Reason } from "../shared/RefusalReason.ts"
import { moneyOutReasons, type MoneyOutSentence } from "../withdrawal/moneyOut.ts"
import { applyFill, commissionOf, flatPosition } from "./positionRules.ts"

/** The members of an order that determine its margin and balance. */
export interface PreTradeOrder {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly qty: string
  /** The limit price of a LIMIT order; null for other types. */
  readonly price: string | null
  /**
   * The trigger of a conditional order; null for other orders. `limitPrice` is null when the triggered order trades at the
   * market.
   */
  readonly trigger: { readonly price: string; readonly limitPrice: string | null } | null
  readonly reduceOnly: boolean
}

/** The figures of a preview. A figure is null when the market has no price, and so the figure is unknown. */
export interface PreTrade {
  /** The fill price that all figures assume; null without a price. */
  readonly refPrice: string | null
  /** Currency of the order's own figures, except the reservation: USDC; on SPOT, the market's payment currency. */
  readonly currency: Currency
  /** The currency of `reservation`: the quote currency of a spot BUY, the asset of a spot SELL. */
  readonly reservationCurrency: Currency
  readonly reservation: bigint | null
  /**
   * The highest price that a spot BUY pays: its limit, or the cap sent with a MARKET order. Null for a SELL, and outside
   * SPOT.
   */
  readonly reservationPrice: string | null
  readonly orderValue: bigint | null
  /** The margin that the order adds while it works, micro-USDC. Other orders of the account never reduce it. */
  readonly marginRequired: bigint | null
  /** The leverage behind `marginRequired`; null on SPOT. */
  readonly leverage: number | null
  readonly freeMarginBefore: bigint
  readonly freeMarginAfter: bigint | null
  readonly marginLevelAfter: string | null
  /** The estimated liquidation price of the position after the order; null on SPOT. */
  readonly estLiquidationPrice: string | null
  readonly equityBefore: bigint
  readonly initialMarginBefore: bigint
  readonly initialMarginAfter: bigint | null
  readonly estimatedCommission: bigint | null
  readonly slippageAllowance: bigint | null
  readonly estimatedCosts: bigint | null
  /** The loss that the order shows at the mark as soon as it fills, micro-USDC. */
  readonly openLoss: bigint | null
  /** True when no sequence of trades lets the order enlarge or turn the position: margin never refuses such an order. */
  readonly onlyReduces: boolean
  /** The figure that margin or balance must cover, and its limit, for an explanation; null if nothing is compared. */
  readonly compared: { readonly figure: string; readonly limit: string } | null
  /** The sentence that refuses the order by margin or balance; null if it is accepted. */
  readonly sentence: PreTradeSentence | null
  readonly bound: OrderBound
}

/** The limits on the price at which an order may trade. */
export interface OrderBound {
  /** The limit sent to the venue. Null for a conditional MARKET order, and for a spot sale at the market. */
  readonly limit: string | null
  /**
   * For a conditional perpetual order that is MARKET or reduce-only: the allowed distance of its trades from the mark at
   * which it triggers, basis points.
   */
  readonly bps: number | null
  /** For a reduce-only perpetual order: the worst limit price that it may have. */
  readonly worst: string | null
  /** For perpetuals: the allowed distance of any reduce-only order from the mark, basis points. */
  readonly reducingBps: number | null
}

export interface PerpPreTrade {
  readonly order: PreTradeOrder
  /** The account's risk without the order. */
  readonly risk: AccountRisk
  /**
   * The order's market: position, all its working orders, and the terms for this order. In a preview at another leverage, the
   * terms have that leverage.
   */
  readonly holding: PerpHolding
  readonly facts: Facts
  /** The best price at which the order could trade now: the other side of the book; null when it is empty. */
  readonly bestOpposite: Exact | null
  readonly commissionBps: number
  readonly tick: Grid
  /** The allowed distance of a reduce-only order from the mark, basis points; `bandBps` is that of any order. */
  readonly reducingBps: number
  readonly bandBps: number
}

/** The sentences of the refusals by free margin and by a missing price. */
export const preTradeSentences = {
  short: "The order's margin and costs exceed the client's free margin.",
  unpriced: "The market has no price that the order could be judged at."
} as const

/** The sentences that refuse an order by margin and, on SPOT, by balance. */
export type PreTradeSentence = (typeof preTradeSentences)[keyof typeof preTradeSentences] | MoneyOutSentence
export const preTradeReasons: Readonly<Record<PreTradeSentence, Reason>> = {
  ...moneyOutReasons,
  [preTradeSentences.short]: "INSUFFICIENT_FREE_MARGIN",
  [preTradeSentences.unpriced]: "NO_REFERENCE_PRICE"
}

/** The reference price: the limit, or the trigger price, or the market price (the other side of the book, else the mark). */
export const refPriceOf = (
  { price, trigger }: Pick<PreTradeOrder, "price" | "trigger">,
  bestOpposite: Exact | null,
  mark: ShownMark | null
): Exact | null =>
  trigger === null ? (price ?? bestOpposite ?? mark?.price ?? null) : (trigger.limitPrice ?? trigger.price)

/** Whether an order trades at the market price, at once or when triggered. */
const tradesAtMarket = ({ price, trigger }: Pick<PreTradeOrder, "price" | "trigger">): boolean =>
  trigger === null ? price === null : trigger.limitPrice === null

/**
 * The slippage allowance: for an order that trades at the market, the expected slippage of its value, rounded up; zero for
 * others.
 */
export const slippageOf = (
  order: Pick<PreTradeOrder, "price" | "trigger">,
  value: Scaled,
  slippageBps: number,
  currency: Currency
): bigint => (tradesAtMarket(order) ? ceilTo(shareOf(value, slippageBps), scaleOf(currency)) : 0n)

/** The effect of an order on a perpetual: its figures, its bound, and the refusal by margin, if any. */
export const preTrade = (input: PerpPreTrade): PreTrade => {
  const { order, holding, commissionBps } = input
  const market = marketOf(input)
  const { part, before } = market
  const { mark } = part
  const price = refPriceOf(order, input.bestOpposite, mark)
  const adds = addedBy(order, holding)
  const onlyReduces = adds.units === 0n
  const known = {
    currency: "USDC",
    reservationCurrency: "USDC",
    reservationPrice: null,
    leverage: holding.terms.leverage,
    freeMarginBefore: before.freeMargin,
    equityBefore: before.equity,
    initialMarginBefore: before.initialMargin,
    onlyReduces
  } as const
  const bound = onlyReduces ? reducingBound(input, mark) : openingBound(input, mark, price)
  // Without a known price, or without a bound, the figures that depend on the order are unknown.
  if (price === null || bound === null) {
    return {
      ...unpriced,
      ...known,
      bound: { ...unbounded, reducingBps: input.reducingBps },
      sentence: preTradeSentences.unpriced
    }
  }
  const orders = ordersWith(part, workingOf(order, bound))
  const marginRequired = orders.orderMargin - part.orderMargin
  const at = scaled(price)
  const value = product(at, scaled(order.qty))
  const estimatedCommission = commissionOf(order.qty, at, commissionBps, "USDC")
  const slippageAllowance = slippageOf(order, value, holding.terms.slippageBps, "USDC")
  // The opening loss counts for the whole quantity, even for the part that closes a position. Only an order that can do
  // nothing but reduce needs no money for it.
  const openLoss =
    mark === null || onlyReduces ? 0n : ceilTo(product(lossAtOnce(order, at, mark), scaled(order.qty)), microPlaces)
  // `spendable` excludes the money that is reserved for the possible loss of other orders.
  const spendable = spendableOf(before)
  // The turnover after this order includes the commission of all orders, also of this one. So the larger of turnover
  // and estimated commission counts, and not their sum.
  const beside = orders.turnover > estimatedCommission ? orders.turnover : estimatedCommission
  const needed = marginRequired + openLoss + beside - part.turnover + slippageAllowance
  return {
    ...known,
    refPrice: textOf(price),
    reservation: marginRequired + estimatedCommission,
    orderValue: floorToMicro(value),
    marginRequired,
    freeMarginAfter: before.freeMargin - marginRequired - estimatedCommission,
    ...afterFill(input, market, at, estimatedCommission),
    estimatedCommission,
    slippageAllowance,
    estimatedCosts: estimatedCommission + slippageAllowance,
    openLoss,
    bound,
    compared: onlyReduces ? null : { figure: usdc(needed), limit: usdc(spendable) },
    sentence: onlyReduces || needed <= spendable ? null : preTradeSentences.short
  }
}

const unpriced = {
  refPrice: null,
  reservation: null,
  orderValue: null,
  marginRequired: null,
  freeMarginAfter: null,
  marginLevelAfter: null,
  estLiquidationPrice: null,
  initialMarginAfter: null,
  estimatedCommission: null,
  slippageAllowance: null,
  estimatedCosts: null,
  openLoss: null,
  compared: null
} as const

const usdc = (micro: bigint): string => formatAmount(micro, "USDC")
const textOf = (price: Exact): string => (typeof price === "string" ? price : exactText(scaled(price)))

/** The order's market, as a part of the account's figures. */
interface Market {
  /** The market's part of the account's present figures; null without a position or an order there. */
  readonly standing: PerpRisk | null
  /** The same part with this order's terms, still without the order. */
  readonly part: PerpRisk
  readonly before: RiskAfter
}

/** The bound of an order whose price nothing limits. */
export const unbounded: OrderBound = { limit: null, bps: null, worst: null, reducingBps: null }

/** The bound of a reduce-only order: as far from the mark or its trigger as every account outside a close-out can pay. */
const reducingBound = (
  { order: { side, price, trigger }, reducingBps, tick }: PerpPreTrade,
  mark: ShownMark | null
): OrderBound | null => {
  const from = trigger?.price ?? mark?.price ?? null
  const worst = from === null ? null : boundAt(side, from, reducingBps, tick)
  if (worst === null) return null
  // The last price or the index may trigger the order while the mark is elsewhere, so the bound is also sent as a distance.
  if (trigger !== null) return { limit: trigger.limitPrice, bps: reducingBps, worst, reducingBps }
  return { limit: price ?? worst, bps: null, worst, reducingBps }
}

/**
 * The bound of an opening order. A MARKET order trades at most its slippage allowance away from the mark, and its margin
 * covers this distance. Other orders keep their limit.
 */
const openingBound = (
  { order: { side, price: requested, trigger }, holding: { terms }, reducingBps, bandBps, tick }: PerpPreTrade,
  mark: ShownMark | null,
  price: Exact | null
): OrderBound | null => {
  if (trigger !== null) {
    const { limitPrice } = trigger
    const bps = limitPrice === null ? Math.min(terms.slippageBps, bandBps) : null
    return { limit: limitPrice, bps, worst: null, reducingBps }
  }
  if (requested !== null) return { ...unbounded, limit: requested, reducingBps }
  const slipped = price === null ? null : boundAt(side, price, terms.slippageBps, tick)
  if (slipped === null) return null
  return {
    ...unbounded,
    limit: mark === null ? slipped : withinBand(side, slipped, { mark, bandBps }, tick),
    reducingBps
  }
}

/** The order changes only the part of its own market, so the parts of all other markets stay as they are. */
const marketOf = ({ risk, holding, facts }: PerpPreTrade): Market => {
  const standing = risk.perps.find((each) => each.holding.symbol === holding.symbol) ?? null
  if (standing?.holding === holding) return { standing, part: standing, before: risk }
  const part = perpRisk(holding, facts)
  return { standing, part, before: riskWith(risk, standing, part) }
}

const workingOf = ({ symbol, side, qty, price, trigger, reduceOnly }: PreTradeOrder, { bps }: OrderBound) => ({
  symbol,
  side,
  left: qty,
  price: trigger === null ? price : (trigger.limitPrice ?? trigger.price),
  boundBps: bps,
  reduceOnly
})

/**
 * The part of the order's quantity that could enlarge or turn the position: the excess over the position after all working
 * orders of the same side (reduce-only ones too) have traded. Zero for a reduce-only order.
 */
const addedBy = ({ side, qty, reduceOnly }: PreTradeOrder, { position, orders }: PerpHolding): Scaled => {
  if (reduceOnly) return nothing
  const closable = closableBy(side, position)
  if (closable.units === 0n) return scaled(qty)
  const room = orders.reduce(
    (left, order) => (order.side === side ? difference(left, scaled(order.left)) : left),
    closable
  )
  return positive(difference(scaled(qty), positive(room)))
}

const nothing: Scaled = { units: 0n, places: 0 }

const positive = (value: Scaled): Scaled => (value.units < 0n ? nothing : value)

/** The quantity of the position that an order of this side would close; zero without an opposite position. */
const closableBy = (side: "BUY" | "SELL", position: PerpPosition | null): Scaled => {
  if (position === null) return nothing
  const netQty = scaled(position.netQty)
  return positive(side === "SELL" ? netQty : negated(netQty))
}

/** The loss of one unit against the mark: bought above the mark, or sold below it. Never below zero. */
const lossAtOnce = ({ side }: PreTradeOrder, at: Scaled, mark: ShownMark): Scaled =>
  lossOf(side, at, scaled(mark.price))

/**
 * The account after a complete fill at the order's price, commission paid. The closed part realizes its PnL at that price.
 * The opened part loses the amount by which the price is worse than the mark, but gains nothing when the price is better.
 */
const afterFill = (
  { order, holding, tick, risk, facts }: PerpPreTrade,
  { standing, part: { mark } }: Market,
  price: Scaled,
  commission: bigint
): Pick<PreTrade, "initialMarginAfter" | "marginLevelAfter" | "estLiquidationPrice"> => {
  const { position, realized } = filledAt(order, holding, price, mark)
  const filled = perpRisk({ ...holding, position }, facts)
  const after = riskWith(risk, standing, filled, realized - commission)
  const { leverage } = holding.terms
  return {
    initialMarginAfter: after.initialMargin,
    marginLevelAfter: marginLevelOf(after.closeOutEquity, after.marginBase),
    estLiquidationPrice: estLiquidationPrice(position, { ...filled, leverage, closeOutPct, tick }, after)
  }
}

/** The position after the fill, and its realized PnL. */
const filledAt = (order: PreTradeOrder, holding: PerpHolding, price: Scaled, mark: ShownMark | null) => {
  const { symbol, side, qty, reduceOnly } = order
  const position = holding.position ?? flatPosition(symbol)
  const [wanted, closable] = [scaled(qty), closableBy(side, position)]
  const closing = compared(wanted, closable) < 0n ? wanted : closable
  const closed = closing.units === 0n ? { position, realized: 0n } : applyFill(position, { side, qty: closing, price })
  const opening = difference(wanted, closing)
  if (reduceOnly || opening.units === 0n) return closed
  // Where the limit is better than the mark, the opened part enters at the mark, because the better price is no gain yet.
  const worse = mark === null || lossAtOnce(order, price, mark).units > 0n ? price : mark.price
  const opened = applyFill(closed.position, { side, qty: opening, price: worse })
  return { position: opened.position, realized: closed.realized }
}
