/** Prices that a trade of a moment can have: those of the marks about it, widened by the market's band. */
import { difference, isLess, type Scaled, scaled, shareOf, sum } from "../shared/Exact.ts"
import type { MoneyDecimal } from "../shared/Money.ts"

export interface PriceBand {
  readonly low: Scaled
  readonly high: Scaled
  /** A mark at the moment or after it is known; false: one may still come. */
  readonly isWhole: boolean
}

/** How far before and after a moment its marks are looked for, ms: ten seconds in all. */
export const marksAboutMillis = 5_000

/** The lowest and the highest mark widened by so many basis points. */
export const bandOfMarks = (
  lowest: MoneyDecimal,
  highest: MoneyDecimal,
  bps: number
): Pick<PriceBand, "low" | "high"> => {
  const [low, high] = [scaled(lowest), scaled(highest)]
  return { low: difference(low, shareOf(low, bps)), high: sum(high, shareOf(high, bps)) }
}

/** A sentence when a price lies outside of a band; null: inside, or no band is known. */
export const outsideBand = (price: string, band: PriceBand | null): string | null => {
  if (band === null) return null
  const at = scaled(price)
  return isLess(at, band.low) || isLess(band.high, at)
    ? `price ${price} is outside the band of the marks about it`
    : null
}
