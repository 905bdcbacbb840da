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

/** As many places as wanted; a value with more of them is rounded half to even. */
const withPlaces = ({ units, places }: Scaled, wanted: number): bigint =>
  places <= wanted ? units * tenTo(wanted - places) : halfEven(units, tenTo(places - wanted))

/** A quotient with so many places, rounded half to even. */
export const quotient = (dividend: Scaled, divisor: Scaled, places: number): Scaled => {
  const shift = places + divisor.places - dividend.places
  const above = shift >= 0 ? dividend.units * tenTo(shift) : dividend.units
  const below = shift >= 0 ? divisor.units : divisor.units * tenTo(-shift)
  return { units: below < 0n ? halfEven(-above, -below) : halfEven(above, below), places }
}

/** The nearest whole number, the even one of two; the divisor is positive. */
const halfEven = (dividend: bigint, divisor: bigint): bigint => {
  const floor = floorDiv(dividend, divisor)
  const twice = 2n * (dividend - floor * divisor)
  return twice > divisor || (twice === divisor && floor % 2n !== 0n) ? floor + 1n : floor
}

/** Whether one is less than the other. */
export const isLess = (one: Scaled, other: Scaled): boolean => {
  const places = Math.max(one.places, other.places)
  return unitsWith(one, places) < unitsWith(other, places)
}

/** With exactly so many places, half to even. */
export const fixedText = (value: Scaled, places: number): string => {
  const units = withPlaces(value, places)
  if (places === 0) return units.toString()
  const digits = magnitude(units)
    .toString()
    .padStart(places + 1, "0")
  return `${units < 0n ? "-" : ""}${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/** With no more places than it needs, and `most` of them. */
export const plainText = (value: Scaled, most: number): string => {
  const text = fixedText(value, Math.min(value.places, most))
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text
}

/** Places of micro-USDC. */
export const microPlaces = 6

/** As units of the last of so many places, towards minus infinity (F1). */
export const floorToUnits = ({ units, places }: Scaled, wanted: number): bigint =>
  places <= wanted ? units * tenTo(wanted - places) : floorDiv(units, tenTo(places - wanted))

/** USDC as micro-USDC, towards minus infinity (F1). */
export const floorToMicro = (value: Scaled): bigint => floorToUnits(value, microPlaces)
