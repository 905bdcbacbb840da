/** Collateral reports of all clients under PARTNER custody, refused ones too (operator surface, collateral list; doc 3). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { CollateralReport, collateralStatuses } from "../../../machines/collateral/CollateralReport.ts"
import { token } from "../../../machines/shared/Fields.ts"
import { pageEnd } from "../../../machines/shared/Page.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Reference } from "./OperatorFieldSchemas.ts"
import { indexed } from "../Parameters.ts"

export class CollateralGroup extends HttpApiGroup.make("collateral").add(
  HttpApiEndpoint.get("list", "/collateral", {
    query: {
      client: indexed(Schema.optionalKey(Reference)),
      partner: indexed(Schema.optionalKey(Reference)),
      status: Schema.optionalKey(token("The status", collateralStatuses)),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(Schema.Struct({ reports: Schema.Array(CollateralReport), ...pageEnd }))
  }).pipe(openTo(everyone))
) {}
