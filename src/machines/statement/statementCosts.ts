/**
 * The cost of trading by category. Money is micro-USDC; percentages have four places, half up, and are null when the base is
 * zero. The total is commissions, fees, net funding, entry spreads and third parties (A2-70, STS-24).
 */
import { decimalText, MoneyDecimal, formatAmount } from "../shared/Money.ts"
import type { ModelRow, SectionFacts } from "./StatementModel.ts"

export type CostCategory = "TRANSACTION" | "PRODUCT" | "ANCILLARY" | "THIRD_PARTY"
export type CostFamily = "PERP" | "SPOT" | "BARRIER" | "STAKING"

export interface CostRow {
  readonly category: CostCategory
  readonly family: CostFamily | "ALL"
  readonly description: string
  /** Positive when the client paid it. */
  readonly amount: bigint
}

/** Turnover, equity and deposits of the period. */
export interface CostBase {
  /** Sum of all traded amounts. */
  readonly turnover: bigint
  /** Mean of the daily equities; null when the period has none. */
  readonly averageEquity: bigint | null
  readonly startEquity: bigint
  readonly endEquity: bigint
  /** Money that entered equity less money that left it; trading results and charges are not counted. */
  readonly netDeposits: bigint
  /** True when every open item had a mark at each midnight of the equities. An item without a mark counts as zero. */
  readonly holdingsValued: boolean
}

/** Percent with four places, half up; null unless the whole is above zero. */
export const percentOf = (amount: bigint, whole: bigint | null): string | null =>
  whole === null || whole <= 0n
    ? null
    : decimalText(new MoneyDecimal(amount.toString()).mul(100).div(whole.toString()), 4, MoneyDecimal.ROUND_HALF_UP)

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")

/** The mean, rounded towards minus infinity; null without figures. */
export const meanOf = (figures: ReadonlyArray<bigint>): bigint | null => {
  if (figures.length === 0) return null
  const sum = figures.reduce((total, figure) => total + figure, 0n)
  const count = BigInt(figures.length)
  const mean = sum / count
  return sum < 0n && mean * count !== sum ? mean - 1n : mean
}

export const costRows = (rows: ReadonlyArray<CostRow>, base: CostBase): ReadonlyArray<ModelRow> =>
  rows.map(({ category, family, description, amount }) => ({
    category,
    family,
    description,
    amount: usdc(amount),
    pctOfTurnover: percentOf(amount, base.turnover),
    pctOfAverageEquity: percentOf(amount, base.averageEquity)
  }))

/** The totals, with third parties shown separately, and the effect of the costs on the return. */
export const costFacts = (rows: ReadonlyArray<CostRow>, base: CostBase): SectionFacts => {
  const total = rows.reduce((sum, { amount }) => sum + amount, 0n)
  const thirdParties = rows.reduce((sum, row) => (row.category === "THIRD_PARTY" ? sum + row.amount : sum), 0n)
  const { startEquity, endEquity, averageEquity, netDeposits, turnover } = base
  const gained = endEquity - startEquity - netDeposits
  return {
    name: "COSTS",
    total: usdc(total),
    thirdPartyPayments: usdc(thirdParties),
    turnover: usdc(turnover),
    averageEquity: averageEquity === null ? null : usdc(averageEquity),
    startEquity: usdc(startEquity),
    endEquity: usdc(endEquity),
    netDeposits: usdc(netDeposits),
    pctOfTurnover: percentOf(total, turnover),
    pctOfAverageEquity: percentOf(total, averageEquity),
    returnBeforeCostsPct: percentOf(gained + total, averageEquity),
    returnAfterCostsPct: percentOf(gained, averageEquity),
    // Present only when false, so that statements with complete values keep their bytes.
    ...(base.holdingsValued ? {} : { holdingsValued: false })
  }
}

const dayMillis = 86_400_000

/** A list of days (given as midnights in rising order) as text; a run of consecutive days shows its first and last day. */
export const daysText = (days: ReadonlyArray<number>): string => {
  const runs: Array<[first: number, last: number]> = []
  for (const day of days) {
    const run = runs.at(-1)
    if (run !== undefined && day - run[1] === dayMillis) run[1] = day
    else runs.push([day, day])
  }
  const dateOf = (day: number): string => new Date(day).toISOString().slice(0, 10)
  return runs
    .map(([first, last]) => (first === last ? dateOf(first) : `${dateOf(first)} to ${dateOf(last)}`))
    .join(", ")
}
