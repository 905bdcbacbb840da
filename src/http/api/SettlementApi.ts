// Settlement items of PARTNER custody: what the partner settles with its clients, and its reports about it (doc 3,
// Settlement item and Settlement reporting rules; A3-18..A3-20).
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { SettlementItem, settlementStatuses } from "../../machines/settlement/SettlementItem.ts"
import { SettlementReportBody } from "../../machines/settlement/SettlementReport.ts"
import { Id } from "../../machines/shared/Ids.ts"
import { bodyCaps, pageLimits } from "../../machines/shared/Limits.ts"
import { ok } from "./Envelope.ts"
import { idempotencyHeaders, pageEnd, pageParams } from "./Paging.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

const Item = SettlementItem.annotate({ identifier: "SettlementItem" })

const listQuery = {
  ...pageParams(pageLimits.settlementItems),
  status: Schema.optionalKey(Schema.Literals(settlementStatuses)),
  since: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
      description: "Only items with occurredAt at this time or later, Unix milliseconds."
    })
  ),
  clientId: Schema.optionalKey(
    Schema.String.annotate({ description: "Only items of this client: its id or its uid. 404 when it is unknown." })
  )
}

export class SettlementApi extends HttpApiGroup.make("settlement")
  .add(
    HttpApiEndpoint.get("listItems", "/settlement/items", {
      query: listQuery,
      success: ok(Schema.Struct({ items: Schema.Array(Item), ...pageEnd })),
      error: BadRequest
    }).annotateMerge(OpenApi.annotations({ summary: "Settlement items, newest first" })),
    HttpApiEndpoint.post("reportItem", "/settlement/items/:itemId/report", {
      params: { itemId: Id.annotate({ description: "The item's id." }) },
      headers: idempotencyHeaders,
      payload: SettlementReportBody,
      success: ok(
        Schema.Struct({
          item: Item,
          changed: Schema.Boolean.annotate({
            description: "False when the item has the reported status already: nothing was rewritten."
          })
        })
      ),
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { idempotent: true, reliance: false, bodyCap: bodyCaps.settlementReport })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Report that an item is settled, or could not be",
          description:
            "SETTLED needs partnerTxRef; settledAt is the time of the request when it is not sent. FAILED may be followed by SETTLED. 409 with data {item} when a settled item is reported as failed. The body may have up to 64 KB."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Settlement", description: "PARTNER custody: items to settle and their reports." })
  ) {}
