/**
 * Settlement between the partner and its clients: items, the partner's reports, and the figures by which the two firms
 * reconcile (doc 3, Settlement item, Settlement report, Settlement summary, Interfirm settlement record, Settlement reporting
 * rules; A3-18..A3-25).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { BulkAnswer, BulkReportBody } from "../../machines/settlement/BulkReportBody.ts"
import {
  InterfirmPage,
  SettlementReportFigures,
  SettlementSummary
} from "../../machines/settlement/SettlementFigures.ts"
import { SettlementItem, settlementStatuses } from "../../machines/settlement/SettlementItem.ts"
import { SettlementReportBody } from "../../machines/settlement/SettlementReportBody.ts"
import { pageEnd } from "../../machines/shared/Page.ts"
import { bodyCaps, pageBudget, pageLimits } from "../../machines/shared/Limits.ts"
import { ok } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { indexed, momentParam, nameParam, pageParams, pathId, tokenParam } from "./Parameters.ts"
import { heavyRead, RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

const Item = SettlementItem.annotate({ identifier: "SettlementItem" })

const listQuery = {
  ...pageParams(pageLimits.settlementItems),
  status: tokenParam("status", settlementStatuses, "Only items of this status."),
  since: momentParam("since", "Only items with occurredAt at this time or later, Unix milliseconds."),
  clientId: indexed(nameParam("Only items of this client: its id or its uid. 404 when it is unknown."))
}

const windowQuery = {
  from: momentParam("from", "Start of the window, inclusive, Unix milliseconds; 0 when absent."),
  to: momentParam(
    "to",
    "End of the window, inclusive, Unix milliseconds; now when absent or in the future. 400 when it is before from."
  )
}

export class SettlementApi extends HttpApiGroup.make("settlement")
  .add(
    HttpApiEndpoint.get("listItems", "/settlement/items", {
      query: listQuery,
      success: ok(Schema.Struct({ items: Schema.Array(Item), ...pageEnd })),
      error: BadRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Settlement items, newest first",
        description:
          "Each economic result of clients under PARTNER custody, once. status and clientId narrow it, since leaves out what occurred before it (occurredAt). nextBefore is the before of the next page, null on the last one."
      })
    ),
    HttpApiEndpoint.post("reportItem", "/settlement/items/:itemId/report", {
      params: { itemId: pathId("The item's id.") },
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
      ),
    HttpApiEndpoint.post("reportItems", "/settlement/report", {
      headers: idempotencyHeaders,
      payload: BulkReportBody,
      success: ok(BulkAnswer.annotate({ identifier: "BulkSettlementReport" })),
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { idempotent: true, reliance: false, bodyCap: bodyCaps.bulkSettlementReport })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Report many items at once",
          description:
            "1 to 500 reports, each applied on its own in the order of the request: a refused one does not stop the others. Refused rows have code 4000 (no itemId, a bad field), 4004 (no such item) or 4092 (a settled item reported as failed). Sent again with the same Idempotency-Key after a failure, it goes on where it stopped, and its answer tells what all tries did. The body may have up to 4 MB."
        })
      ),
    HttpApiEndpoint.get("report", "/settlement", {
      query: windowQuery,
      success: ok(SettlementReportFigures),
      error: BadRequest
    })
      .annotate(RouteRules, heavyRead(pageBudget.share))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Settlement report of a window of time",
          description: "Postings count by their own time."
        })
      ),
    HttpApiEndpoint.get("summary", "/settlement/summary", {
      query: windowQuery,
      success: ok(SettlementSummary),
      error: BadRequest
    })
      .annotate(RouteRules, heavyRead(pageBudget.share))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Settlement items of a window of time, and what the firms owe each other",
          description: "Items count by occurredAt, whatever their status."
        })
      ),
    HttpApiEndpoint.get("interfirm", "/settlement/interfirm", {
      query: pageParams(pageLimits.interfirm),
      success: ok(InterfirmPage),
      error: BadRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Payments recorded between the firms, newest first",
        description:
          "What finance recorded as paid between partner and operator, with what their fields mean in definitions. nextBefore is the before of the next page, null on the last one."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Settlement",
      description: "PARTNER custody: items to settle, their reports, and what the firms owe each other."
    })
  ) {}
