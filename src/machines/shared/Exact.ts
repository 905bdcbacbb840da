/**
 * Decimals as whole numbers of their last place. Exact like `MoneyDecimal`, without its limit of digits and several times
 * faster: an account's risk is worked out of these at every turn that moves its money.
 */
import { MoneyDecimal } from "./Money.ts"

/** A price or a quantity: a decimal text, or an exact decimal. */
export type Exact = string | MoneyDecimal

/** `units` of the last of so many decimal places. */
export interface Scaled {
  readonly units: bigint
  readonly places: number
}

export const scaled = (value: Exact): Scaled => {
  const text = typeof value === "string" ? value : value.toFixed()
  const point = text.indexOf(".")
  if (point === -1) return { units: BigInt(text), places: 0 }
  return { units: BigInt(text.slice(0, point) + text.slice(point + 1)), places: text.length - point - 1 }
}

const powers = Array.from({ length: 40 }, (_, places) => 10n ** BigInt(places))
export const tenTo = (places: number): bigint => powers[places] ?? 10n ** BigInt(places)

/** The units of a value with more places, or as many. */
export const unitsWith = ({ units, places }: Scaled, more: number): bigint =>
  places === more ? units : units * tenTo(more - places)

export const product = (one: Scaled, other: Scaled): Scaled => ({
  units: one.units * other.units,
  places: one.places + other.places
})

export const sum = (one: Scaled, other: Scaled): Scaled => {
  const places = Math.max(one.places, other.places)
  return { units: unitsWith(one, places) + unitsWith(other, places), places }
}

export const negated = ({ units, places }: Scaled): Scaled => ({ units: -units, places })

export const magnitude = (value: bigint): bigint => (value < 0n ? -value : value)

export const absolute = ({ units, places }: Scaled): Scaled => ({ units: magnitude(units), places })

/** Towards minus infinity; the divisor is positive. */
export const floorDiv = (dividend: bigint, divisor: bigint): bigint => {
  const towardsZero = dividend / divisor
  return dividend < 0n && towardsZero * divisor !== dividend ? towardsZero - 1n : towardsZero
}

/** Towards plus infinity; the divisor is positive. */
export const ceilDiv = (dividend: bigint, divisor: bigint): bigint => -floorDiv(-dividend, divisor)

/** Places of micro-USDC. */
export const microPlaces = 6

/** USDC as micro-USDC, towards minus infinity (F1). */
export const floorToMicro = ({ units, places }: Scaled): bigint =>
  places <= microPlaces ? units * tenTo(microPlaces - places) : floorDiv(units, tenTo(places - microPlaces))
