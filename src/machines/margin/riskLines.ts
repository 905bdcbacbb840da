/**
 * How far each of an account's marks may move before anything can follow for it (F7, A2-89): its distance to the next lines is
 * shared out over its markets, so that while every mark stays inside its share no line is crossed, whatever the others do. Worked out
 * in floating point, beside the exact figures and never in place of them: all of it is rounded to the safe side, and an account
 * that may have crossed is judged exactly in its own turn. Amounts are USDC.
 */
import type { MarketTerms } from "../market/marketTerms.ts"
import type { RiskState } from "./accountRisk.ts"
import { lossStepPct } from "./lossSteps.ts"
import { closeOutPct, marginCallPct } from "./perpetual.ts"

/** A position, and in the end the marks between which nothing of it makes its account cross a line. */
export interface Leg {
  /** Signed. */
  readonly qty: number
  readonly entry: number
  /** The last one known; NaN: there never was one. */
  readonly mark: number
  /** It is fresh: one that is stale tells no loss, which is to be looked for with the next that is fresh (F3, A2-89). */
  readonly live: boolean
  /** In force. */
  readonly leverage: number
  /** The loss that its client was told of today, percent of the margin at entry. */
  readonly told: number
  /** Nothing follows while low < mark < high. */
  low: number
  high: number
}

export interface LinedAccount {
  readonly cash: number
  /** Of its open contracts: the most that they can lose. */
  readonly premiums: number
  /** The risk state that is recorded. */
  readonly recorded: RiskState
  readonly legs: ReadonlyArray<Leg>
  /** Marks are on their way: nothing follows for one of which a mark is not known yet (F3). */
  readonly awaitsMarks: boolean
}

/** A risk tier in floating point. */
export interface TierLine {
  /** USDC. */
  readonly from: number
  /** Infinity: the market's maximum. */
  readonly maxLeverage: number
}
type Tiers = ReadonlyArray<TierLine>

export const tierLines = (tiers: MarketTerms["riskTiers"]): Tiers =>
  tiers.map(({ from, maxLeverage }) => ({ from: Number(from) * micro, maxLeverage: maxLeverage ?? Infinity }))

/** The most that a share reaches, of the mark: so far the dearest tier is looked for. */
export const shareReach = 0.5
/** Shares below this are none: the account is on its line. */
const leastShare = 1e-9
/** What floating point may be wrong by, of the amounts that go into a sum: thousands of times what one step of it is. */
const wrongBy = 1e-12
/** What exact figures are rounded by, each. */
const micro = 1e-6

/**
 * Shares the account's room out over its legs; answers null, or that something may follow now: what is held of each USDC of its margin
 * (worst first, F9). The shares of one that answers so mean nothing.
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
  // With contracts at their bounded loss a margin call is told exactly, a close-out too early and its end too late: whoever is in one
  // is looked at every second anyway.
  const above = (pct: number): number => equity - (margin * pct) / 100
  const room = recorded === "CLOSE_OUT" ? Infinity : above(recorded === "NORMAL" ? marginCallPct : closeOutPct) - slack
  const lack = recorded === "NORMAL" ? Infinity : -above(recorded === "CLOSE_OUT" ? closeOutPct : marginCallPct) - slack
  const against = shareOf(room, legs, tiers, recorded === "NORMAL" ? marginCallPct : closeOutPct, true)
  const towards = shareOf(lack, legs, tiers, recorded === "CLOSE_OUT" ? closeOutPct : marginCallPct, false)
  const due = Math.min(against, towards) < leastShare || !legs.every((leg) => spread(leg, against, towards))
  return due ? equity / Math.max(margin, micro) : null
}

/** Whatever comes first in a market without a mark is looked at; until then nothing is. */
const wait = (leg: Leg): void => {
  leg.low = Number.isNaN(leg.mark) ? Infinity : 0
  leg.high = Infinity
}

/** Sets the marks of a leg; false: a loss that its client has to be told of may have been reached. */
const spread = (leg: Leg, against: number, towards: number): boolean => {
  const { qty, mark, live } = leg
  if (Number.isNaN(mark)) {
    wait(leg)
    return true
  }
  const isLong = qty > 0
  const told = live ? lossLine(leg) : isLong ? 0 : Infinity
  leg.low = mark * (1 - (isLong ? against : towards))
  leg.high = mark * (1 + (isLong ? towards : against))
  if (isLong) leg.low = Math.max(leg.low, told)
  else leg.high = Math.min(leg.high, told)
  return leg.low < mark && mark < leg.high
}

/** The mark at which the next loss is told (A2-89), a little too early. */
const lossLine = ({ qty, entry, leverage, told }: Leg): number => {
  const away = ((told + lossStepPct) * entry) / (100 * leverage)
  const early = (2 * micro) / Math.abs(qty) + entry * wrongBy
  return qty > 0 ? entry - away + early : entry + away - early
}

/**
 * The relative move of all marks at once, each against the account or each towards it, by which `room` may be used up: 0 and
 * less when there is none, `shareReach` at the most. Every mark may move so far by itself.
 */
const shareOf = (room: number, legs: ReadonlyArray<Leg>, tiers: Tiers, pct: number, against: boolean): number => {
  if (room === Infinity) return shareReach
  let used = 0
  for (const leg of legs) if (!Number.isNaN(leg.mark)) used += steepness(leg, tiers, pct, against)
  if (used * shareReach <= room) return shareReach
  return room / used
}

/**
 * The most that the distance to a line changes in a leg for a move of its whole mark. A long gains or loses less margin
 * than the price, at the highest leverage of all; a short more than the price, at the dearest tier in reach (F5).
 */
const steepness = ({ qty, mark, leverage }: Leg, tiers: Tiers, pct: number, against: boolean): number => {
  const value = Math.abs(qty) * mark
  const share = pct / 100
  if (qty > 0) return value * (1 - share / highestLeverage(leverage, tiers))
  return value * (1 + share / leverageAt(value * (against ? 1 + shareReach : 1), leverage, tiers))
}

/** The leverage of the tier that leaves most of it. */
const highestLeverage = (leverage: number, tiers: Tiers): number => {
  let most = tiers.length === 0 ? Infinity : 0
  for (const { maxLeverage } of tiers) most = Math.max(most, maxLeverage)
  return Math.min(leverage, most)
}

/** The leverage that the tier of a notional leaves; the border of a tier is in it. */
const leverageAt = (notional: number, leverage: number, tiers: Tiers): number => {
  let least = Math.min(leverage, tiers[0]?.maxLeverage ?? leverage)
  for (let at = 1; at < tiers.length; at++) {
    const { from, maxLeverage } = tiers[at] as TierLine
    if (notional < from * (1 - wrongBy)) break
    least = Math.min(least, maxLeverage)
  }
  return least
}

/** The margin of a notional, by the slices that its tiers cut from it (F5). */
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
