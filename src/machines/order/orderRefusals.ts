/**
 * Refusals of the order routes with 400 code 4000 have additional members: that no order was written, or the preview. Every
 * other refusal has the common form (doc 2, Orders, margin, leverage, positions; A2-32, A2-49).
 */
import type { JsonObject } from "../shared/Json.ts"
import { noFigures } from "./orderPreview.ts"
import type { WireRefusal } from "../shared/wireRefusal.ts"

const withMembers = (refusal: WireRefusal, usual: JsonObject): WireRefusal =>
  refusal.status === 400 ? { ...refusal, beside: { ...usual, ...refusal.beside } } : refusal

const nothingWritten = { orderId: null, clOrdId: null, state: null }

/** For POST .../orders: adds the members that identify the order, null because none was written. */
export const refusingOrder = (refusal: WireRefusal): WireRefusal => withMembers(refusal, nothingWritten)

/** For POST .../margin/preview: adds the members of a preview that is not accepted, with the refusal's sentence as reason. */
export const refusingPreview = (refusal: WireRefusal): WireRefusal =>
  withMembers(refusal, { accepted: false, reason: refusal.msg, ...noFigures })
