/**
 * What a fill does to a netted position at average cost, and what it costs (F11, F12). Quantities and prices are decimal texts;
 * what a position's row keeps has at most 18 places.
 */
import { isFlat, type PerpPosition } from "../margin/perpetual.ts"
import type { Currency } from "../shared/Currency.ts"
import { type Exact } from "../shared/Exact.ts"
import { ceilToMinor, floorToMinor, MoneyDecimal } from "../shared/Money.ts"

export interface PositionFill {
  readonly side: "BUY" | "SELL"
  /** Without sign, more than zero. */
  readonly qty: string
  readonly price: string
}

export interface AppliedFill {
  readonly position: PerpPosition
  /** Micro-USDC that the closed part has gained or lost, before commission: what is posted, and already in the position. */
  readonly realized: bigint
  /** What of the fill has closed; "0" where nothing has. */
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
 * A position after a fill: what adds moves the average, what reduces realizes against it and takes its share of the cost, and
 * what goes beyond the whole opens the rest at the fill's price (F11).
 */
export const applyFill = (position: PerpPosition, { side, qty, price }: PositionFill): AppliedFill => {
  const held = new MoneyDecimal(position.netQty)
  const filled = new MoneyDecimal(qty).mul(side === "BUY" ? 1 : -1)
  const after = held.plus(filled)
  if (isFlat(position)) return { ...unrealized, position: openedAt(position, after, price), kind: "opened" }
  if (held.s === filled.s) return { ...unrealized, position: added(position, filled, after, price), kind: "added" }
  const closed = MoneyDecimal.min(filled.abs(), held.abs())
  const gain = new MoneyDecimal(price).minus(position.avgEntry).mul(closed).mul(held.s)
  const realized = floorToMinor(gain, "USDC")
  const closing = { realized, closedQty: closed.toFixed() }
  const booked = { ...position, realizedPnl: position.realizedPnl + realized }
  if (after.isZero()) return { ...closing, position: emptied(booked), kind: "closed" }
  if (after.s === held.s) return { ...closing, position: reduced(booked, held, after), kind: "reduced" }
  return { ...closing, position: openedAt(booked, after, price), kind: "turned" }
}

const unrealized = { realized: 0n, closedQty: "0" } as const

/** Places of an average and of a cost, as rows keep them. */
const keptPlaces = 18
const kept = (figure: MoneyDecimal): string =>
  figure.toDecimalPlaces(keptPlaces, MoneyDecimal.ROUND_HALF_EVEN).toFixed()

const openedAt = (position: PerpPosition, netQty: MoneyDecimal, price: string): PerpPosition => ({
  ...position,
  netQty: netQty.toFixed(),
  avgEntry: new MoneyDecimal(price).toFixed(),
  netCost: kept(netQty.mul(price))
})

const added = (position: PerpPosition, filled: MoneyDecimal, netQty: MoneyDecimal, price: string): PerpPosition => {
  const netCost = filled.mul(price).plus(position.netCost)
  return { ...position, netQty: netQty.toFixed(), avgEntry: kept(netCost.div(netQty)), netCost: kept(netCost) }
}

const reduced = (position: PerpPosition, held: MoneyDecimal, netQty: MoneyDecimal): PerpPosition => ({
  ...position,
  netQty: netQty.toFixed(),
  netCost: kept(netQty.mul(position.netCost).div(held))
})

const emptied = (position: PerpPosition): PerpPosition => ({
  ...flatPosition(position.symbol),
  realizedPnl: position.realizedPnl
})

/** Basis points of a whole. */
const whole = 10_000

/** The broker's commission on a quantity at a price, rounded up, in minor units of the quote currency (F12). */
export const commissionOf = (qty: Exact, price: Exact, bps: number, quote: Currency): bigint =>
  ceilToMinor(new MoneyDecimal(qty).mul(price).mul(bps).div(whole), quote)
