/**
 * The rules for a knock-out contract at its opening price: the mark when it is requested, the quote's price when a quote is
 * accepted. One list serves both (F18, A2-14, A2-110, F15, F2).
 */
import type { Rule } from "../shared/Gates.ts"
import {
  absolute,
  compared,
  difference,
  type Exact,
  exactText,
  product,
  type Scaled,
  scaled,
  shareOf
} from "../shared/Exact.ts"
import { contractLimits } from "../shared/Limits.ts"
import { formatAmount, maxMinor, MoneyDecimal } from "../shared/Money.ts"
import { type EntryFigures, type EntryTerms, figuresAt } from "./contractFigures.ts"

/** A contract at a price, with the margin that the client has for it. */
export interface Priced extends EntryTerms {
  readonly price: MoneyDecimal
  readonly figures: EntryFigures
  readonly maxLeverage: number
  /** Micro-USDC; the reserve of this request itself counts as free. */
  readonly freeMargin: bigint
}

/** Computes the figures once, for all rules. */
export const pricedAt = (terms: EntryTerms, of: Pick<Priced, "maxLeverage" | "freeMargin">): Priced => ({
  ...terms,
  ...of,
  price: typeof terms.price === "string" ? new MoneyDecimal(terms.price) : terms.price,
  figures: figuresAt(terms)
})

/** The free margin that the contract needs (`requiredFreeMargin` on the wire): premium and commission, micro-USDC. */
export const requiredMargin = ({ premium, commission }: EntryFigures): bigint => premium + commission

const distanceOf = (price: Exact, barrier: Exact): Scaled => absolute(difference(scaled(price), scaled(barrier)))

/** The distance of the barrier times the maximum leverage: an upper limit for the price. */
const leveredDistance = (price: Exact, barrier: Exact, maxLeverage: number): Scaled =>
  product(distanceOf(price, barrier), { units: BigInt(maxLeverage), places: 0 })

const barrierSide: Rule<Priced> = {
  gate: "barrierSide",
  reason: "BARRIER_MISPLACED",
  sentence: ({ side, price, barrier }) => {
    const above = compared(scaled(price), scaled(barrier))
    if (side === "BUY") return above > 0n ? null : "The barrier of a long contract must be below the price."
    return above < 0n ? null : "The barrier of a short contract must be above the price."
  },
  compared: ({ side, price, barrier }) => ({
    figure: String(barrier),
    limit: `${side === "BUY" ? "below" : "above"} ${String(price)}`
  })
}

const barrierDistance: Rule<Priced> = {
  gate: "barrierDistance",
  reason: "BARRIER_TOO_NEAR",
  sentence: ({ price, barrier }) =>
    compared(distanceOf(price, barrier), shareOf(scaled(price), contractLimits.minDistanceBps)) >= 0n
      ? null
      : "The barrier must be at least 0.1 percent away from the price.",
  compared: ({ price, barrier }) => ({
    figure: exactText(distanceOf(price, barrier)),
    limit: exactText(shareOf(scaled(price), contractLimits.minDistanceBps))
  })
}

/** The take profit must lie strictly on the profit side, and so near that the profit fits the largest amount of money. */
const takeProfitSide: Rule<Priced> = {
  gate: "takeProfitSide",
  reason: "TAKE_PROFIT_MISPLACED",
  sentence: ({ side, price, takeProfit, figures }) => {
    if (takeProfit === null || figures.potentialProfit === null) return null
    const above = compared(scaled(price), scaled(takeProfit))
    if (side === "BUY" && above >= 0n) return "The take profit of a long contract must be above the price."
    if (side === "SELL" && above <= 0n) return "The take profit of a short contract must be below the price."
    return figures.potentialProfit <= maxMinor ? null : "The take profit is too far away: its profit is too large."
  },
  compared: ({ side, price, takeProfit }) =>
    takeProfit === null
      ? null
      : { figure: String(takeProfit), limit: `${side === "BUY" ? "above" : "below"} ${String(price)}` }
}

/** Leverage here is the price divided by the distance to the barrier, not by the premium: a rebate lowers the premium. */
const leverage: Rule<Priced> = {
  gate: "leverage",
  reason: "LEVERAGE_TOO_HIGH",
  sentence: ({ price, barrier, maxLeverage }) =>
    compared(scaled(price), leveredDistance(price, barrier, maxLeverage)) <= 0n
      ? null
      : `The barrier is too near to the price: the leverage may be at most ${maxLeverage}.`,
  compared: ({ price, barrier, maxLeverage }) => ({
    figure: String(price),
    limit: exactText(leveredDistance(price, barrier, maxLeverage))
  })
}

const freeMargin: Rule<Priced> = {
  gate: "freeMargin",
  reason: "INSUFFICIENT_FREE_MARGIN",
  sentence: ({ figures, freeMargin: free }) =>
    requiredMargin(figures) <= free ? null : "The premium and the commission exceed the client's free margin.",
  compared: ({ figures, freeMargin: free }) => ({
    figure: formatAmount(requiredMargin(figures), "USDC"),
    limit: formatAmount(free, "USDC")
  })
}

/** The rules in the order of their evaluation; the first that fails refuses the contract. */
export const priceRules: ReadonlyArray<Rule<Priced>> = [
  barrierSide,
  barrierDistance,
  takeProfitSide,
  leverage,
  freeMargin
]
