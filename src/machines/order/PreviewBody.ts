/**
 * The body of POST .../margin/preview: an order at any allowed leverage. `ocoGroup` is ignored like an unknown field, because
 * a preview does not check the other orders of a group (doc 2, Margin preview).
 */
import * as Fields from "../shared/Fields.ts"
import { type DecodedOrder, judgeOrder, orderFields } from "./OrderBody.ts"

export const PreviewBody = Fields.objectOf(orderFields, "The request body")

/** Checks a preview's order, with the sentences and paths of a placed order. */
export const decodePreview = (body: unknown): DecodedOrder =>
  judgeOrder(Fields.isRecord(body) ? { ...body, ocoGroup: null } : body, decodeBody)

const decodeBody = Fields.decoderOf(PreviewBody)
