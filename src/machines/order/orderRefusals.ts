/**
 * How the routes of orders show a refusal with 400 code 4000: with what was written of the order, or as the preview that it is
 * (doc 2, Orders, margin, leverage, positions; A2-32, A2-49). Every other refusal is like any route's.
 */
import type { JsonObject } from "../shared/Json.ts"
import { noFigures } from "./orderPreview.ts"
import type { WireRefusal } from "../shared/wireRefusal.ts"

const withMembers = (refusal: WireRefusal, usual: JsonObject): WireRefusal =>
  refusal.status === 400 ? { ...refusal, beside: { ...usual, ...refusal.beside } } : refusal

const nothingWritten = { orderId: null, clOrdId: null, state: null }

/** Of POST .../orders: names the order, or says that none was written. */
export const refusingOrder = (refusal: WireRefusal): WireRefusal => withMembers(refusal, nothingWritten)

/** Of POST .../margin/preview: the preview, with the sentence as its reason. */
export const refusingPreview = (refusal: WireRefusal): WireRefusal =>
  withMembers(refusal, { accepted: false, reason: refusal.msg, ...noFigures })
