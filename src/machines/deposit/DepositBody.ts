/**
 * The body of POST .../deposits: the partner reports that it passed on a client's money (doc 3, Endpoints and Limits;
 * A3-01..A3-03).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { moneyLengths } from "../shared/Limits.ts"
import { amountOf, moneyFields, moneyLabels, type MoneyBody } from "../shared/MoneyBody.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"
import { cleanText } from "../shared/Text.ts"
import { type DepositMethod, depositMethods } from "./DepositNotice.ts"

const labels = { ...moneyLabels, method: "The method", evidenceRef: "The evidence reference" } as const

export const DepositBody = Fields.objectOf(
  {
    ...moneyFields,
    method: Schema.optionalKey(Fields.token(labels.method, depositMethods)).annotate({
      description: "FIAT, the default, or CRYPTO; informative"
    }),
    evidenceRef: Fields.optionalText(labels.evidenceRef, moneyLengths.evidenceRef)
  },
  "The request body"
)

export interface DepositBody extends MoneyBody {
  readonly method: DepositMethod
  readonly evidenceRef: string | null
}

export type DecodedDeposit = { readonly ok: true; readonly body: DepositBody } | BodyFaults

/**
 * Checks the body of a deposit notice. On refusal, `sentence` belongs to the first failing field in the documented order
 * (partnerRef, currency, amount, method, evidenceRef), and `errors` names all failing fields (400 code 4000).
 */
export const decodeDeposit = (body: unknown): DecodedDeposit =>
  judgeBody(body, labels, (raw, add) => {
    Fields.dropBlanks(DepositBody, raw)
    const decoded = decodeBody(raw, add)
    const amount = amountOf(raw, add)
    if (decoded === undefined || amount === undefined) return undefined
    const { partnerRef, currency, method, evidenceRef } = decoded
    return {
      ok: true,
      body: {
        partnerRef: cleanText(partnerRef),
        currency,
        amount,
        method: method ?? "FIAT",
        evidenceRef: evidenceRef === undefined ? null : cleanText(evidenceRef) || null
      }
    }
  })

const decodeBody = Fields.decoderOf(DepositBody)
