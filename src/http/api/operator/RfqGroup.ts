/** Requests for quotes of all clients, ended ones too, with their quotes (operator surface, rfq; doc 2, RFQ). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { RfqWire, rfqStates } from "../../../machines/rfq/RfqWire.ts"
import { token } from "../../../machines/shared/Fields.ts"
import { pageEnd } from "../../../machines/shared/Page.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Reference } from "./OperatorFieldSchemas.ts"
import { indexed } from "../Parameters.ts"

export class RfqGroup extends HttpApiGroup.make("rfq").add(
  HttpApiEndpoint.get("list", "/rfqs", {
    query: {
      client: indexed(Schema.optionalKey(Reference)),
      partner: indexed(Schema.optionalKey(Reference)),
      state: Schema.optionalKey(token("The state", rfqStates)),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(Schema.Struct({ rfqs: Schema.Array(RfqWire), ...pageEnd }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/rfqs/:rfqId", { params: { rfqId: Reference }, success: Answer(RfqWire) }).pipe(
    openTo(everyone)
  )
) {}
