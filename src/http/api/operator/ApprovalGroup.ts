/** Four-eyes approvals: commands that wait for a grant by a second operator key (operator surface, Four eyes). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { approvalOutcomes, approvalStatuses } from "../../../machines/operator/Approval.ts"
import { token } from "../../../machines/shared/Fields.ts"
import { deciding, everyone, openTo } from "./CommandRules.ts"
import { Answer, DeedView } from "./OperatorErrors.ts"
import { Limit, Millis, Reference } from "./OperatorFieldSchemas.ts"

export const ApprovalView = Schema.Struct({
  approvalId: Schema.Int,
  command: Schema.String,
  args: Schema.Json,
  status: Schema.Literals(approvalStatuses),
  outcome: Schema.NullOr(Schema.Literals(approvalOutcomes)),
  requestedBy: Schema.Int,
  requestedAt: Millis,
  expiresAt: Millis,
  decidedBy: Schema.NullOr(Schema.Int),
  decidedAt: Schema.NullOr(Millis)
})

/**
 * The listed approval, with the current effects of its command. The effects are given for a pending approval only, and only
 * to a role that may run the command.
 */
export const ApprovalDetails = Schema.Struct({ ...ApprovalView.fields, deed: Schema.NullOr(DeedView) })

const approval = { approvalId: Reference }

export class ApprovalGroup extends HttpApiGroup.make("approval").add(
  HttpApiEndpoint.get("list", "/approvals", {
    query: { status: Schema.optionalKey(token("The status", approvalStatuses)), limit: Limit(500) },
    success: Answer(Schema.Struct({ approvals: Schema.Array(ApprovalView) }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/approvals/:approvalId", {
    params: approval,
    success: Answer(ApprovalDetails)
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("grant", "/approvals/:approvalId/grant", {
    params: approval,
    success: Answer(Schema.Struct({ approvalId: Schema.Int, command: Schema.String, result: Schema.Json }))
  }).pipe(openTo(deciding)),
  HttpApiEndpoint.post("refuse", "/approvals/:approvalId/refuse", {
    params: approval,
    success: Answer(ApprovalView)
  }).pipe(openTo(deciding))
) {}
