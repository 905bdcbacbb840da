/** The body of POST .../staking/{offerId}/accept: the quantity to take from the offer (doc 2, Staking). */
import * as Fields from "../shared/Fields.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"
import { trimText } from "../shared/Text.ts"

const labels = { qty: "The quantity" } as const

export const TakeBody = Fields.objectOf({ qty: Fields.positiveDecimal(labels.qty) }, "The request body")

export interface TakeRequest {
  /** The quantity in units of the market's asset, as the text that was sent. */
  readonly qty: string
}

export type DecodedTake = { readonly ok: true; readonly body: TakeRequest } | BodyFaults

/** Checks the body of a take. A fault is 400 code 4000, as in all bodies. */
export const decodeTake = (body: unknown): DecodedTake =>
  judgeBody(body, labels, (raw, add) => {
    const decoded = decodeBody(raw, add)
    return decoded === undefined ? undefined : { ok: true, body: { qty: trimText(decoded.qty) } }
  })

const decodeBody = Fields.decoderOf(TakeBody)
