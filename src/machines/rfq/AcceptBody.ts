/** The body of POST .../rfq/{rfqId}/accept: the accepted quote (doc 2, Barrier contracts). */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"

const labels = { quoteId: "The quote id" } as const

const message = `${labels.quoteId} must be a positive integer.`

export const AcceptBody = Fields.objectOf(
  {
    quoteId: Schema.Number.annotate({ message, description: `${labels.quoteId}, as the request's quotes name it` })
      .check(Schema.isInt({ message }), Schema.isGreaterThan(0, { message }))
      .annotateKey(Fields.missing(labels.quoteId))
  },
  "The request body"
)
export interface AcceptBody {
  readonly quoteId: number
}

export type DecodedAccept = { readonly ok: true; readonly body: AcceptBody } | BodyFaults

/** Checks an accept; refuses with 400 code 4000, as all bodies do. */
export const decodeAccept = (body: unknown): DecodedAccept =>
  judgeBody(body, labels, (raw, add) => {
    const decoded = decodeBody(raw, add)
    return decoded === undefined ? undefined : { ok: true, body: { quoteId: decoded.quoteId } }
  })

const decodeBody = Fields.decoderOf(AcceptBody)
