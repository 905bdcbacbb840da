/**
 * Totals of a client's live swaps by asset. An OPEN swap counts as staked, a DEFAULTED one as a claim. The principal of an
 * ACCEPTING swap still stands in its currency's reserve, and an ended swap counts nowhere: no amount counts twice (F23, STS-10,
 * STS-12, F22).
 */
import type { Currency } from "../shared/Currency.ts"

/** A swap as account figures see it; amounts in the asset's minor units. */
export interface LiveSwap {
  readonly asset: Currency
  readonly state: "OPEN" | "DEFAULTED"
  readonly notional: bigint
  readonly reward: bigint
  readonly expectedPayout: bigint
  /** The part of the total due that is paid. */
  readonly paid: bigint
  /** Amount still expected from a defaulted writer; zero while the swap is open. */
  readonly claim: bigint
  /** Unix ms. */
  readonly maturityTs: number
}

/** One asset's swaps; amounts in its minor units. */
export interface StakedAsset {
  /** The number of open swaps and of defaulted swaps with an unpaid claim. */
  readonly swaps: number
  /** Principal of the open swaps that is not yet repaid: payments repay principal first. */
  readonly staked: bigint
  /** Original principal of the open swaps. */
  readonly notional: bigint
  readonly reward: bigint
  readonly expectedPayout: bigint
  readonly claims: bigint
  /** Earliest maturity of the open swaps, Unix ms; null without an open swap. */
  readonly nextMaturityTs: number | null
}

const none: StakedAsset = {
  swaps: 0,
  staked: 0n,
  notional: 0n,
  reward: 0n,
  expectedPayout: 0n,
  claims: 0n,
  nextMaturityTs: null
}

/** Totals by asset; an asset without a live swap is absent. */
export const stakedByAsset = (swaps: Iterable<LiveSwap>): ReadonlyMap<Currency, StakedAsset> => {
  const byAsset = new Map<Currency, StakedAsset>()
  for (const swap of swaps) {
    if (swap.state === "DEFAULTED" && swap.claim === 0n) continue
    byAsset.set(swap.asset, plus(byAsset.get(swap.asset) ?? none, swap))
  }
  return byAsset
}

const plus = (sum: StakedAsset, swap: LiveSwap): StakedAsset => {
  const swaps = sum.swaps + 1
  if (swap.state === "DEFAULTED") return { ...sum, swaps, claims: sum.claims + swap.claim }
  const { notional, reward, expectedPayout, paid, maturityTs } = swap
  return {
    swaps,
    staked: sum.staked + (paid < notional ? notional - paid : 0n),
    notional: sum.notional + notional,
    reward: sum.reward + reward,
    expectedPayout: sum.expectedPayout + expectedPayout,
    claims: sum.claims,
    nextMaturityTs: sum.nextMaturityTs === null ? maturityTs : Math.min(sum.nextMaturityTs, maturityTs)
  }
}
