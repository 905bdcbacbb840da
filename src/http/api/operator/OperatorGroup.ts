/** Operator keys: one per person or script, each with one role (operator surface, rules; D17). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { apiKeyStatuses } from "../../../machines/partner/ApiKey.ts"
import { nameText, text, token } from "../../../machines/shared/Fields.ts"
import { admin, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Millis, OptionalBody, Reference } from "./OperatorFieldSchemas.ts"
import { operatorRoles } from "./operatorTokens.ts"

export const OperatorView = Schema.Struct({
  operatorId: Schema.Int,
  label: Schema.String,
  prefix: Schema.String,
  role: Schema.Literals(operatorRoles),
  status: Schema.Literals(apiKeyStatuses),
  createdAt: Millis,
  revokedAt: Schema.NullOr(Millis)
})

export class OperatorGroup extends HttpApiGroup.make("operator").add(
  HttpApiEndpoint.post("create", "/operators", {
    payload: Schema.Struct({ label: nameText("The label", 64), role: token("The role", operatorRoles) }),
    success: Answer(
      Schema.Struct({
        operatorId: Schema.Int,
        key: Schema.String,
        prefix: Schema.String,
        label: Schema.String,
        role: Schema.Literals(operatorRoles)
      })
    )
  }).pipe(openTo(admin)),
  HttpApiEndpoint.get("list", "/operators", {
    success: Answer(Schema.Struct({ operators: Schema.Array(OperatorView) }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("revoke", "/operators/:operatorId/revoke", {
    params: { operatorId: Reference },
    payload: OptionalBody({ reason: Schema.optionalKey(text("The reason", 500)) }),
    success: Answer(OperatorView)
  }).pipe(openTo(admin))
) {}
