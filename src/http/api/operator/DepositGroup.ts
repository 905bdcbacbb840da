/** Deposit notices for finance: list, confirm, reject (operator surface, deposit; doc 3, Deposit notice; D9). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { DepositNotice, depositStatuses } from "../../../machines/deposit/DepositNotice.ts"
import { optionalText, token } from "../../../machines/shared/Fields.ts"
import { everyone, finance, openTo } from "./CommandRules.ts"
import { LegView } from "./LedgerGroup.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, OptionalBody, Reason, Reference } from "./OperatorFieldSchemas.ts"
import { indexed } from "../Parameters.ts"

const notice = { noticeId: Reference }

export class DepositGroup extends HttpApiGroup.make("deposit").add(
  HttpApiEndpoint.get("list", "/deposits", {
    query: {
      status: Schema.optionalKey(token("The status", depositStatuses)),
      partner: indexed(Schema.optionalKey(Reference)),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(
      Schema.Struct({
        deposits: Schema.Array(DepositNotice),
        hasMore: Schema.Boolean,
        nextBefore: Schema.NullOr(Schema.Int)
      })
    )
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/deposits/:noticeId", {
    params: notice,
    success: Answer(Schema.Struct({ ...DepositNotice.fields, postings: Schema.Array(LegView) }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("confirm", "/deposits/:noticeId/confirm", {
    params: notice,
    payload: OptionalBody({ note: optionalText("The note", 500) }),
    success: Answer(DepositNotice)
  }).pipe(openTo(finance)),
  HttpApiEndpoint.post("reject", "/deposits/:noticeId/reject", {
    params: notice,
    payload: Schema.Struct({ reason: Reason }),
    success: Answer(DepositNotice)
  }).pipe(openTo(finance))
) {}
