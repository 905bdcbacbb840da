/**
 * The range in which each of an account's marks may move before the account needs a check. The account's distance to its next
 * risk lines is divided among its markets: while every mark stays inside its own range, the account crosses no line. These
 * figures are floating point and never replace the exact ones: every value is rounded to the safe side, and an account that
 * may have crossed a line is computed exactly in its own turn. Amounts are USDC (F7, A2-89, F3, F9, F5).
 */
import type { MarketTerms } from "../market/marketTerms.ts"
import type { RiskState } from "./accountRisk.ts"
import { lossStepPct } from "./lossSteps.ts"
import { closeOutPct, marginCallPct } from "./perpetual.ts"

/** A position, with the range of marks in which it can't move its account across a line. */
export interface Leg {
  /** Base units; positive for a long position, negative for a short one. */
  readonly qty: number
  readonly entry: number
  /** The last known mark; NaN when there never was one. */
  readonly mark: number
  /** True when the mark is fresh. A stale mark causes no loss notice; the next fresh mark is checked for it. */
  readonly live: boolean
  /** The leverage in force. */
  readonly leverage: number
  /** The loss step that the client was notified of today, percent of the margin at entry. */
  readonly notified: number
  /** No check is needed while low < mark < high. */
  low: number
  high: number
}

export interface LinedAccount {
  readonly cash: number
  /** The maximum loss of the account's open contracts. */
  readonly premiums: number
  readonly recorded: RiskState
  readonly legs: ReadonlyArray<Leg>
  /** True while a mark that the account needs is unknown. Such an account triggers no check until the mark arrives. */
  readonly awaitsMarks: boolean
}

/** A risk tier in floating point. */
export interface TierLine {
  /** The notional from which the tier applies, USDC. */
  readonly from: number
  /** The tier's highest leverage; infinity when the market's maximum applies. */
  readonly maxLeverage: number
}
type Tiers = ReadonlyArray<TierLine>

export const tierLines = (tiers: MarketTerms["riskTiers"]): Tiers =>
  tiers.map(({ from, maxLeverage }) => ({ from: Number(from) * micro, maxLeverage: maxLeverage ?? Infinity }))

/** The largest relative move of a mark that a range allows. Only risk tiers that this move can reach count. */
export const shareReach = 0.5
/** A smaller relative move counts as zero: the account is then on its line. */
const leastShare = 1e-9
/** Bound of the floating-point error relative to the summed amounts: thousands of times the machine epsilon. */
const wrongBy = 1e-12
/** Rounding error of each exact figure, USDC. */
const micro = 1e-6

/**
 * Divides the account's distance to its risk lines among its legs. Returns null when no check is due. When a check may be due
 * now, it returns the equity per USDC of margin (lowest is worst), and the ranges of the legs are then invalid.
 */
export const shareOut = (account: LinedAccount, tiers: Tiers): number | null => {
  const { cash, premiums, recorded, legs, awaitsMarks } = account
  if (awaitsMarks && legs.some(({ mark }) => Number.isNaN(mark))) {
    for (const leg of legs) wait(leg)
    return null
  }
  let equity = cash - premiums
  let margin = 0
  let gross = Math.abs(cash) + premiums
  for (const leg of legs) {
    const size = Math.abs(leg.qty)
    const price = Number.isNaN(leg.mark) ? leg.entry : leg.mark
    equity += leg.qty * (price - leg.entry)
    margin += marginAt(size * price, leg.leverage, tiers)
    gross += size * (price + leg.entry)
  }
  const slack = gross * wrongBy + (2 * legs.length + 2) * micro
  // Contracts count at their maximum loss here. So a margin call is exact, a close-out is found early, and its end late;
  // accounts in one of these two states are checked every second anyway.
  const above = (pct: number): number => equity - (margin * pct) / 100
  const room = recorded === "CLOSE_OUT" ? Infinity : above(recorded === "NORMAL" ? marginCallPct : closeOutPct) - slack
  const lack = recorded === "NORMAL" ? Infinity : -above(recorded === "CLOSE_OUT" ? closeOutPct : marginCallPct) - slack
  const against = shareOf(room, legs, tiers, recorded === "NORMAL" ? marginCallPct : closeOutPct, true)
  const towards = shareOf(lack, legs, tiers, recorded === "CLOSE_OUT" ? closeOutPct : marginCallPct, false)
  const due = Math.min(against, towards) < leastShare || !legs.every((leg) => spread(leg, against, towards))
  return due ? equity / Math.max(margin, micro) : null
}

/**
 * Sets the ranges while a mark is missing: the first mark of a leg without one triggers the check, and the other legs trigger
 * none.
 */
const wait = (leg: Leg): void => {
  leg.low = Number.isNaN(leg.mark) ? Infinity : 0
  leg.high = Infinity
}

/** Sets a leg's range of marks. Returns false when a loss that needs a notice may have been reached. */
const spread = (leg: Leg, against: number, towards: number): boolean => {
  const { qty, mark, live } = leg
  if (Number.isNaN(mark)) {
    wait(leg)
    return true
  }
  const isLong = qty > 0
  const noticeAt = live ? lossLine(leg) : isLong ? 0 : Infinity
  leg.low = mark * (1 - (isLong ? against : towards))
  leg.high = mark * (1 + (isLong ? towards : against))
  if (isLong) leg.low = Math.max(leg.low, noticeAt)
  else leg.high = Math.min(leg.high, noticeAt)
  return leg.low < mark && mark < leg.high
}

/** The mark at which the next loss notice is due, rounded to the early side. */
const lossLine = ({ qty, entry, leverage, notified }: Leg): number => {
  const away = ((notified + lossStepPct) * entry) / (100 * leverage)
  const early = (2 * micro) / Math.abs(qty) + entry * wrongBy
  return qty > 0 ? entry - away + early : entry + away - early
}

/**
 * The relative move of all marks at once, all against the account or all in its favour, that may use up `room`. Zero or less
 * when there is no room; at most `shareReach`. Each mark may move this far independently of the others.
 */
const shareOf = (room: number, legs: ReadonlyArray<Leg>, tiers: Tiers, pct: number, against: boolean): number => {
  if (room === Infinity) return shareReach
  let used = 0
  for (const leg of legs) if (!Number.isNaN(leg.mark)) used += steepness(leg, tiers, pct, against)
  if (used * shareReach <= room) return shareReach
  return room / used
}

/**
 * The largest change of the account's distance to a line per whole move of a leg's mark. For a long, the margin's change
 * works against the price's, so the highest leverage counts. For a short, both add up, so the dearest tier in reach counts.
 */
const steepness = ({ qty, mark, leverage }: Leg, tiers: Tiers, pct: number, against: boolean): number => {
  const value = Math.abs(qty) * mark
  const share = pct / 100
  if (qty > 0) return value * (1 - share / highestLeverage(leverage, tiers))
  return value * (1 + share / leverageAt(value * (against ? 1 + shareReach : 1), leverage, tiers))
}

/** The highest leverage that any of the tiers allows, at most `leverage`; without tiers `leverage` itself. */
const highestLeverage = (leverage: number, tiers: Tiers): number => {
  let most = tiers.length === 0 ? Infinity : 0
  for (const { maxLeverage } of tiers) most = Math.max(most, maxLeverage)
  return Math.min(leverage, most)
}

/** The leverage that the tier of a notional allows; a tier includes its upper border. */
const leverageAt = (notional: number, leverage: number, tiers: Tiers): number => {
  let least = Math.min(leverage, tiers[0]?.maxLeverage ?? leverage)
  for (let at = 1; at < tiers.length; at++) {
    const { from, maxLeverage } = tiers[at] as TierLine
    if (notional < from * (1 - wrongBy)) break
    least = Math.min(least, maxLeverage)
  }
  return least
}

/** The margin of a notional: the part inside each tier is divided by the leverage of that tier. */
const marginAt = (notional: number, leverage: number, tiers: Tiers): number => {
  let margin = 0
  let from = 0
  for (let at = 0; at === 0 || from < notional; at++) {
    const end = Math.min(notional, tiers[at + 1]?.from ?? notional)
    margin += (end - from) / Math.min(leverage, tiers[at]?.maxLeverage ?? leverage)
    from = end
  }
  return margin
}
