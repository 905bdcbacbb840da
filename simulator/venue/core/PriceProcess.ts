/**
 * The price of a base: a seeded random walk with jumps, in exactly rounded arithmetic alone (no logarithm or sine), so that a
 * seed gives the same prices on every machine.
 */
import type { SeededRandom } from "../../partner/SeededRandom.ts"

export interface Walk {
  /** Standard deviation of a year's returns. */
  readonly volatility: number
  /** Number of jumps a year, and the size of the largest one as a share of the price. */
  readonly jumps: number
  readonly jumpSize: number
}

const yearMillis = 365 * 86_400_000

/** A random number with approximately a normal distribution: the sum of twelve uniform ones, less six. */
const normal = (random: SeededRandom): number => {
  let sum = -6
  for (let n = 0; n < 12; n++) sum += random.next()
  return sum
}

/** The price after a period, limited to a tenth and ten times the opening price, because a walk is unbounded. */
export const walked = (
  price: number,
  opening: number,
  elapsedMillis: number,
  { volatility, jumps, jumpSize }: Walk,
  random: SeededRandom
): number => {
  const share = elapsedMillis / yearMillis
  const diffused = price * (1 + volatility * Math.sqrt(share) * normal(random))
  const jumped = random.chance(Math.min(1, jumps * share))
    ? diffused * (1 + jumpSize * (2 * random.next() - 1))
    : diffused
  return Math.min(opening * 10, Math.max(opening / 10, jumped))
}
