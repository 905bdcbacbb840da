/**
 * What a client's live swaps add up to, by asset (F23, STS-10, STS-12). An OPEN swap is staked, a DEFAULTED one a claim; what an
 * ACCEPTING one holds stands in its currency's reserve, and a swap that has ended is nothing any more: nothing is in two places.
 */
import type { Currency } from "../shared/Currency.ts"

/** A swap as account figures see it; amounts in the asset's minor units. */
export interface LiveSwap {
  readonly asset: Currency
  readonly state: "OPEN" | "DEFAULTED"
  readonly notional: bigint
  readonly reward: bigint
  readonly expectedPayout: bigint
  /** Of everything that it was to pay. */
  readonly paid: bigint
  /** What can still be expected of a writer that has defaulted; zero while the swap is open. */
  readonly claim: bigint
  /** Unix ms. */
  readonly maturityTs: number
}

/** One asset's swaps; amounts in its minor units. */
export interface StakedAsset {
  /** Open ones, and those with a claim. */
  readonly swaps: number
  /** Of the open ones, less what was paid of it: principal comes first (F22). */
  readonly staked: bigint
  /** Of the open ones, as they were taken. */
  readonly notional: bigint
  readonly reward: bigint
  readonly expectedPayout: bigint
  readonly claims: bigint
  /** Of the open ones the earliest, Unix ms; null: there is none. */
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

/** By asset; those alone of which something is live. */
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
