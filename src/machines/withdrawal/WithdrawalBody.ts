/**
 * The body of POST .../withdrawals: the partner requests a payment to a client (doc 3, Endpoints and Limits; A3-01, A3-02,
 * A3-07).
 */
import { Schema } from "effect"
import { isWhole, parseExact } from "../shared/exactJson.ts"
import * as Fields from "../shared/Fields.ts"
import { moneyLengths } from "../shared/Limits.ts"
import { amountOf, moneyFields, moneyLabels, type MoneyBody } from "../shared/MoneyBody.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"
import { cleanText, codePointLength } from "../shared/Text.ts"

const labels = { ...moneyLabels, destination: "The destination" } as const

export const WithdrawalBody = Fields.objectOf(
  {
    ...moneyFields,
    destination: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.Unknown).annotate({
        message: `${labels.destination} must be a JSON object.`,
        description: `Where to pay: an object of the partner's own shape, at most ${moneyLengths.destination} characters of JSON; its text is kept, and no name may come twice`
      })
    )
  },
  "The request body"
)

export interface WithdrawalBody extends MoneyBody {
  /** The destination's JSON text as it was sent, without white space between tokens; null without a destination. */
  readonly destination: string | null
}

export type DecodedWithdrawal = { readonly ok: true; readonly body: WithdrawalBody } | BodyFaults

/**
 * Checks the body of a withdrawal request. `text` is the JSON text of the body; when given, the destination is stored exactly
 * as written there. On refusal, `sentence` belongs to the first failing field in the documented order (partnerRef, currency,
 * amount, destination), and `errors` names all failing fields (400 code 4000).
 */
export const decodeWithdrawal = (body: unknown, text?: string): DecodedWithdrawal =>
  judgeBody(body, labels, (raw, add) => {
    const decoded = decodeBody(raw, add)
    const amount = amountOf(raw, add)
    const destination = destinationOf(text === undefined ? raw : parseExact(text))
    const written = destination === null ? null : JSON.stringify(destination)
    if (!isWhole(destination)) add("destination", lostMember)
    if (codePointLength(written ?? "") > moneyLengths.destination) {
      add("destination", `${labels.destination} must have at most ${moneyLengths.destination} characters of JSON.`)
    }
    if (decoded === undefined || amount === undefined) return undefined
    const { partnerRef, currency } = decoded
    return {
      ok: true,
      body: { partnerRef: cleanText(partnerRef), currency, amount, destination: written }
    }
  })

const decodeBody = Fields.decoderOf(WithdrawalBody)

const lostMember = `${labels.destination} must not contain the same name twice in one object, nor the name __proto__.`

/** The destination of a valid body, null when absent. Its JSON text is stored, so the length of that text is limited. */
const destinationOf = (body: unknown): Fields.JsonRecord | null => {
  const destination = (body as Fields.JsonRecord)["destination"]
  return Fields.isRecord(destination) ? destination : null
}
