/**
 * Deposit notices of BROKER custody: the partner reports that it passed on a client's money, and finance confirms or rejects
 * the notice (doc 3, Deposit notice and Money write gates; A3-01..A3-06).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { DepositNotice, depositStatuses } from "../../machines/deposit/DepositNotice.ts"
import { DepositBody } from "../../machines/deposit/DepositBody.ts"
import { pageEnd } from "../../machines/shared/Page.ts"
import { bodyCaps, pageLimits } from "../../machines/shared/Limits.ts"
import { created, ok } from "./Envelope.ts"
import { explainRules, explains, explainText } from "./explanation.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams, pageParams, tokenParam } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

const notice = DepositNotice.annotate({ identifier: "DepositNotice" })

const listQuery = {
  ...pageParams(pageLimits.deposits),
  status: tokenParam("status", depositStatuses, "Only notices of this status.")
}
const page = ok(Schema.Struct({ deposits: Schema.Array(notice), ...pageEnd }))

export class DepositsApi extends HttpApiGroup.make("deposits")
  .add(
    HttpApiEndpoint.post("file", "/clients/:clientId/deposits", {
      params: clientParams,
      headers: idempotencyHeaders,
      payload: DepositBody,
      success: [created(notice), ok(notice)],
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { idempotent: true, reliance: false, bodyCap: bodyCaps.deposit })
      .annotateMerge(
        OpenApi.annotations({
          summary: "File a deposit notice",
          description:
            "201 for a notice filed now, PENDING until finance decides (CONFIRMED at once for a sandbox partner); 200 with the original when the partnerRef was filed for this client before. The body may have up to 64 KB."
        })
      ),
    HttpApiEndpoint.get("listOfClient", "/clients/:clientId/deposits", {
      params: clientParams,
      query: listQuery,
      success: page,
      error: BadRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Deposit notices of one client, newest first",
        description:
          "Of any status, or of the one in status. nextBefore is the before of the next page, null on the last one."
      })
    ),
    HttpApiEndpoint.get("list", "/deposits", { query: listQuery, success: page, error: BadRequest }).annotateMerge(
      OpenApi.annotations({
        summary: "Deposit notices of all clients, newest first",
        description:
          "Of any status, or of the one in status: PENDING shows what waits for finance. nextBefore is the before of the next page, null on the last one."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Deposits", description: "BROKER custody: deposit notices." })) {}

export const explainDeposit = HttpApiEndpoint.post("deposit", "/clients/:clientId/deposits/explain", {
  ...explains,
  payload: DepositBody
})
  .annotate(RouteRules, explainRules(bodyCaps.deposit))
  .annotateMerge(explainText("a deposit notice"))
