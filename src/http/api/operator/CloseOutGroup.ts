/** Close-out episodes, open and ended (operator surface, closeout; F9). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { CloseOutDetailWire } from "../../../machines/margin/CloseOutDetailWire.ts"
import { CloseOutWire } from "../../../machines/margin/CloseOutWire.ts"
import { text, token } from "../../../machines/shared/Fields.ts"
import { pageEnd } from "../../../machines/shared/Page.ts"
import { admin, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { ApprovalPending, Cursor, Limit, Reason, Reference } from "./OperatorFieldSchemas.ts"
import { indexed } from "../Parameters.ts"

export class CloseOutGroup extends HttpApiGroup.make("closeout").add(
  HttpApiEndpoint.get("list", "/closeouts", {
    query: {
      client: indexed(Schema.optionalKey(Reference)),
      partner: Schema.optionalKey(Reference),
      open: Schema.optionalKey(token("The open mark", ["true", "false"])),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(Schema.Struct({ closeouts: Schema.Array(CloseOutWire), ...pageEnd }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/closeouts/:closeOutId", {
    params: { closeOutId: Reference },
    success: Answer(CloseOutDetailWire)
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("widen", "/closeouts/:closeOutId/widen", {
    params: { closeOutId: Reference },
    payload: Schema.Struct({ to: text("The distance", 8), reason: Reason }),
    success: Answer(Schema.Union([ApprovalPending, CloseOutWire]))
  }).pipe(openTo(admin, { fourEyes: "usual" }))
) {}
