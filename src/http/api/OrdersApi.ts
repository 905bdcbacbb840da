/**
 * Orders on perpetuals and spot markets: place, list, cancel, explain. Successes are bare, except for the list of working
 * orders. An order whose state at the venue is unknown answers 502 with its ids, and the answer is stored under its
 * Idempotency-Key (doc 2, Orders, margin, leverage, positions; A1-51, A2-32, A2-92).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { OrderBody } from "../../machines/order/OrderBody.ts"
import { CancelWire, OrdersWire, OrderWire, PlacedWire } from "../../machines/order/OrderWire.ts"
import { bodyCaps, orderLimits, pageLimits } from "../../machines/shared/Limits.ts"
import { bare, ok } from "./Envelope.ts"
import { Explanation } from "./explanation.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams, pageParams, pathId } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { summary } from "./summary.ts"
import { BadRequest, Conflict, OrderRefused, VenueAway } from "./WireErrors.ts"

const writes = { idempotent: false, reliance: false, bodyCap: bodyCaps.order } as const

export class OrdersApi extends HttpApiGroup.make("orders")
  .add(
    HttpApiEndpoint.post("place", "/clients/:clientId/orders", {
      params: clientParams,
      headers: idempotencyHeaders,
      payload: OrderBody,
      success: bare(PlacedWire),
      error: [OrderRefused, BadRequest, Conflict, VenueAway]
    })
      .annotate(RouteRules, { ...writes, idempotent: true })
      .annotateMerge(
        summary(
          "Place an order (bare)",
          "Answers once the venue has: ACKED in the book, PENDING_TRIGGER of a conditional order, PARTIAL, FILLED, or CANCELLED when what took the market left a rest. 400 has orderId, clOrdId and state beside the sentence: those of an order that the venue refused, else null. 409 code 4091 with data {leverageSent, leverageStored} when leverage is not the one in force. 502 with data {orderId, clOrdId, state} when the venue's answer is not known yet: the order is there, and is resolved by itself. 502 with reason VENUE_NOT_REACHED when the venue never received the order: nothing was executed, and it may be sent again under a new key. A 502 without data has written nothing. The body may have up to 16 KB."
        )
      ),
    HttpApiEndpoint.get("list", "/clients/:clientId/orders", {
      params: clientParams,
      query: pageParams(pageLimits.history),
      success: bare(OrdersWire),
      error: BadRequest
    }).annotateMerge(summary("Orders of a client, newest first (bare)", "Of whatever state.")),
    HttpApiEndpoint.get("open", "/clients/:clientId/orders/open", {
      params: clientParams,
      success: ok(Schema.Array(OrderWire))
    }).annotateMerge(
      summary(
        "Orders of a client that have not ended, newest first",
        `At most ${orderLimits.working} and attached legs.`
      )
    ),
    HttpApiEndpoint.delete("cancel", "/clients/:clientId/orders/:orderId", {
      params: { ...clientParams, orderId: pathId("The order's id.") },
      success: bare(CancelWire),
      error: [BadRequest, Conflict, VenueAway]
    })
      .annotate(RouteRules, { ...writes, bodyless: true })
      .annotateMerge(
        summary(
          "Cancel an order (bare)",
          "Answers once the venue has confirmed it; of an order that is being cancelled at once. 400 when the order has ended or the venue refuses; 502 with data {orderId, clOrdId, state} when the venue's answer is not known yet: the cancel goes on by itself."
        )
      ),
    HttpApiEndpoint.post("explain", "/clients/:clientId/orders/explain", {
      params: clientParams,
      payload: OrderBody,
      success: ok(Explanation),
      error: [BadRequest, Conflict, VenueAway]
    })
      .annotate(RouteRules, { ...writes, reads: true })
      .annotateMerge(
        summary(
          "Explain what an order would be answered",
          "Our addition. Takes the body of the order and answers each of its gates in the order checked. Writes nothing and is open to READ keys; it counts in the TRADE window."
        )
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Orders",
      description: "Orders on perpetuals and spot markets. 503 code 5030 when no venue is attached to the service."
    })
  ) {}
