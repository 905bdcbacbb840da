/**
 * The cost of holdings: lots of an asset, first in, first out. A lot stores the price paid and the commission separately,
 * because results exclude commission and the cost basis includes it. Costs are micro-USDC, quantities the asset's minor units
 * (F21, A2-44).
 */
import type { Currency } from "../shared/Currency.ts"

export interface SpotLot {
  readonly id: number
  readonly asset: Currency
  /** The remaining quantity, above zero; the costs below are those of this quantity. */
  readonly qty: bigint
  /** The price paid for the quantity, or its value when it was deposited. */
  readonly cost: bigint
  readonly commission: bigint
  /** Unix ms. */
  readonly acquiredAt: number
}

/** A part of a lot, or a whole lot, taken by a disposal. */
export type LotSlice = Readonly<SpotLot>

export interface TakenLots {
  /** Oldest first; `id` and `acquiredAt` are those of the lot. */
  readonly taken: ReadonlyArray<LotSlice>
  /** The cost of all slices without commission, micro-USDC. */
  readonly cost: bigint
  readonly commission: bigint
  /** The remaining lots; a split lot keeps its remainder. */
  readonly left: ReadonlyArray<SpotLot>
  /** The quantity for which no lot was found; zero while every received unit has a lot. */
  readonly missing: bigint
}

/**
 * Takes a quantity out of the oldest lots. A slice carries its share of its lot's costs, rounded half to even; the last slice
 * of a lot carries the remaining costs, so the slices always sum to the lot. `lots` are oldest first.
 */
export const takeLots = (lots: ReadonlyArray<SpotLot>, qty: bigint): TakenLots => {
  const taken: Array<LotSlice> = []
  let wanted = qty
  let at = 0
  for (; at < lots.length && wanted > 0n; at++) {
    const lot = lots[at] as SpotLot
    if (lot.qty > wanted) break
    taken.push(lot)
    wanted -= lot.qty
  }
  const broken = wanted > 0n ? lots[at] : undefined
  if (broken === undefined) return { ...totals(taken), left: lots.slice(at), missing: wanted }
  const slice = {
    ...broken,
    qty: wanted,
    cost: shareOf(broken.cost, wanted, broken.qty),
    commission: shareOf(broken.commission, wanted, broken.qty)
  }
  const rest = {
    ...broken,
    qty: broken.qty - wanted,
    cost: broken.cost - slice.cost,
    commission: broken.commission - slice.commission
  }
  return { ...totals([...taken, slice]), left: [rest, ...lots.slice(at + 1)], missing: 0n }
}

const totals = (taken: ReadonlyArray<LotSlice>): Pick<TakenLots, "taken" | "cost" | "commission"> => {
  let cost = 0n
  let commission = 0n
  for (const slice of taken) {
    cost += slice.cost
    commission += slice.commission
  }
  return { taken, cost, commission }
}

/** amount x part / all, half to even; all three are positive. */
const shareOf = (amount: bigint, part: bigint, all: bigint): bigint => {
  const share = (amount * part) / all
  const twice = 2n * (amount * part - share * all)
  return twice > all || (twice === all && share % 2n === 1n) ? share + 1n : share
}
