// The body of POST .../deposits: the partner passed a client's money on (doc 3, Endpoints and Limits; A3-01..A3-03).
import { Schema } from "effect"
import { Currency, isCurrency } from "../shared/Currency.ts"
import * as Fields from "../shared/Fields.ts"
import { moneyLengths } from "../shared/Limits.ts"
import { parsePositiveAmount } from "../shared/Money.ts"
import { cleanText } from "../shared/Text.ts"
import { type DepositMethod, depositMethods } from "./DepositNotice.ts"

const labels = {
  partnerRef: "The partner reference",
  currency: "The currency",
  amount: "The amount",
  method: "The method",
  evidenceRef: "The evidence reference"
} as const

/** The body as sent, null fields left out (doc 3, Endpoints). */
export const DepositBody = Fields.objectOf(
  {
    partnerRef: Fields.text(labels.partnerRef, moneyLengths.partnerRef),
    currency: Currency.annotateKey(Fields.missing(labels.currency)),
    amount: Schema.String.annotate({
      message: "The amount must be a decimal string such as 12.50.",
      description:
        "Positive decimal string, at most the currency's places: USDC, USD1, XRP 6; EUR 2; BTC, ETH, BNB 8; SOL 9"
    }).annotateKey(Fields.missing(labels.amount)),
    method: Schema.optionalKey(Fields.token(labels.method, depositMethods)).annotate({
      description: "FIAT, the default, or CRYPTO; informative"
    }),
    evidenceRef: Fields.optionalText(labels.evidenceRef, moneyLengths.evidenceRef)
  },
  "The request body"
)

/** A valid deposit notice request. */
export interface DepositRequest {
  readonly partnerRef: string
  readonly currency: Currency
  /** Minor units of the currency, more than zero. */
  readonly amount: bigint
  readonly method: DepositMethod
  readonly evidenceRef: string | null
}

export type DepositDecision =
  | { readonly ok: true; readonly request: DepositRequest }
  | { readonly ok: false; readonly sentence: string; readonly errors: Fields.FieldErrors }

/**
 * Judges the body of a deposit notice. On refusal `sentence` is that of the first failing field in the documented order
 * (partnerRef, currency, amount, method, evidenceRef) and `errors` names all of them (400 code 4000).
 */
export const decodeDeposit = (body: unknown): DepositDecision => {
  if (!Fields.isRecord(body)) return { ok: false, sentence: "The request body must be a JSON object.", errors: {} }
  const raw = Fields.withoutNulls(body, 0) as Fields.JsonRecord
  const found: Fields.FieldErrors = {}
  const add: Fields.AddError = (path, sentence) => {
    found[path] ??= sentence
  }
  const decoded = decodeBody(raw, add)
  const amount = amountOf(raw, add)
  // Named in the documented order, whichever pass found them.
  const errors: Fields.FieldErrors = {}
  for (const field of Object.keys(labels)) if (found[field] !== undefined) errors[field] = found[field]
  const [first] = Object.values(errors)
  if (decoded === undefined || amount === undefined || first !== undefined) {
    return { ok: false, sentence: first ?? "Please check the highlighted fields.", errors }
  }
  return {
    ok: true,
    request: {
      partnerRef: cleanText(decoded.partnerRef),
      currency: decoded.currency,
      amount,
      method: decoded.method ?? "FIAT",
      evidenceRef: decoded.evidenceRef === undefined ? null : cleanText(decoded.evidenceRef) || null
    }
  }
}

const decodeBody = Fields.decoderOf(DepositBody)

/** The places belong to the currency, so an amount beside an unknown currency is judged with the widest scale. */
const amountOf = ({ amount, currency }: Fields.JsonRecord, add: Fields.AddError): bigint | undefined => {
  if (typeof amount !== "string") return undefined
  const minor = parsePositiveAmount(amount, isCurrency(currency) ? currency : "SOL")
  if (typeof minor === "bigint") return minor
  const scaleUnknown = !isCurrency(currency) && minor.endsWith("for SOL.")
  if (!scaleUnknown) add("amount", minor)
  return undefined
}
