/** Parses the figures of a body on the grids of their market, with the sentences of a refusal (F2, A2-91, A2-110). */
import type { AddError } from "../shared/Fields.ts"
import { compared, scaled } from "../shared/Exact.ts"
import type { VenueMarket } from "../venue/VenueMarket.ts"
import { type Grid, gridOf, onGrid } from "./Grid.ts"

/** A value on its market's grid: the text with all decimal places of the grid, and their number. */
export interface OnGrid {
  readonly text: string
  readonly decimals: number
}

/** A market's grids; null when the market's step is invalid. */
export interface MarketGrids {
  readonly price: Grid | null
  readonly qty: Grid | null
}

/** Cache by listed market: its steps are parsed once. */
const grids = new WeakMap<VenueMarket, MarketGrids>()

/** The grids of a market's prices and quantities. */
export const gridsOf = (market: VenueMarket): MarketGrids => {
  let found = grids.get(market)
  if (found === undefined) {
    found = { price: gridOf(market.priceTick), qty: gridOf(market.qtyStep) }
    grids.set(market, found)
  }
  return found
}

const stepOn = (text: string, grid: Grid | null): OnGrid | null => {
  const value = grid === null ? null : onGrid(text, grid)
  return grid === null || value === null ? null : { text: value.text, decimals: grid.decimals }
}

/**
 * A quantity on the lots of its market and within its bounds. Undefined when refused: `add` has then received the sentence,
 * at the path `qty`.
 */
export const quantityOn = (text: string, market: VenueMarket, add: AddError): OnGrid | undefined => {
  const { qtyStep, minQty, maxQty } = market
  const qty = scaled(text)
  const value = stepOn(text, gridsOf(market).qty)
  if (compared(qty, scaled(maxQty)) > 0n) add("qty", `The quantity must be at most ${maxQty}.`)
  else if (compared(qty, scaled(minQty)) < 0n) add("qty", `The quantity must be at least ${minQty}.`)
  else if (value === null) add("qty", `The quantity must be a multiple of ${qtyStep}.`)
  else return value
  return undefined
}

/** A price on the ticks of its market. Undefined when refused: `add` has then received the sentence, at the path. */
export const priceOn = (
  text: string,
  path: string,
  label: string,
  market: VenueMarket,
  add: AddError
): OnGrid | undefined => {
  const value = stepOn(text, gridsOf(market).price)
  if (value !== null) return value
  add(path, `${label} must be a multiple of ${market.priceTick}.`)
  return undefined
}
