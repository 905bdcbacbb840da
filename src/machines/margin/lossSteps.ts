/**
 * Notifies a client of the loss of a leveraged position at each ten percent of the margin that opened it, once per step and
 * UTC day. A loss that jumps over several steps gives one notice, for the step that it reaches. The last notice is stored
 * with its day and with the position's opening time: each day and each position starts from zero (A2-89).
 */
import { absolute, floorDiv, microPlaces, product, scaled, tenTo } from "../shared/Exact.ts"

/** The size of a loss step, percent of the margin at entry. */
export const lossStepPct = 10

export interface LosingPosition {
  /** The quantity as a decimal text; negative for a short position. */
  readonly netQty: string
  readonly avgEntry: string
  /** Micro-USDC; negative: a loss. */
  readonly unrealizedPnl: bigint
  /** The leverage in force. */
  readonly leverage: number
}

/** The last step: the loss of a short position has no limit, but steps beyond this one give no notice. */
const lastStep = 1_000_000

/** The highest step that a position's loss has reached, in percent: 0, 10, 20 and so on, also above 100. */
export const lossStep = ({ netQty, avgEntry, unrealizedPnl, leverage }: LosingPosition): number => {
  if (unrealizedPnl >= 0n) return 0
  const { units, places } = absolute(product(scaled(netQty), scaled(avgEntry)))
  if (units === 0n) return 0
  // The step number is loss x leverage x 100 / (cost x step). Numerator and denominator are in units of the cost's last
  // place.
  const over = -unrealizedPnl * BigInt(leverage) * BigInt(100 / lossStepPct) * tenTo(Math.max(0, places - microPlaces))
  const under = units * tenTo(Math.max(0, microPlaces - places))
  return Math.min(Number(floorDiv(over, under)) * lossStepPct, lastStep)
}

/** The last loss notice for a position. */
export interface NotifiedLoss {
  /** The UTC day of the notice, counted from 1970. */
  readonly day: number
  /** When the position was opened, Unix ms. */
  readonly openedAt: number
  /** The highest step notified on that day. */
  readonly step: number
}

const dayMillis = 86_400_000

/** The loss notice that is due now, to be stored as the last one; null: none is due. */
export const lossToNotify = (
  last: NotifiedLoss | null,
  { step, openedAt, now }: { readonly step: number; readonly openedAt: number; readonly now: number }
): NotifiedLoss | null => {
  if (step === 0) return null
  const day = Math.floor(now / dayMillis)
  const isNotified = last !== null && last.day === day && last.openedAt === openedAt && last.step >= step
  return isNotified ? null : { day, openedAt, step }
}
