// Parameters that many routes share: the client's id in the path, page size and cursor, the Idempotency-Key header and
// the form of a page (doc 1, Limits: Paging; A1-01, A1-09, A1-52).
import { Schema } from "effect"
import { Id } from "../../machines/shared/Ids.ts"
import { idempotency, type PageLimit } from "../../machines/shared/Limits.ts"

/** The client a route is about. Anything but a canonical positive id answers 404 like an unknown client. */
export const clientParams = { clientId: Id.annotate({ description: "The client's id." }) }

/** `limit` and `before` of a list with the given page sizes. */
export const pageParams = ({ max, default: usual }: PageLimit) => ({
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: max })).annotate({
      description: `Rows of a page, 1 to ${max}; ${usual} when absent.`,
      default: usual
    })
  ),
  before: Schema.optionalKey(
    Id.annotate({ description: "Only rows with a smaller id: nextBefore of the page before." })
  )
})

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
