/** Figures of a body on the grids of their market, with the sentences that refuse them (F2; A2-91, A2-110). */
import type { AddError } from "../shared/Fields.ts"
import { MoneyDecimal } from "../shared/Money.ts"
import type { VenueMarket } from "../venue/VenueMarket.ts"
import { gridOf, onGrid } from "./Grid.ts"

/** A value as it is written on its grid. */
export interface OnGrid {
  readonly text: string
  readonly decimals: number
}

const stepOn = (text: string, step: string): OnGrid | null => {
  const grid = gridOf(step)
  const value = grid === null ? null : onGrid(text, grid)
  return grid === null || value === null ? null : { text: value.text, decimals: grid.decimals }
}

/** A quantity on the lots of its market and within its bounds; undefined: `add` has the sentence, at the path `qty`. */
export const quantityOn = (
  text: string,
  { qtyStep, minQty, maxQty }: VenueMarket,
  add: AddError
): OnGrid | undefined => {
  const qty = new MoneyDecimal(text)
  const value = stepOn(text, qtyStep)
  if (qty.gt(maxQty)) add("qty", `The quantity must be at most ${maxQty}.`)
  else if (qty.lt(minQty)) add("qty", `The quantity must be at least ${minQty}.`)
  else if (value === null) add("qty", `The quantity must be a multiple of ${qtyStep}.`)
  else return value
  return undefined
}

/** A price on the ticks of its market; undefined: `add` has the sentence, at the path. */
export const priceOn = (
  text: string,
  path: string,
  label: string,
  { priceTick }: VenueMarket,
  add: AddError
): OnGrid | undefined => {
  const value = stepOn(text, priceTick)
  if (value !== null) return value
  add(path, `${label} must be a multiple of ${priceTick}.`)
  return undefined
}

/** Places that a step is written with; 0 of a step that is none. */
export const decimalsOf = (step: string): number => gridOf(step)?.decimals ?? 0
