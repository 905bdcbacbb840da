/**
 * Withdrawal requests of BROKER custody: the partner requests a payment to a client, finance approves and pays it (doc 3,
 * Withdrawal request and Money write gates; A3-01, A3-02, A3-07, A3-12).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { pageEnd } from "../../machines/shared/Page.ts"
import { bodyCaps, pageLimits } from "../../machines/shared/Limits.ts"
import { WithdrawalBody } from "../../machines/withdrawal/WithdrawalBody.ts"
import { WithdrawalRequest, withdrawalStatuses } from "../../machines/withdrawal/WithdrawalRequest.ts"
import { created, ok } from "./Envelope.ts"
import { explainRules, explains, explainText } from "./explanation.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams, pageParams, pathId, tokenParam } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

const Request = WithdrawalRequest.annotate({ identifier: "WithdrawalRequest" })

const listQuery = {
  ...pageParams(pageLimits.withdrawals),
  status: tokenParam("status", withdrawalStatuses, "Only requests of this status.")
}
const page = ok(Schema.Struct({ withdrawals: Schema.Array(Request), ...pageEnd }))

const writes = { idempotent: true, reliance: false, bodyCap: bodyCaps.withdrawal } as const

export class WithdrawalsApi extends HttpApiGroup.make("withdrawals")
  .add(
    HttpApiEndpoint.post("request", "/clients/:clientId/withdrawals", {
      params: clientParams,
      headers: idempotencyHeaders,
      payload: WithdrawalBody,
      success: [created(Request), ok(Request)],
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, writes)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Ask that a client is paid out",
          description:
            "The amount is reserved at once. 201 for a request filed now; 200 with the original when the partnerRef was filed before for this client. The requests of a sandbox partner are PAID in the answer. The body may have up to 64 KB."
        })
      ),
    HttpApiEndpoint.post("cancel", "/clients/:clientId/withdrawals/:rid/cancel", {
      params: { ...clientParams, rid: pathId("The request's id.") },
      headers: idempotencyHeaders,
      success: ok(
        Schema.Struct({
          request: Request,
          alreadyDecided: Schema.Boolean.annotate({
            description: "True when the request was cancelled or rejected before: nothing was changed."
          })
        })
      ),
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { ...writes, bodyless: true })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Take a withdrawal request back",
          description: "Only while it is REQUESTED: the reserve is the client's cash again. 409 once it is approved."
        })
      ),
    HttpApiEndpoint.get("listOfClient", "/clients/:clientId/withdrawals", {
      params: clientParams,
      query: listQuery,
      success: page,
      error: BadRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Withdrawal requests of one client, newest first",
        description:
          "Of any status, or of the one in status. nextBefore is the before of the next page, null on the last one."
      })
    ),
    HttpApiEndpoint.get("list", "/withdrawals", { query: listQuery, success: page, error: BadRequest }).annotateMerge(
      OpenApi.annotations({
        summary: "Withdrawal requests of all clients, newest first",
        description:
          "Of any status, or of the one in status: REQUESTED and APPROVED show what waits. nextBefore is the before of the next page, null on the last one."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Withdrawals", description: "BROKER custody: paying clients out." })) {}

export const explainWithdrawal = HttpApiEndpoint.post("withdrawal", "/clients/:clientId/withdrawals/explain", {
  ...explains,
  payload: WithdrawalBody
})
  .annotate(RouteRules, explainRules(bodyCaps.withdrawal))
  .annotateMerge(explainText("a withdrawal request"))
