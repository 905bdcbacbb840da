/**
 * The formats of the venue's values: prices, quantities and rates are decimal strings, times Unix milliseconds of business
 * time, ids positive integers. Parsing is strict: an invalid value is quarantined, never applied (A2-115).
 */
import { Schema, SchemaTransformation } from "effect"
import { plainZero } from "../shared/Money.ts"
import { plainText } from "../shared/Text.ts"

/** A decimal without a sign, with at most 15 digits before the point and 12 after it. */
const decimal = /^(0|[1-9][0-9]{0,14})(\.[0-9]{1,12})?$/
const signedDecimal = /^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,12})?$/

export const DecimalText = Schema.String.check(Schema.isPattern(decimal)).annotate({ description: "Decimal string." })
export const SignedText = Schema.String.check(Schema.isPattern(signedDecimal))
  .annotate({ description: "Signed decimal string." })
  .pipe(Schema.decodeTo(Schema.String, SchemaTransformation.transform({ decode: plainZero, encode: (text) => text })))

/** Unix milliseconds, business time; up to the year 2100. */
export const Millis = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4_102_444_800_000 })).annotate({
  description: "Unix milliseconds."
})
export const VenueId = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

/**
 * A ref: a name that the service chooses for an account, an order or another call, and that the venue stores. The venue
 * executes each ref once.
 */
export const Ref = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9:_-]{0,63}$/))
export const Symbol = Schema.String.check(Schema.isPattern(/^[A-Z0-9]{1,12}(-[A-Z0-9]{1,8}){0,2}$/))
export const Side = Schema.Literals(["BUY", "SELL"])
/** A text from the venue, without characters that control a terminal or change the writing direction. */
export const VenueText = Schema.String.check(Schema.isMaxLength(256)).pipe(
  Schema.decodeTo(Schema.String, SchemaTransformation.transform({ decode: plainText, encode: (text) => text }))
)
