/**
 * Requests for quotes on knock-out contracts: preview, request, quotes, accept, cancel. A request whose state at the venue is
 * unknown answers 502 with its ids, and the answer is stored under its Idempotency-Key (doc 2, Barrier contracts; A1-51,
 * A2-111, A2-112).
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AcceptBody } from "../../machines/rfq/AcceptBody.ts"
import { RfqBody } from "../../machines/rfq/RfqBody.ts"
import { RfqPreview } from "../../machines/rfq/rfqPreview.ts"
import { AcceptWire, RfqCancelledWire, RfqsWire, RfqWire } from "../../machines/rfq/RfqWire.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { ok } from "./Envelope.ts"
import { Explanation } from "./explanation.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams, pathId } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { summary } from "./summary.ts"
import { BadRequest, Conflict, VenueAway } from "./WireErrors.ts"

const rfqParams = { ...clientParams, rfqId: pathId("The request's id.") }
const writes = { idempotent: false, reliance: false, bodyCap: bodyCaps.rfq } as const
const keyed = { ...writes, idempotent: true } as const
const refusals = [BadRequest, Conflict, VenueAway] as const

export class RfqApi extends HttpApiGroup.make("rfq")
  .add(
    HttpApiEndpoint.post("request", "/clients/:clientId/rfq", {
      params: clientParams,
      headers: idempotencyHeaders,
      payload: RfqBody,
      success: ok(RfqWire),
      error: refusals
    })
      .annotate(RouteRules, keyed)
      .annotateMerge(
        summary(
          "Ask for quotes on a knock-out contract",
          "Answers once the venue has the request, and waits for no quote: OPEN, or ACCEPTED when the router has accepted one by then. 400 with data {rfqId, state, rejectReason} when the venue refuses it; 502 with data {rfqId} when the venue's answer is not known yet: the request is there, and is resolved by itself. 502 with reason VENUE_NOT_REACHED and data {rfqId, state} when the venue never received the request: nothing was executed, and it may be sent again under a new key. A 502 without data has written nothing. The body may have up to 16 KB."
        )
      ),
    HttpApiEndpoint.post("preview", "/clients/:clientId/rfq/preview", {
      params: clientParams,
      payload: RfqBody,
      success: ok(RfqPreview),
      error: refusals
    })
      .annotate(RouteRules, writes)
      .annotateMerge(
        summary(
          "Preview a request for quotes",
          "Takes the body of the request and writes nothing. What the market and the account's figures refuse is answered with accepted false and the sentence that the request would be refused with; everything else is refused as the request would be."
        )
      ),
    HttpApiEndpoint.post("explain", "/clients/:clientId/rfq/explain", {
      params: clientParams,
      payload: RfqBody,
      success: ok(Explanation),
      error: refusals
    })
      .annotate(RouteRules, { ...writes, reads: true })
      .annotateMerge(
        summary(
          "Explain what a request for quotes would be answered",
          "Our addition. Takes the body of the request and answers each of its gates in the order checked. Writes nothing and is open to READ keys; it counts in the TRADE window."
        )
      ),
    HttpApiEndpoint.get("list", "/clients/:clientId/rfq", {
      params: clientParams,
      success: ok(RfqsWire)
    }).annotateMerge(
      summary(
        "Requests of a client that are OPEN, with their quotes, newest first",
        "One that has ended is found by its id. Quotes are those of this moment."
      )
    ),
    HttpApiEndpoint.get("get", "/clients/:clientId/rfq/:rfqId", {
      params: rfqParams,
      success: ok(RfqWire)
    }).annotateMerge(summary("One request with its quotes", "Of whatever state.")),
    HttpApiEndpoint.post("accept", "/clients/:clientId/rfq/:rfqId/accept", {
      params: rfqParams,
      headers: idempotencyHeaders,
      payload: AcceptBody,
      success: ok(AcceptWire),
      error: refusals
    })
      .annotate(RouteRules, keyed)
      .annotateMerge(
        summary(
          "Accept a quote",
          "Opens the contract, or closes it when the request is one to close: then settlePrice and realizedPnl stand in place of the premium's figures. Only an acceptable quote is taken, judged again at its price. 400 when the request is not open, an accept or a cancel is in flight or the quote is not acceptable; 404 for a request of nobody here, or a quote that it never had or that its dealer withdrew. 502 with data {rfqId, quoteId, accepting: true} when the venue's answer is not known yet: the request shows accepting until it is. 502 with reason VENUE_NOT_REACHED and data {rfqId, quoteId, state, accepting: false} when the venue never received the accept: nothing was executed, and another quote may be accepted. The body may have up to 16 KB."
        )
      ),
    HttpApiEndpoint.post("cancel", "/clients/:clientId/rfq/:rfqId/cancel", {
      params: rfqParams,
      success: ok(RfqCancelledWire),
      error: refusals
    })
      .annotate(RouteRules, { ...writes, bodyless: true })
      .annotateMerge(
        summary(
          "Cancel a request",
          "400 when it is not open, or an accept or a cancel is in flight; 502 with data {rfqId} when the venue's answer is not known yet: the cancel goes on by itself."
        )
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Requests for quotes",
      description: "Quotes on knock-out contracts. 503 code 5030 when no venue is attached to the service."
    })
  ) {}
