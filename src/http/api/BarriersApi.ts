/** Knock-out contracts: lists of open and ended ones, and early closing (doc 2, Barrier contracts; A2-112, F19). */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { contractLists, ContractsWire } from "../../machines/contract/ContractWire.ts"
import { CloseBody } from "../../machines/rfq/CloseBody.ts"
import { RfqWire } from "../../machines/rfq/RfqWire.ts"
import { bodyCaps, pageLimits } from "../../machines/shared/Limits.ts"
import { ok } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams, indexed, pageParams, pathId, tokenParam } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict, VenueAway } from "./WireErrors.ts"

export class BarriersApi extends HttpApiGroup.make("barriers")
  .add(
    HttpApiEndpoint.get("list", "/clients/:clientId/barriers", {
      params: clientParams,
      query: {
        state: indexed(
          tokenParam(
            "state",
            contractLists,
            "Contracts that are open, which is meant when absent, or those that have ended.",
            "open"
          )
        ),
        ...pageParams(pageLimits.history)
      },
      success: ok(ContractsWire),
      error: BadRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Contracts of a client, newest first",
        description: "state is open when absent; history has those that ended."
      })
    ),
    HttpApiEndpoint.post("close", "/clients/:clientId/barriers/:contractId/close", {
      params: { ...clientParams, contractId: pathId("The contract's id.") },
      headers: idempotencyHeaders,
      payload: CloseBody,
      success: ok(RfqWire),
      error: [BadRequest, Conflict, VenueAway]
    })
      .annotate(RouteRules, { idempotent: true, reliance: false, bodyCap: bodyCaps.rfq, bodyless: true })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Ask for quotes to close a contract",
          description:
            "Goes to the contract's writer alone; the accept settles it at the quoted price, without commission. No verification and no margin stand against it. 400 when the contract is not open, and with data {rfqId} when a request to close it is open. 502 with data {rfqId, contractId} when the venue's answer is not known yet. 502 with reason VENUE_NOT_REACHED and data {rfqId, contractId, state} when the venue never received the request: it may be sent again under a new key. The body may be left out, and may have up to 16 KB."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ title: "Knock-out contracts", description: "Contracts and their ends." })) {}
