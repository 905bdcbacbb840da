/** The optional body of POST .../barriers/{contractId}/close: the options for the quotes to close (doc 2; A2-29). */
import * as Fields from "../shared/Fields.ts"
import { contractLimits } from "../shared/Limits.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"
import { quotingFields, quotingLabels } from "./RfqBody.ts"

export const CloseBody = Fields.objectOf(quotingFields, "The request body")

export interface CloseBody {
  readonly autoAccept: boolean
  readonly expiresInMs: number
}

export type DecodedClose = { readonly ok: true; readonly body: CloseBody } | BodyFaults

/**
 * Checks the body of a request to close; undefined stands for an absent body. A fault is 400 code 4000, as in all bodies.
 */
export const decodeClose = (body: unknown): DecodedClose =>
  judgeBody(body === undefined ? {} : body, quotingLabels, (raw, add) => {
    const decoded = decodeBody(raw, add)
    if (decoded === undefined) return undefined
    const { autoAccept = true, expiresInMs = contractLimits.window.defaultMillis } = decoded
    return { ok: true, body: { autoAccept, expiresInMs } }
  })

const decodeBody = Fields.decoderOf(CloseBody)
