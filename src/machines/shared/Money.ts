/**
 * Money: only this file converts decimal strings to minor units (bigint) and back, so that grammar, scale and ceiling are
 * checked in one place (doc 3, "positive decimal string"; doc 1, conventions; F1, F2, RND-012, RND-011).
 */
import { Decimal } from "decimal.js"
import { Schema } from "effect"
import { type Currency, currencyFacts } from "./Currency.ts"
import { trimText } from "./Text.ts"

/** Largest amount or balance in minor units: 2^63 - 1. */
export const maxMinor = 2n ** 63n - 1n

/** Decimal arithmetic for prices and products: 60 significant digits, never exponent notation (formulas, preamble). */
export const MoneyDecimal = Decimal.clone({ precision: 60, toExpNeg: -9e15, toExpPos: 9e15 })
export type MoneyDecimal = Decimal

/**
 * Formats a figure as a decimal text with `places` places, by default all of them. Every figure is formatted here, because a
 * small loss rounded to zero, or a product with zero, must not show a minus. Rounding is half up by default.
 */
export const decimalText = (figure: Decimal, places?: number, rounding?: Decimal.Rounding): string => {
  const text =
    places === undefined
      ? figure.toFixed()
      : rounding === undefined
        ? figure.toFixed(places)
        : figure.toFixed(places, rounding)
  return plainZero(text)
}

/** The same decimal text; a zero such as "-0.00" loses its minus. */
export const plainZero = (text: string): string => (text.startsWith("-") && isNothing(text) ? text.slice(1) : text)

const grammar = /^(0|[1-9][0-9]{0,17})(?:\.([0-9]{1,18}))?$/

const notText = "The amount must be a decimal string such as 12.50."
const notDecimal = "The amount must be a plain decimal number such as 12.50, without sign, exponent or grouping."
const notPositive = "The amount must be greater than zero."
const tooLarge = "The amount is too large."
const tooManyPlaces = Object.fromEntries(
  Object.entries(currencyFacts).map(([code, { scale }]) => [
    code,
    `The amount must have at most ${scale} decimal places for ${code}.`
  ])
) as Record<Currency, string>
const powers = Array.from({ length: 19 }, (_, places) => 10n ** BigInt(places))
const power = (places: number): bigint => powers[places] ?? 10n ** BigInt(places)

/**
 * Parses a partner's amount into minor units of the currency; zero is allowed. A string result is the sentence of a refusal.
 * Written decimal places count, trailing zeros included.
 */
export const parseAmount = (value: unknown, currency: Currency): bigint | string => {
  if (typeof value !== "string") return notText
  const match = grammar.exec(trimText(value))
  if (match === null) return notDecimal
  const whole = match[1] ?? "0"
  const fraction = match[2] ?? ""
  const scale = currencyFacts[currency].scale
  if (fraction.length > scale) return tooManyPlaces[currency]
  const minor = BigInt(whole + fraction) * power(scale - fraction.length)
  return minor > maxMinor ? tooLarge : minor
}

/** Like `parseAmount`, but refuses zero ("positive decimal string"). */
export const parsePositiveAmount = (value: unknown, currency: Currency): bigint | string => {
  const minor = parseAmount(value, currency)
  return minor === 0n ? notPositive : minor
}

/** Minor units as a decimal string with the currency's full scale, "-" first when negative. */
export const formatAmount = (minor: bigint, currency: Currency): string => {
  const scale = currencyFacts[currency].scale
  const digits = (minor < 0n ? -minor : minor).toString().padStart(scale + 1, "0")
  const at = digits.length - scale
  return `${minor < 0n ? "-" : ""}${digits.slice(0, at)}.${digits.slice(at)}`
}

/** A USDC text that the service itself wrote, in micro-USDC, rounded towards minus infinity. */
export const usdcMinor = (text: string): bigint => floorToMinor(text, "USDC")

/** A signed figure from the client's view, in minor units, rounded towards minus infinity. */
export const floorToMinor = (figure: Decimal | string, currency: Currency): bigint => toMinor(figure, currency, false)

/** A requirement or charge written as a positive figure, in minor units, rounded towards plus infinity. */
export const ceilToMinor = (figure: Decimal | string, currency: Currency): bigint => toMinor(figure, currency, true)

/** Minor units as an exact decimal figure, for products with prices. */
export const toDecimal = (minor: bigint, currency: Currency): Decimal => new MoneyDecimal(formatAmount(minor, currency))

/** A decimal string of money in a response: all places of its currency, with a minus if negative. */
export const MoneyText = Schema.String.annotate({ message: "The amount must be a decimal string." })
  .check(Schema.isPattern(/^-?(0|[1-9][0-9]*)\.[0-9]+$/u, { message: notDecimal }))
  .annotate({ description: "Money: decimal string in the currency's full scale" })

/** An amount from a partner: at most the currency's places, more than zero. */
export const PositiveAmountText = (currency: Currency) =>
  Schema.String.annotate({
    message: notText,
    description: `Amount of ${currency}: positive decimal string, at most ${currencyFacts[currency].scale} places`
  }).check(
    Schema.makeFilter(
      (written: string) => {
        const minor = parsePositiveAmount(written, currency)
        return typeof minor === "string" ? minor : undefined
      },
      {
        toJsonSchema: () => [{ pattern: `^(0|[1-9][0-9]{0,17})(\\.[0-9]{1,${currencyFacts[currency].scale}})?$` }, true]
      }
    )
  )

const signedGrammar = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?$/

/**
 * Converts a figure to minor units. `isUp` rounds towards plus infinity, otherwise towards minus infinity. Throws on a text
 * that is not a number, because only the service's own figures come here.
 */
const toMinor = (figure: Decimal | string, currency: Currency, isUp: boolean): bigint => {
  const text = typeof figure === "string" ? figure : figure.toFixed()
  const minor = roundedMinor(text, currency, isUp) ?? roundedMinor(new MoneyDecimal(text).toFixed(), currency, isUp)
  if (minor === null) throw new RangeError("a figure of money is no number")
  return minor
}

/**
 * The same as `toMinor`, by rounding the digits of a plain decimal text: five times faster than decimal arithmetic. Null
 * for a text in any other form.
 */
const roundedMinor = (text: string, currency: Currency, isUp: boolean): bigint | null => {
  const match = signedGrammar.exec(text)
  if (match === null) return null
  const [, sign = "", whole = "", fraction = ""] = match
  const { scale } = currencyFacts[currency]
  const kept = fraction.slice(0, scale)
  const minor = BigInt(whole + kept) * power(scale - kept.length)
  const isCut = fraction.length > scale && !isNothing(fraction.slice(scale))
  // A cut positive amount rounds up here, and a cut negative one down: both away from zero, towards the wanted infinity.
  const rounded = isCut && (sign === "") === isUp ? minor + 1n : minor
  return sign === "" ? rounded : -rounded
}

/** The sum of signed amounts of one currency, as a decimal text with all its places. */
export const amountPlus = (currency: Currency, ...amounts: ReadonlyArray<string>): string =>
  formatAmount(
    amounts.reduce((sum, amount) => sum + minorOf(amount, currency), 0n),
    currency
  )

/** Whether an amount in any form is zero. */
export const isNothing = (amount: string): boolean => !/[1-9]/.test(amount)

/**
 * The minor units of a signed amount that the service wrote. Two minus signs cancel out, so that callers can put one in
 * front.
 */
export const minorOf = (amount: string, currency: Currency): bigint => {
  const signs = /^-*/.exec(amount)?.[0].length ?? 0
  const minor = floorToMinor(amount.slice(signs), currency)
  return signs % 2 === 1 ? -minor : minor
}
