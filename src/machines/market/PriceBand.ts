/** The possible prices of a trade at a moment: the marks around that moment, widened by the market's band. */
import { difference, exactText, isLess, type Scaled, scaled, shareOf, sum } from "../shared/Exact.ts"
import type { MoneyDecimal } from "../shared/Money.ts"

export interface PriceBand {
  readonly low: Scaled
  readonly high: Scaled
  /** True when a mark at or after the moment is known, so that no later mark can change the band. */
  readonly isWhole: boolean
}

/** The band of a moment uses the marks of this many ms before and after it: ten seconds in all. */
export const marksAboutMillis = 5_000

/** The lowest and the highest mark, each widened by `bps` basis points. */
export const bandOfMarks = (
  lowest: MoneyDecimal,
  highest: MoneyDecimal,
  bps: number
): Pick<PriceBand, "low" | "high"> => {
  const [low, high] = [scaled(lowest), scaled(highest)]
  return { low: difference(low, shareOf(low, bps)), high: sum(high, shareOf(high, bps)) }
}

/** An error sentence when the price lies outside the band; null when it lies inside, or no band is known. */
export const outsideBand = (price: string, band: PriceBand | null): string | null => {
  if (band === null) return null
  const at = scaled(price)
  return isLess(at, band.low) || isLess(band.high, at)
    ? `price ${price} is outside ${exactText(band.low)} to ${exactText(band.high)}, the band of the marks at that time`
    : null
}

/**
 * An error sentence when the marks did not reach a level. Null when they did, or when no band is known. The marks may have
 * passed the level by any distance, because prices gap.
 */
export const shortOfLevel = (
  level: string,
  direction: "AT_OR_ABOVE" | "AT_OR_BELOW",
  band: PriceBand | null
): string | null => {
  if (band === null) return null
  const at = scaled(level)
  const isReached = direction === "AT_OR_BELOW" ? !isLess(at, band.low) : !isLess(band.high, at)
  return isReached
    ? null
    : `the marks at that time, ${exactText(band.low)} to ${exactText(band.high)}, did not reach ${level}`
}
