/**
 * The figures of knock-out contracts: at an entry price, live at a mark, and at their end. Money is micro-USDC; prices and
 * quantities are decimal texts, or exact decimals (F12, F15, F16, F17, F19, A2-18).
 */
import {
  absolute,
  ceilTo,
  difference,
  type Exact,
  floorToMicro,
  microPlaces,
  negated,
  product,
  type Scaled,
  scaled,
  shareOf,
  sum,
  unitsWith
} from "../shared/Exact.ts"
import { decimalText, MoneyDecimal } from "../shared/Money.ts"
import type { ContractTerms } from "./ContractTerms.ts"

export type Side = ContractTerms["side"]

export interface EntryTerms {
  readonly side: Side
  readonly qty: Exact
  /** The mark in a preview, the quote's price, or the entry price. */
  readonly price: Exact
  readonly barrier: Exact
  readonly takeProfit: Exact | null
  /** The share of the barrier's distance that the premium costs, basis points. */
  readonly premiumBps: number
  readonly commissionBps: number
}

export interface EntryFigures {
  /** Position value: quantity times price. */
  readonly notional: bigint
  /** The premium, which is also the maximum loss. */
  readonly premium: bigint
  readonly commission: bigint
  /**
   * Notional divided by premium, two places; for display only. "0.00" when the price is the barrier itself, where the premium
   * is zero.
   */
  readonly leverage: string
  /** Null without a take profit. */
  readonly potentialProfit: bigint | null
}

/** Basis points in one whole. */
const whole = 10_000

/** The cost and the potential profit of a contract at an entry price, with the commission of opening it. */
export const figuresAt = (terms: EntryTerms): EntryFigures => {
  const [qty, price] = [scaled(terms.qty), scaled(terms.price)]
  const { barrier, takeProfit, premiumBps, commissionBps } = terms
  const held = product(qty, price)
  const apart = (level: Exact): Scaled => product(qty, absolute(difference(scaled(level), price)))
  const premium = ceilTo(shareOf(apart(barrier), premiumBps), microPlaces)
  return {
    notional: floorToMicro(held),
    premium,
    commission: ceilTo(shareOf(held, commissionBps), microPlaces),
    leverage: premium === 0n ? "0.00" : hundredths(held, { units: premium, places: microPlaces }),
    potentialProfit: takeProfit === null ? null : floorToMicro(apart(takeProfit))
  }
}

/** A quotient of two positive figures with two places, half up. */
const hundredths = (dividend: Scaled, divisor: Scaled): string => {
  const places = Math.max(dividend.places, divisor.places)
  const [over, under] = [unitsWith(dividend, places) * 100n, unitsWith(divisor, places)]
  const digits = ((2n * over + under) / (2n * under)).toString().padStart(3, "0")
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** The share of the distance to the barrier that a contract's premium costs, basis points. */
export const premiumBpsOf = (
  strict: boolean,
  terms: { readonly knockOutRebateBps: number; readonly strictTakeProfitPremiumBps: number }
): number => (strict ? terms.strictTakeProfitPremiumBps : whole - terms.knockOutRebateBps)

/** A mark as it is shown: `places` are those of the market's grid. */
export interface ShownMark {
  readonly price: MoneyDecimal
  readonly places: number
}

export interface LiveFigures {
  /**
   * Micro-USDC. For a strict contract only an indication: at its expiry the contract pays nothing unless the mark touched its
   * take profit.
   */
  readonly unrealizedPnl: bigint
  /** The premium that an unrealized loss has not used up. */
  readonly requirement: bigint
  /** Distance of the barrier from the mark, on the price grid. */
  readonly distanceAbs: string
  /** Percent of the mark, four places. */
  readonly distancePct: string
  /** Null without a take profit, like the percentage. */
  readonly distanceToTpAbs: string | null
  readonly distanceToTpPct: string | null
}

/** The figures of an open contract at a mark. */
export const liveFigures = (contract: ContractTerms, mark: ShownMark): LiveFigures => {
  const unrealizedPnl = pnlAt(contract, mark.price)
  const toBarrier = distanceOf(contract.barrier, mark)
  const toProfit = contract.takeProfit === null ? null : distanceOf(contract.takeProfit, mark)
  return {
    unrealizedPnl,
    requirement: requirementOf(contract, unrealizedPnl),
    distanceAbs: toBarrier.abs,
    distancePct: toBarrier.pct,
    distanceToTpAbs: toProfit?.abs ?? null,
    distanceToTpPct: toProfit?.pct ?? null
  }
}

/** The premium that an unrealized loss has not used up. */
export const requirementOf = ({ premium }: ContractTerms, unrealizedPnl: bigint): bigint =>
  unrealizedPnl < 0n ? premium + unrealizedPnl : premium

export type ContractEnd = "KNOCKED_OUT" | "TAKE_PROFIT" | "EXPIRED" | "EARLY_CLOSE" | "TORN_UP" | "CLOSED"

/**
 * The result of an ended contract in micro-USDC, negative for a loss. A knock-out loses the premium, however far the mark
 * went. A take profit earns the potential profit. Any other end pays the value at `settlePrice`, except that a strict
 * contract which expires untouched loses its premium.
 */
export const settledPnl = (contract: ContractTerms, how: ContractEnd, settlePrice: Exact): bigint => {
  if (how === "KNOCKED_OUT" || (how === "EXPIRED" && contract.strict)) return -contract.premium
  if (how === "TAKE_PROFIT" && contract.potentialProfit !== null) return contract.potentialProfit
  return pnlAt(contract, settlePrice)
}

/** The result of closing at a price, micro-USDC: `impliedPnl` on the wire. */
export const closePnl = (contract: ContractTerms, price: Exact): bigint => pnlAt(contract, price)

/**
 * The result of a contract at a price, micro-USDC: dir x qty x (price - entry), at least the lost premium and at most the
 * potential profit. Computed with scaled integers, which are exact and fast: the account's risk needs this for each of its
 * contracts at every turn that moves its money.
 */
export const pnlAt = ({ side, qty, entry, premium, potentialProfit }: ContractTerms, price: Exact): bigint => {
  const [from, to] = [scaled(entry), scaled(price)]
  const gain = side === "BUY" ? sum(to, negated(from)) : sum(from, negated(to))
  const pnl = floorToMicro(product(scaled(qty), gain))
  if (pnl < -premium) return -premium
  return potentialProfit !== null && pnl > potentialProfit ? potentialProfit : pnl
}

const distanceOf = (level: Exact, { price, places }: ShownMark): { readonly abs: string; readonly pct: string } => {
  const distance = price.minus(level).abs()
  return {
    abs: decimalText(distance, places),
    pct: decimalText(distance.mul(100).div(price), 4, MoneyDecimal.ROUND_HALF_UP)
  }
}
