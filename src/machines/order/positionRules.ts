/**
 * The effect of a fill on a netted position at average cost, and the fill's commission. Quantities and prices are decimal
 * texts, or exact decimals; a position's row keeps at most 18 places (F11, F12).
 */
import type { PerpPosition } from "../margin/perpetual.ts"
import { type Currency, scaleOf } from "../shared/Currency.ts"
import {
  absolute,
  ceilTo,
  compared,
  difference,
  type Exact,
  exactText,
  floorToMicro,
  negated,
  product,
  quotient,
  rounded,
  type Scaled,
  scaled,
  shareOf,
  sum
} from "../shared/Exact.ts"

export interface PositionFill {
  readonly side: "BUY" | "SELL"
  /** Unsigned, above zero. */
  readonly qty: string
  readonly price: string
}

/** Like `PositionFill`, with figures that are computed already. */
export interface FigureFill extends Pick<PositionFill, "side"> {
  readonly qty: Exact | Scaled
  readonly price: Exact | Scaled
}

export interface AppliedFill {
  readonly position: PerpPosition
  /** Realized PnL of the closed part before commission, micro-USDC. The position includes it already; the caller posts it. */
  readonly realized: bigint
  /** The closed part of the fill; "0" if it closes nothing. */
  readonly closedQty: string
  readonly kind: "opened" | "added" | "reduced" | "closed" | "turned"
}

/** The position before the first fill of its market. */
export const flatPosition = (symbol: string): PerpPosition => ({
  symbol,
  netQty: "0",
  avgEntry: "0",
  netCost: "0",
  realizedPnl: 0n
})

/**
 * A position after a fill. An addition moves the average entry. A reduction realizes PnL against the average, and takes its
 * share of the cost. When a fill exceeds the whole position, the excess opens a new position at the fill's price.
 */
export const applyFill = (position: PerpPosition, { side, qty, price }: FigureFill): AppliedFill => {
  const held = scaled(position.netQty)
  const filled = side === "BUY" ? scaled(qty) : negated(scaled(qty))
  const after = sum(held, filled)
  const at = scaled(price)
  if (held.units === 0n) return { ...unrealized, position: openedAt(position, after, at), kind: "opened" }
  if (held.units > 0n === filled.units > 0n) {
    return { ...unrealized, position: added(position, filled, after, at), kind: "added" }
  }
  const [all, wanted] = [absolute(held), absolute(filled)]
  const closed = compared(wanted, all) < 0n ? wanted : all
  const gained = product(difference(at, scaled(position.avgEntry)), held.units > 0n ? closed : negated(closed))
  const realized = floorToMicro(gained)
  const closing = { realized, closedQty: exactText(closed) }
  const booked = { ...position, realizedPnl: position.realizedPnl + realized }
  if (after.units === 0n) return { ...closing, position: emptied(booked), kind: "closed" }
  if (after.units > 0n === held.units > 0n) {
    return { ...closing, position: reduced(booked, held, after), kind: "reduced" }
  }
  return { ...closing, position: openedAt(booked, after, at), kind: "turned" }
}

const unrealized = { realized: 0n, closedQty: "0" } as const

/** Stored places of an average and of a cost. */
const keptPlaces = 18
const kept = (figure: Scaled): string => exactText(rounded(figure, keptPlaces))

const openedAt = (position: PerpPosition, netQty: Scaled, price: Scaled): PerpPosition => ({
  ...position,
  netQty: exactText(netQty),
  avgEntry: exactText(price),
  netCost: kept(product(netQty, price))
})

const added = (position: PerpPosition, filled: Scaled, netQty: Scaled, price: Scaled): PerpPosition => {
  const netCost = sum(product(filled, price), scaled(position.netCost))
  const avgEntry = exactText(quotient(netCost, netQty, keptPlaces))
  return { ...position, netQty: exactText(netQty), avgEntry, netCost: kept(netCost) }
}

const reduced = (position: PerpPosition, held: Scaled, netQty: Scaled): PerpPosition => ({
  ...position,
  netQty: exactText(netQty),
  netCost: exactText(quotient(product(netQty, scaled(position.netCost)), held, keptPlaces))
})

const emptied = (position: PerpPosition): PerpPosition => ({
  ...flatPosition(position.symbol),
  realizedPnl: position.realizedPnl
})

/** The broker's commission on a quantity at a price, rounded up, in minor units of the quote currency. */
export const commissionOf = (qty: Exact | Scaled, price: Exact | Scaled, bps: number, quote: Currency): bigint =>
  ceilTo(shareOf(product(scaled(qty), scaled(price)), bps), scaleOf(quote))
