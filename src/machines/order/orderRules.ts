/**
 * The rules of an order on the market's prices and the client's position, each with its sentence (A2-36, A2-39, A2-40, A2-91,
 * A2-94, F13, F20, F2, F9, A2-37).
 */
import { type Currency, isCurrency, scaleOf } from "../shared/Currency.ts"
import { ceilTo, compared, exactText, product, type Scaled, scaled } from "../shared/Exact.ts"
import type { Compared, Rule } from "../shared/Gates.ts"
import { boundAt, isBeyond, percentOf } from "../margin/priceBound.ts"
import { isFresh, type Mark } from "../market/Facts.ts"
import { gridsOf } from "../market/marketGrid.ts"
import { decimalText, maxMinor, MoneyDecimal } from "../shared/Money.ts"
import type { VenueMarket } from "../venue/VenueMarket.ts"
import type { RequestedOrder } from "./orderOnMarket.ts"
import type { TriggerSource } from "./orderTokens.ts"
import type { OrderBound, PreTradeSentence } from "./preTrade.ts"

/** A market's last published prices, on its grid; null when unknown. */
export interface MarketPrices {
  readonly last: string | null
  readonly mark: string | null
  readonly index: string | null
}

/** An order with the market's prices, the client's position in the market, and the cost of the order. */
export interface JudgedOrder {
  readonly order: RequestedOrder
  readonly market: VenueMarket
  readonly prices: MarketPrices
  /** The client's position in the market, signed; "0" without a position. */
  readonly netQty: string
  readonly preTrade: PreTradeVerdict
}

/** The verdict on an order by margin or balance. */
export interface PreTradeVerdict {
  /** The reference price: the limit or trigger price, or the price at which the order would trade now; null when unknown. */
  readonly refPrice: string | null
  /** Null when margin and balance allow the order. */
  readonly sentence: PreTradeSentence | null
  readonly compared: Compared | null
  readonly bound: OrderBound
}

type OrderRule = Rule<JudgedOrder>

/** The minimum notional. Orders that reduce are exempt, because a small remaining quantity must be closable. */
const minimumNotional: OrderRule = {
  gate: "minimumNotional",
  reason: "BELOW_MINIMUM",
  sentence: (facts) => {
    const notional = facts.order.reduceOnly ? null : notionalOf(facts)
    return notional === null || compared(notional, scaled(facts.market.minNotional)) >= 0n
      ? null
      : `The order is worth less than the market's minimum of ${facts.market.minNotional} ${facts.order.quote}.`
  },
  compared: (facts) => {
    const notional = facts.order.reduceOnly ? null : notionalOf(facts)
    return notional === null ? null : { figure: exactText(notional), limit: facts.market.minNotional }
  }
}

/** The notional in the quote currency at the reference price; null without a known price. */
const notionalOf = ({ order, preTrade: { refPrice } }: JudgedOrder): Scaled | null =>
  refPrice === null ? null : product(scaled(refPrice), scaled(order.qty))

/** Fills may come at better prices than the limit, so this rule assumes prices up to this many times the largest known price. */
const headroom: Scaled = { units: 2n, places: 0 }

/** The largest notional: amounts of money and quantities of an asset must fit 64 bits of minor units. */
const largestNotional: OrderRule = {
  gate: "largestNotional",
  reason: "ORDER_TOO_LARGE",
  sentence: (facts) => {
    const { order } = facts
    const qty = scaled(order.qty)
    const worth = product(product(largestPrice(facts), qty), headroom)
    const asset = order.family === "SPOT" && isCurrency(order.base) ? order.base : null
    return (asset !== null && isTooLarge(qty, asset)) || isTooLarge(worth, order.quote)
      ? "The order is too large."
      : null
  },
  compared: () => null
}

const isTooLarge = (amount: Scaled, currency: Currency): boolean => ceilTo(amount, scaleOf(currency)) > maxMinor

const largestPrice = ({ order, prices, preTrade }: JudgedOrder): Scaled => {
  let largest: Scaled = { units: 0n, places: 0 }
  for (const text of [preTrade.refPrice, order.trigger?.price, prices.last, prices.mark, prices.index]) {
    if (text == null) continue
    const price = scaled(text)
    if (compared(largest, price) < 0n) largest = price
  }
  return largest
}

export const notionalRules: ReadonlyArray<OrderRule> = [minimumNotional, largestNotional]

const sources = { LAST: "last", MARK: "mark", INDEX: "index" } as const satisfies Record<
  TriggerSource,
  keyof MarketPrices
>

/**
 * Refuses a trigger that is already met, because the order would act as a plain one. When the price is unknown, the venue
 * decides.
 */
export const triggerRule: OrderRule = {
  gate: "trigger",
  reason: "WOULD_TRIGGER_AT_ONCE",
  sentence: ({ order: { trigger }, prices }) => {
    const price = trigger === null ? null : prices[sources[trigger.source]]
    if (trigger === null || price === null) return null
    const now = new MoneyDecimal(price)
    const holds = trigger.direction === "AT_OR_ABOVE" ? now.gte(trigger.price) : now.lte(trigger.price)
    return holds ? `The order would trigger at once: the ${sources[trigger.source]} price is ${price}.` : null
  },
  compared: ({ order: { trigger }, prices }) => {
    const figure = trigger === null ? null : prices[sources[trigger.source]]
    return trigger === null || figure === null
      ? null
      : { figure, limit: `${trigger.direction === "AT_OR_ABOVE" ? "below" : "above"} ${trigger.price}` }
  }
}

/**
 * The level of an attached leg must lie strictly beyond the reference price: the parent's limit, or the price of a MARKET
 * order.
 */
const attachRule = (name: "takeProfit" | "stopLoss", label: string): OrderRule => {
  const of = ({ order, preTrade: { refPrice: reference } }: JudgedOrder) => {
    const level = order.attach?.[name]?.price
    if (level === undefined || reference === null) return null
    return { level, reference, above: (order.side === "BUY") === (name === "takeProfit") }
  }
  return {
    gate: name,
    reason: name === "takeProfit" ? "TAKE_PROFIT_MISPLACED" : "STOP_LOSS_MISPLACED",
    sentence: (facts) => {
      const found = of(facts)
      if (found === null) return null
      const { level, reference, above } = found
      const price = new MoneyDecimal(level)
      if (above ? price.gt(reference) : price.lt(reference)) return null
      return `The ${label} of a ${facts.order.side} order must be ${above ? "above" : "below"} its price of ${reference}.`
    },
    compared: (facts): Compared | null => {
      const found = of(facts)
      return found === null
        ? null
        : { figure: found.level, limit: `${found.above ? "above" : "below"} ${found.reference}` }
    }
  }
}

export const attachRules: ReadonlyArray<OrderRule> = [
  attachRule("takeProfit", "take profit"),
  attachRule("stopLoss", "stop loss")
]

const noPosition = "There is no position that the order could reduce."

/** Refuses a quantity larger than the position. If the position shrinks later, the venue caps the order. */
export const reduceOnlyRule: OrderRule = {
  gate: "reduceOnly",
  reason: (_, sentence) => (sentence === noPosition ? "NOTHING_TO_REDUCE" : "EXCEEDS_POSITION"),
  sentence: ({ order, netQty }) => {
    if (!order.reduceOnly) return null
    const position = new MoneyDecimal(netQty)
    const reducible = order.side === "SELL" ? position : position.neg()
    if (reducible.lte(0)) return noPosition
    return reducible.gte(order.qty)
      ? null
      : `A reduce-only order may be at most as large as the position, which is ${netQty}.`
  },
  compared: ({ order, netQty }) => (order.reduceOnly ? { figure: order.qty, limit: netQty } : null)
}

/** A limit of a reduce-only order or leg, with the worst price allowed for it. */
interface Limited {
  readonly of: string
  readonly side: "BUY" | "SELL"
  readonly limit: string
  readonly worst: string
  readonly from: string
}

/**
 * The order's limit, measured from the mark or from the trigger, and the limits of the attached legs, measured from their
 * levels.
 */
const limitsOf = ({ order, market, preTrade: { bound } }: JudgedOrder): ReadonlyArray<Limited> => {
  const { side, price, trigger, attach } = order
  const limits: Array<Limited> = []
  const limit = trigger === null ? price : trigger.limitPrice
  if (limit !== null && bound.worst !== null) {
    const from = trigger === null ? "the mark" : "its trigger"
    limits.push({ of: "an order that only reduces", side, limit, worst: bound.worst, from })
  }
  const { price: tick } = gridsOf(market)
  for (const [level, of] of [
    [attach?.takeProfit, "the take profit"],
    [attach?.stopLoss, "the stop loss"]
  ] as const) {
    if (level == null || level.limitPrice === null || bound.reducingBps === null || tick === null) continue
    const closing = side === "BUY" ? "SELL" : "BUY"
    const worst = boundAt(closing, level.price, bound.reducingBps, tick)
    if (worst !== null) limits.push({ of, side: closing, limit: level.limitPrice, worst, from: "its price" })
  }
  return limits
}

/**
 * Limits how far from the mark, or from its trigger, a reduce-only order may trade. Every account outside a close-out can pay
 * the loss at that distance. An order of a close-out may trade as far as its step allows.
 */
export const boundRule: OrderRule = {
  gate: "bound",
  reason: "LIMIT_BEYOND_BOUND",
  sentence: (facts) => {
    const beyond = limitsOf(facts).find(({ side, limit, worst }) => isBeyond(side, limit, worst))
    if (beyond === undefined) return null
    const { of, from, worst, limit } = beyond
    const share = percentOf(facts.preTrade.bound.reducingBps ?? 0)
    return `The limit of ${of} may lie at most ${share} beyond ${from}, at ${worst}: it is ${limit}.`
  },
  compared: (facts): Compared | null => {
    const { bound } = facts.preTrade
    const [first] = limitsOf(facts)
    if (first !== undefined)
      return { figure: first.limit, limit: `${first.side === "BUY" ? "at most" : "at least"} ${first.worst}` }
    if (bound.bps !== null) return { figure: "market", limit: `${percentOf(bound.bps)} from the mark` }
    const side = facts.order.side === "BUY" ? "at most" : "at least"
    return bound.limit === null ? null : { figure: facts.order.price ?? "market", limit: `${side} ${bound.limit}` }
  }
}

/** An order with the mark of its market. */
export interface BandedOrder extends JudgedOrder {
  readonly now: number
  readonly marks: { readonly market: Mark | null }
}

/** A price that the venue checks against its band, and the middle of that band. */
interface Banded {
  readonly of: string
  readonly price: string
  readonly from: string
  readonly middle: string
}

/**
 * The sent price, with the live mark as the band's middle, and the limits that work after a trigger, with their trigger
 * levels as the middle.
 */
const bandedOf = ({ order, marks: { market: mark }, now, preTrade: { bound } }: BandedOrder): ReadonlyArray<Banded> => {
  const { price, trigger, attach } = order
  const banded: Array<Banded> = []
  const sent = trigger === null ? (price ?? bound.limit) : null
  if (sent !== null && mark !== null && isFresh(mark, now)) {
    const middle = decimalText(mark.price, mark.places)
    banded.push({ of: price === null ? "worst price of the order" : "price", price: sent, from: "the mark of", middle })
  }
  if (trigger !== null && trigger.limitPrice !== null) {
    banded.push({ of: "limit price", price: trigger.limitPrice, from: "the trigger price of", middle: trigger.price })
  }
  for (const [level, label] of [
    [attach?.takeProfit, "take profit"],
    [attach?.stopLoss, "stop loss"]
  ] as const) {
    if (level == null || level.limitPrice === null) continue
    const { price: middle, limitPrice } = level
    banded.push({ of: `limit price of the ${label}`, price: limitPrice, from: "its level of", middle })
  }
  return banded
}

const bandAbout = ({ market }: BandedOrder, { middle }: Banded) => {
  const { price: tick } = gridsOf(market)
  const at = (side: "BUY" | "SELL") => (tick === null ? null : boundAt(side, middle, market.bandBps, tick))
  return { low: at("SELL"), high: at("BUY") }
}

const isOutside = (facts: BandedOrder, banded: Banded): boolean => {
  const { low, high } = bandAbout(facts, banded)
  return (low !== null && isBeyond("SELL", banded.price, low)) || high === null || isBeyond("BUY", banded.price, high)
}

/**
 * Refuses prices outside the venue's band early. The venue would reject them too, but too late: a conditional order when it
 * triggers, an attached level when the position is already open.
 */
export const bandRule: Rule<BandedOrder> = {
  gate: "band",
  reason: "PRICE_OUTSIDE_BAND",
  sentence: (facts) => {
    const outside = bandedOf(facts).find((each) => isOutside(facts, each))
    if (outside === undefined) return null
    const { low, high } = bandAbout(facts, outside)
    const { of, from, middle, price } = outside
    const share = percentOf(facts.market.bandBps)
    return `The ${of} must lie between ${low ?? "0"} and ${high ?? "0"}, within ${share} of ${from} ${middle}: it is ${price}.`
  },
  compared: (facts): Compared | null => {
    const banded = bandedOf(facts)
    const shown = banded.find((each) => isOutside(facts, each)) ?? banded[0]
    if (shown === undefined) return null
    const { low, high } = bandAbout(facts, shown)
    return { figure: shown.price, limit: `${low ?? "0"} to ${high ?? "0"}` }
  }
}
