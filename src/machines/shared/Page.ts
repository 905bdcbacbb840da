/** The end of a page, in every list (doc 1, Limits: Paging; A1-09). */
import { Schema } from "effect"
import { Id } from "./Ids.ts"

/** The two members that lead to the next page. */
export const pageEnd = {
  hasMore: Schema.Boolean.annotate({ description: "Whether older rows exist." }),
  nextBefore: Schema.NullOr(Id).annotate({ description: "The cursor of the next page; null on the last one." })
}
