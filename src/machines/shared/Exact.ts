/**
 * Decimals as integers in units of their last decimal place. Exact like `MoneyDecimal`, without its limit of digits and
 * several times faster: every turn that moves an account's money computes the account's risk with these (F1).
 */
import { decimalText, MoneyDecimal } from "./Money.ts"

/** A price or a quantity: a decimal text, or an exact decimal. */
export type Exact = string | MoneyDecimal

/** A value of `units` in the last decimal place; `places` is the number of decimal places. */
export interface Scaled {
  readonly units: bigint
  readonly places: number
}

export const scaled = (value: Exact | Scaled): Scaled => {
  if (typeof value === "string") return scaledText(value)
  return "units" in value ? value : scaledDecimal(value)
}

/** The scaled forms of marks. A mark is converted once, and all accounts that use it share the result. */
const decimals = new WeakMap<MoneyDecimal, Scaled>()

const scaledDecimal = (value: MoneyDecimal): Scaled => {
  let found = decimals.get(value)
  if (found === undefined) decimals.set(value, (found = scaledText(decimalText(value))))
  return found
}

const scaledText = (text: string): Scaled => {
  const point = text.indexOf(".")
  if (point === -1) return { units: BigInt(text), places: 0 }
  return { units: BigInt(text.slice(0, point) + text.slice(point + 1)), places: text.length - point - 1 }
}

const powers = Array.from({ length: 40 }, (_, places) => 10n ** BigInt(places))
export const tenTo = (places: number): bigint => powers[places] ?? 10n ** BigInt(places)

/** The units of a value written with `more` decimal places, which must not be fewer than its own. */
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

/** Quotient rounded towards minus infinity; the divisor is positive. */
export const floorDiv = (dividend: bigint, divisor: bigint): bigint => {
  const towardsZero = dividend / divisor
  return dividend < 0n && towardsZero * divisor !== dividend ? towardsZero - 1n : towardsZero
}

/** Quotient rounded towards plus infinity; the divisor is positive. */
export const ceilDiv = (dividend: bigint, divisor: bigint): bigint => -floorDiv(-dividend, divisor)

/** Negative when `one` is less than `other`, zero when equal, positive when greater. */
export const compared = (one: Scaled, other: Scaled): bigint => {
  const places = Math.max(one.places, other.places)
  return unitsWith(one, places) - unitsWith(other, places)
}

export const isLess = (one: Scaled, other: Scaled): boolean => compared(one, other) < 0n

/** A share of a figure, in basis points; exact. */
export const shareOf = (figure: Scaled, bps: number): Scaled => {
  const { units, places } = product(figure, scaledText(String(bps)))
  return { units, places: places + 4 }
}

export const difference = (one: Scaled, other: Scaled): Scaled => sum(one, negated(other))

/** The value in units of `wanted` places, rounded towards minus infinity. */
export const floorTo = ({ units, places }: Scaled, wanted: number): bigint =>
  places <= wanted ? units * tenTo(wanted - places) : floorDiv(units, tenTo(places - wanted))

/** The value in units of `wanted` places, rounded towards plus infinity. */
export const ceilTo = (value: Scaled, wanted: number): bigint => -floorTo(negated(value), wanted)

/** A quotient with `places` places, rounded half to even. */
export const quotient = (dividend: Scaled, divisor: Scaled, places: number): Scaled => {
  const shift = places + divisor.places - dividend.places
  const [over, under] = [dividend.units * tenTo(Math.max(0, shift)), divisor.units * tenTo(Math.max(0, -shift))]
  return { units: under < 0n ? halfEven(-over, -under) : halfEven(over, under), places }
}

/** Rounds half to even to `places` places; a value with fewer places stays unchanged. */
export const rounded = (value: Scaled, places: number): Scaled =>
  value.places <= places ? value : { units: halfEven(value.units, tenTo(value.places - places)), places }

const halfEven = (over: bigint, under: bigint): bigint => {
  const below = floorDiv(over, under)
  const twice = 2n * (over - below * under)
  return twice > under || (twice === under && below % 2n !== 0n) ? below + 1n : below
}

/** A decimal text with exactly `places` places, rounded half to even; by default with all places of the value. */
export const fixedText = (value: Scaled, places: number = value.places): string => {
  const { units, places: given } = rounded(value, places)
  const digits = magnitude(units * tenTo(places - given))
    .toString()
    .padStart(places + 1, "0")
  const whole = digits.length - places
  const text = places === 0 ? digits : `${digits.slice(0, whole)}.${digits.slice(whole)}`
  return units < 0n ? `-${text}` : text
}

/** A decimal text without trailing zeros, such as "1.5" for 1.50. */
export const exactText = (value: Scaled): string => {
  const text = fixedText(value)
  if (value.places === 0) return text
  let end = text.length
  while (text.charCodeAt(end - 1) === zero) end--
  return text.slice(0, text.charCodeAt(end - 1) === point ? end - 1 : end)
}

const point = 46
const zero = 48

/** Decimal places of a USDC amount in micro-USDC. */
export const microPlaces = 6

/** USDC as micro-USDC, towards minus infinity. */
export const floorToMicro = (value: Scaled): bigint => floorTo(value, microPlaces)
