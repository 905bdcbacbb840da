/** Settlement items of all clients under PARTNER custody (operator surface, settlement list; doc 3, Settlement item). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { SettlementItem, settlementStatuses } from "../../../machines/settlement/SettlementItem.ts"
import { token } from "../../../machines/shared/Fields.ts"
import { Id } from "../../../machines/shared/Ids.ts"
import { pageEnd } from "../../../machines/shared/Page.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Reference } from "./OperatorFieldSchemas.ts"
import { indexed } from "../Parameters.ts"

export class SettlementGroup extends HttpApiGroup.make("settlement").add(
  HttpApiEndpoint.get("list", "/settlement/items", {
    query: {
      client: indexed(Schema.optionalKey(Reference)),
      partner: indexed(Schema.optionalKey(Reference)),
      status: Schema.optionalKey(token("The status", settlementStatuses)),
      /** Items that occurred at this time or later, Unix ms. */
      since: Cursor("The time"),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(
      Schema.Struct({ items: Schema.Array(Schema.Struct({ ...SettlementItem.fields, partnerId: Id })), ...pageEnd })
    )
  }).pipe(openTo(everyone))
) {}
