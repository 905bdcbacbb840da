/**
 * What a knock-out contract must meet at the price it would be opened at: the mark when it is asked for, the quote's price when
 * one is accepted (F18; A2-14, A2-110 step 8). One list, so that both are judged alike.
 */
import type { Rule } from "../shared/Gates.ts"
import { barrierLimits } from "../shared/Limits.ts"
import { formatAmount, MoneyDecimal } from "../shared/Money.ts"
import { type EntryFigures, type EntryTerms, figuresAt } from "./barrierFigures.ts"

/** A contract at a price, with what the client could pay for it. */
export interface Priced extends EntryTerms {
  readonly price: MoneyDecimal
  readonly figures: EntryFigures
  readonly maxLeverage: number
  /** Micro-USDC, without what this request itself has tied up. */
  readonly freeMargin: bigint
}

/** The figures are worked out once, for all rules. */
export const pricedAt = (terms: EntryTerms, of: Pick<Priced, "maxLeverage" | "freeMargin">): Priced => ({
  ...terms,
  ...of,
  price: new MoneyDecimal(terms.price),
  figures: figuresAt(terms)
})

/** Premium and commission (requiredFreeMargin of F15). */
export const requiredMargin = ({ premium, commission }: EntryFigures): bigint => premium + commission

const whole = 10_000

const barrierSide: Rule<Priced> = {
  gate: "barrierSide",
  sentence: ({ side, price, barrier }) => {
    if (side === "BUY") {
      return price.gt(barrier) ? null : "The barrier of a long contract must be below the price."
    }
    return price.lt(barrier) ? null : "The barrier of a short contract must be above the price."
  },
  compared: ({ side, price, barrier }) => ({
    figure: String(barrier),
    limit: `${side === "BUY" ? "below" : "above"} ${String(price)}`
  })
}

const barrierDistance: Rule<Priced> = {
  gate: "barrierDistance",
  sentence: ({ price, barrier }) =>
    price.minus(barrier).abs().mul(whole).gte(price.mul(barrierLimits.minDistanceBps))
      ? null
      : "The barrier must be at least 0.1 percent away from the price.",
  compared: ({ price, barrier }) => ({
    figure: String(price.minus(barrier).abs()),
    limit: String(price.mul(barrierLimits.minDistanceBps).div(whole))
  })
}

const takeProfitSide: Rule<Priced> = {
  gate: "takeProfitSide",
  sentence: ({ side, price, takeProfit }) => {
    if (takeProfit === null) return null
    if (side === "BUY") {
      return price.lt(takeProfit) ? null : "The take profit of a long contract must be above the price."
    }
    return price.gt(takeProfit) ? null : "The take profit of a short contract must be below the price."
  },
  compared: ({ side, price, takeProfit }) =>
    takeProfit === null
      ? null
      : { figure: String(takeProfit), limit: `${side === "BUY" ? "above" : "below"} ${String(price)}` }
}

/** By the distance, not by the premium, which the rebate makes smaller (F18). */
const leverage: Rule<Priced> = {
  gate: "leverage",
  sentence: ({ price, barrier, maxLeverage }) =>
    price.lte(price.minus(barrier).abs().mul(maxLeverage))
      ? null
      : `The barrier is too near to the price: the leverage may be at most ${maxLeverage}.`,
  compared: ({ price, barrier, maxLeverage }) => ({
    figure: String(price),
    limit: String(price.minus(barrier).abs().mul(maxLeverage))
  })
}

const freeMargin: Rule<Priced> = {
  gate: "freeMargin",
  sentence: ({ figures, freeMargin: free }) =>
    requiredMargin(figures) <= free ? null : "The premium and the commission exceed the client's free margin.",
  compared: ({ figures, freeMargin: free }) => ({
    figure: formatAmount(requiredMargin(figures), "USDC"),
    limit: formatAmount(free, "USDC")
  })
}

/** In the order of F18 and A2-110. */
export const priceRules: ReadonlyArray<Rule<Priced>> = [
  barrierSide,
  barrierDistance,
  takeProfitSide,
  leverage,
  freeMargin
]
