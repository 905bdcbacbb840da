/**
 * Additional members of the order routes' refusals with 400 code 4000: null ids of the order that was not written, or the
 * preview. All other refusals have the common form (doc 2, Orders, margin, leverage, positions; A2-32, A2-49).
 */
import type { JsonObject } from "../shared/Json.ts"
import { noFigures } from "./orderPreview.ts"
import type { WireRefusal } from "../shared/wireRefusal.ts"

const withMembers = (refusal: WireRefusal, usual: JsonObject): WireRefusal =>
  refusal.status === 400 ? { ...refusal, beside: { ...usual, ...refusal.beside } } : refusal

const nothingWritten = { orderId: null, clOrdId: null, state: null }

/** For POST .../orders: adds the members that identify an order, as null, because none was written. */
export const refusingOrder = (refusal: WireRefusal): WireRefusal => withMembers(refusal, nothingWritten)

/** For POST .../margin/preview: adds the preview's members; the sentence is the preview's reason. */
export const refusingPreview = (refusal: WireRefusal): WireRefusal =>
  withMembers(refusal, { accepted: false, reason: refusal.msg, ...noFigures })
