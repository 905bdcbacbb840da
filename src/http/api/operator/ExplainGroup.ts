/**
 * `explain`: evaluates a partner's write for a client gate by gate, without writing (operator surface; A2-110, A3-02, A3-14).
 */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { text, token } from "../../../machines/shared/Fields.ts"
import { Explanation } from "../explanation.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, onlyFields, Reference } from "./OperatorFieldSchemas.ts"

/** A field of the body, of any form: the rules of the write check it. */
const sent = Schema.optionalKey(Schema.String.annotate({ message: "It must be sent once." }))

const mark = (label: string) => Schema.optionalKey(token(label, ["true", "false"]))

/** The members of the partner's body, checked by the rules of the write. Without a reference, a new one is made up. */
const question = {
  amount: text("The amount", 40),
  currency: Schema.optionalKey(text("The currency", 16)),
  partnerRef: Schema.optionalKey(text("The partner reference", 200))
}

const params = { client: Reference }
const success = Answer(Explanation)

export class ExplainGroup extends HttpApiGroup.make("explain")
  .add(
    HttpApiEndpoint.get("collateral", "/clients/:client/explain/collateral", {
      params,
      query: onlyFields({
        ...question,
        direction: Schema.optionalKey(text("The direction", 16)),
        sourceAsset: sent,
        txRef: sent,
        occurredAt: Cursor("The time of occurrence")
      }),
      success
    }).pipe(openTo(everyone)),
    HttpApiEndpoint.get("deposit", "/clients/:client/explain/deposit", {
      params,
      query: onlyFields({ ...question, method: sent, evidenceRef: sent }),
      success
    }).pipe(openTo(everyone)),
    HttpApiEndpoint.get("withdrawal", "/clients/:client/explain/withdrawal", {
      params,
      // The destination as JSON text.
      query: onlyFields({ ...question, destination: sent }),
      success
    }).pipe(openTo(everyone)),
    HttpApiEndpoint.get("rfq", "/clients/:client/explain/rfq", {
      params,
      // The members of the partner's body; those of the barrier are not nested here.
      query: onlyFields({
        symbol: sent,
        side: sent,
        qty: sent,
        premium: sent,
        level: sent,
        takeProfit: sent,
        expiryTs: Cursor("The expiry"),
        strictTakeProfit: mark("The strict take profit"),
        expiresInMs: Cursor("The quoting window"),
        autoAccept: mark("Whether a quote is accepted by itself")
      }),
      success
    }).pipe(openTo(everyone)),
    HttpApiEndpoint.get("order", "/clients/:client/explain/order", {
      params,
      // The members of the partner's body; those of the trigger are not nested here.
      query: onlyFields({
        symbol: sent,
        side: sent,
        type: sent,
        qty: sent,
        price: sent,
        tif: sent,
        reduceOnly: mark("Whether it only reduces"),
        triggerSource: sent,
        triggerPrice: sent,
        triggerDirection: sent,
        limitPrice: sent,
        takeProfit: sent,
        stopLoss: sent,
        ocoGroup: sent,
        leverage: Cursor("The leverage")
      }),
      success
    }).pipe(openTo(everyone))
  )
  .annotateEndpoints(HttpApi.QueryParseOptions, { errors: "all", onExcessProperty: "error" }) {}
