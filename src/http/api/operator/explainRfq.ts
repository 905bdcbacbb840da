/** `explain rfq`: what a partner's request for quotes would be answered now, gate by gate (operator surface, explain). */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { token } from "../../../machines/shared/Fields.ts"
import { Explanation } from "../explanation.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, onlyFields, Reference } from "./OperatorFieldSchemas.ts"

/** A field of the body that may be absent, empty or wrong: the write's own rules judge it. */
const sent = Schema.optionalKey(Schema.String.annotate({ message: "It must be sent once." }))
const mark = (label: string) => Schema.optionalKey(token(label, ["true", "false"]))

/** The members of the partner's body; those of its barrier stand beside the others. */
export const explainRfq = HttpApiEndpoint.get("rfq", "/clients/:client/explain/rfq", {
  params: { client: Reference },
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
  success: Answer(Explanation)
}).pipe(openTo(everyone))
