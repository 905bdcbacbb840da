/** Reconciliation breaks, which pause outgoing money (operator surface, break; A3-11). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { breakScopes, breakStatuses } from "../../../machines/reconciliation/ReconBreak.ts"
import { currencyCodes } from "../../../machines/shared/Currency.ts"
import { flag, text, token } from "../../../machines/shared/Fields.ts"
import { everyone, finance, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { ApprovalPending, Cursor, Limit, Millis, Reason, Reference } from "./OperatorFieldSchemas.ts"

export const BreakView = Schema.Struct({
  breakId: Schema.Int,
  scope: Schema.Literals(breakScopes),
  partnerId: Schema.NullOr(Schema.Int),
  clientId: Schema.NullOr(Schema.Int),
  currency: Schema.String,
  amount: Schema.String,
  pausesMoneyOut: Schema.Boolean,
  status: Schema.Literals(breakStatuses),
  reason: Schema.String,
  openedAt: Millis,
  closedAt: Schema.NullOr(Millis),
  closingReason: Schema.NullOr(Schema.String)
})

/**
 * The scope is ALL, a partner's id or code, or a client by number, uid, partner reference or e-mail address. The amount is
 * the signed difference.
 */
export const BreakBody = Schema.Struct({
  scope: text("The scope", 254 + "client:".length),
  currency: token("The currency", currencyCodes),
  amount: text("The amount", 40),
  reason: Reason,
  pausesMoneyOut: Schema.optionalKey(flag("Whether it pauses money out"))
})

export class BreakGroup extends HttpApiGroup.make("break").add(
  HttpApiEndpoint.get("list", "/breaks", {
    query: {
      status: Schema.optionalKey(token("The status", breakStatuses)),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(Schema.Struct({ breaks: Schema.Array(BreakView) }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/breaks/:breakId", {
    params: { breakId: Reference },
    success: Answer(BreakView)
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("open", "/breaks", { payload: BreakBody, success: Answer(BreakView) }).pipe(openTo(finance)),
  HttpApiEndpoint.post("close", "/breaks/:breakId/close", {
    params: { breakId: Reference },
    payload: Schema.Struct({ reason: Reason }),
    success: Answer(Schema.Union([ApprovalPending, BreakView]))
  }).pipe(openTo(finance, { fourEyes: "on request" }))
) {}
