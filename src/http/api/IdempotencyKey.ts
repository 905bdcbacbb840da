/** The Idempotency-Key header, which many routes share (doc 1, Idempotency; A1-52). */
import { Schema } from "effect"
import { idempotency } from "../../machines/shared/Limits.ts"

/** The header of every route that the contract marks with (K). */
export const idempotencyHeaders = {
  "idempotency-key": Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^[\x21-\x7e]+$/),
      Schema.isBetweenLength(1, idempotency.keyMaxLength)
    ).annotate({
      description:
        "1 to 128 printable ASCII characters. The first answer is replayed byte for byte for 24 hours, with the header Idempotency-Replayed."
    })
  )
}
