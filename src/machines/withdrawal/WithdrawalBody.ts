/**
 * The body of POST .../withdrawals: the partner asks that a client is paid out (doc 3, Endpoints and Limits; A3-01,
 * A3-02, A3-07).
 */
import { Schema } from "effect"
import type { JsonObject } from "../Effects.ts"
import * as Fields from "../shared/Fields.ts"
import { moneyLengths } from "../shared/Limits.ts"
import { amountOf, moneyFields, moneyLabels, type MoneyBody } from "../shared/MoneyBody.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"
import { cleanText, codePointLength } from "../shared/Text.ts"

const labels = { ...moneyLabels, destination: "The destination" } as const

/** The body as sent, null fields left out (doc 3, Endpoints). */
export const WithdrawalBody = Fields.objectOf(
  {
    ...moneyFields,
    destination: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.Unknown).annotate({
        message: `${labels.destination} must be a JSON object.`,
        description: `Where to pay: an object of the partner's own shape, at most ${moneyLengths.destination} characters of JSON; kept as it is written, so a number that would not be printed as it is written is refused: send it as text`
      })
    )
  },
  "The request body"
)

/** A valid withdrawal request. */
export interface WithdrawalBody extends MoneyBody {
  /** As sent, or null. */
  readonly destination: JsonObject | null
}

export type DecodedWithdrawal = { readonly ok: true; readonly body: WithdrawalBody } | BodyFaults

/**
 * Judges the body of a withdrawal request; `text` is the JSON it was parsed from, where it is known. On refusal
 * `sentence` is that of the first failing field in the documented order (partnerRef, currency, amount, destination) and
 * `errors` names all of them (400 code 4000).
 */
export const decodeWithdrawal = (body: unknown, text?: string): DecodedWithdrawal =>
  judgeBody(body, labels, (raw, add) => {
    const decoded = decodeBody(raw, add)
    const amount = amountOf(raw, add)
    const { destination } = raw
    checkDestination(destination, text, add)
    if (decoded === undefined || amount === undefined) return undefined
    const { partnerRef, currency } = decoded
    return {
      ok: true,
      body: {
        partnerRef: cleanText(partnerRef),
        currency,
        amount,
        // The value as it was parsed, not as the schema rebuilt it: it is stored verbatim.
        destination: (destination as JsonObject | undefined) ?? null
      }
    }
  })

const decodeBody = Fields.decoderOf(WithdrawalBody)

const inexact = `${labels.destination} has a number that would not be kept as it is written: send such numbers as text.`

/** Counted on the JSON text without white space between its tokens (A3-07). */
const checkDestination = (destination: unknown, text: string | undefined, add: Fields.AddError): void => {
  if (!Fields.isRecord(destination)) return
  if (codePointLength(JSON.stringify(destination)) > moneyLengths.destination) {
    add("destination", `${labels.destination} must have at most ${moneyLengths.destination} characters of JSON.`)
  }
  if (text !== undefined && hasInexactNumber(text)) add("destination", inexact)
}

/** Stands for a number that is written otherwise than it would be printed. */
const rewritten = Symbol("rewritten")

/** The reviver gets the source of each number; the compiler's library does not know it yet. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Stored verbatim means digit for digit: 12345678901234567890 and 1.0 are other numbers once they were parsed. */
const hasInexactNumber = (text: string): boolean => {
  const body = parseWith(text, (_, value, { source }) =>
    typeof value === "number" && String(value) !== source ? rewritten : value
  )
  return holds((body as Fields.JsonRecord)["destination"], rewritten)
}

const holds = (value: unknown, sought: symbol): boolean =>
  value === sought ||
  (typeof value === "object" && value !== null && Object.values(value).some((it) => holds(it, sought)))
