/**
 * Withdrawal requests for finance: list, approve, pay, reject (operator surface, withdrawal; doc 3, Withdrawal request; D10).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { token } from "../../../machines/shared/Fields.ts"
import { WithdrawalRequest, withdrawalStatuses } from "../../../machines/withdrawal/WithdrawalRequest.ts"
import { everyone, finance, openTo } from "./CommandRules.ts"
import { LegView } from "./LedgerGroup.ts"
import { Answer } from "./OperatorErrors.ts"
import { ApprovalPending, Cursor, Limit, Reason, Reference } from "./OperatorFieldSchemas.ts"
import { indexed } from "../Parameters.ts"

const request = { requestId: Reference }
const reasoned = Schema.Struct({ reason: Reason })
/** The destination is not encoded, because the encoder would copy the record and lose the order of its members. */
const shown = { ...WithdrawalRequest.fields, destination: Schema.Unknown }
const Shown = Schema.Struct(shown)
const guarded = Answer(Schema.Union([ApprovalPending, Shown]))

/**
 * The destination is personal data. List and show return it to ADMIN and FINANCE, who make the payment, and null to other
 * roles.
 */
export class WithdrawalGroup extends HttpApiGroup.make("withdrawal").add(
  HttpApiEndpoint.get("list", "/withdrawals", {
    query: {
      status: Schema.optionalKey(token("The status", withdrawalStatuses)),
      partner: indexed(Schema.optionalKey(Reference)),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(
      Schema.Struct({
        withdrawals: Schema.Array(Shown),
        hasMore: Schema.Boolean,
        nextBefore: Schema.NullOr(Schema.Int)
      })
    )
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/withdrawals/:requestId", {
    params: request,
    success: Answer(Schema.Struct({ ...shown, postings: Schema.Array(LegView) }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("approve", "/withdrawals/:requestId/approve", { params: request, success: guarded }).pipe(
    openTo(finance, { fourEyes: "usual" })
  ),
  HttpApiEndpoint.post("pay", "/withdrawals/:requestId/pay", { params: request, success: guarded }).pipe(
    openTo(finance, { fourEyes: "usual" })
  ),
  HttpApiEndpoint.post("reject", "/withdrawals/:requestId/reject", {
    params: request,
    payload: reasoned,
    success: Answer(Shown)
  }).pipe(openTo(finance)),
  HttpApiEndpoint.post("fail", "/withdrawals/:requestId/fail", {
    params: request,
    payload: reasoned,
    success: guarded
  }).pipe(openTo(finance, { fourEyes: "on request" }))
) {}
