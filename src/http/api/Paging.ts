// What many routes share: the Idempotency-Key header and the end of a page (doc 1, Limits: Paging; A1-09, A1-52).
import { Schema } from "effect"
import { Id } from "../../machines/shared/Ids.ts"
import { idempotency } from "../../machines/shared/Limits.ts"

/** The two members that tell how a list goes on. */
export const pageEnd = {
  hasMore: Schema.Boolean.annotate({ description: "Whether older rows exist." }),
  nextBefore: Schema.NullOr(Id).annotate({ description: "The cursor of the next page; null on the last one." })
}

/** The header of the (K) routes. */
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
