/** `explain`: what a partner's money write for a client would be answered now, gate by gate (operator surface; A3-02, A3-14). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { text } from "../../../machines/shared/Fields.ts"
import { Explanation } from "../explanation.ts"
import { Answer } from "./OperatorErrors.ts"
import { Reference } from "./OperatorFieldSchemas.ts"

/** As in the partner's body, and judged by the write's own rules; a reference that is not named is a fresh one. */
const question = {
  amount: text("The amount", 40),
  currency: Schema.optionalKey(text("The currency", 16)),
  partnerRef: Schema.optionalKey(text("The partner reference", 200))
}
const params = { client: Reference }
const success = Answer(Explanation)

export class ExplainGroup extends HttpApiGroup.make("explain").add(
  HttpApiEndpoint.get("collateral", "/clients/:client/explain/collateral", {
    params,
    query: { ...question, direction: Schema.optionalKey(text("The direction", 16)) },
    success
  }),
  HttpApiEndpoint.get("deposit", "/clients/:client/explain/deposit", { params, query: question, success }),
  HttpApiEndpoint.get("withdrawal", "/clients/:client/explain/withdrawal", { params, query: question, success })
) {}
