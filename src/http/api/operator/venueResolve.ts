/**
 * `venue resolve`: ends a call that the venue never answers, a contract that the venue does not know, or an object with a
 * permanent difference. The reason names the venue's evidence. Unlike the other commands of VenueGroup, every service has it,
 * not only sandboxes.
 */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { flag, text, token } from "../../../machines/shared/Fields.ts"
import { admin, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { resolutions } from "./operatorTokens.ts"
import { ApprovalPending, rangeOf, Reason } from "./OperatorFieldSchemas.ts"

/**
 * `executed` needs tradeId, price and qty; for a take or swap, no price. `closed` is for contracts only and needs the price.
 * `void` needs no such member. For a swap that was already taken, `executed` means one payment, and tradeId is the venue's id
 * of that payment.
 */
export const ResolveBody = Schema.Struct({
  /** The object in the form of the audit, KIND:ID. */
  object: text("The object", 64),
  as: token("How it ended", resolutions),
  reason: Reason,
  tradeId: Schema.optionalKey(rangeOf("The trade id", 1, Number.MAX_SAFE_INTEGER)),
  price: Schema.optionalKey(text("The price", 40)),
  qty: Schema.optionalKey(text("The quantity", 40)),
  /** Accepts a price that is outside the band of the current marks or beyond the order's bound, or that no mark can check. */
  outsideBand: Schema.optionalKey(flag("Whether the price may lie outside the band"))
})

/** `state`: the object's state afterwards. `breakId`: the break about the difference, or null. */
export const Resolved = Schema.Struct({
  object: Schema.String,
  as: Schema.Literals(resolutions),
  state: Schema.String,
  breakId: Schema.NullOr(Schema.Int)
})

export const venueResolve = HttpApiEndpoint.post("resolve", "/venue/resolve", {
  payload: ResolveBody,
  success: Answer(Schema.Union([ApprovalPending, Resolved]))
}).pipe(openTo(admin, { fourEyes: "usual" }))
