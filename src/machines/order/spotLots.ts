/**
 * What holdings have cost: lots of an asset, first in first out (F21). A lot keeps its consideration and its commission apart,
 * because results are told without commission and the cost basis with it (A2-44). Costs are micro-USDC, quantities the
 * asset's minor units.
 */
import type { Currency } from "../shared/Currency.ts"

export interface SpotLot {
  readonly id: number
  readonly asset: Currency
  /** What is left of it, more than zero; so are its costs. */
  readonly qty: bigint
  /** What was paid for it, or its worth when it was deposited. */
  readonly cost: bigint
  readonly commission: bigint
  /** Unix ms. */
  readonly acquiredAt: number
}

/** A part of a lot, or all of it, that a disposal took. */
export type LotSlice = Readonly<SpotLot>

export interface TakenLots {
  /** Oldest first; `id` and `acquiredAt` are the lot's own. */
  readonly taken: ReadonlyArray<LotSlice>
  /** Of all that was taken. */
  readonly cost: bigint
  readonly commission: bigint
  /** The lots that remain, a broken one with what remains of it. */
  readonly left: ReadonlyArray<SpotLot>
  /** What of the quantity no lot was left for; zero as long as every unit that came in has a lot. */
  readonly missing: bigint
}

/**
 * Takes a quantity out of the oldest lots. A slice carries its share of its lot's costs, half to even; the last slice of a lot
 * what remains of them, so that nothing of a cost is lost or doubled. `lots` are oldest first.
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

/** amount x part / all, half to even; all of them positive. */
const shareOf = (amount: bigint, part: bigint, all: bigint): bigint => {
  const share = (amount * part) / all
  const twice = 2n * (amount * part - share * all)
  return twice > all || (twice === all && share % 2n === 1n) ? share + 1n : share
}
