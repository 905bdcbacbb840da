/** Compliance decides a held client: clear its cases, or reject reliance on its package (operator surface; D1, D2, D3). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { text } from "../../../machines/shared/Fields.ts"
import { ClientView } from "./ClientGroup.ts"
import { Answer } from "./OperatorErrors.ts"
import { Reason, Reference } from "./OperatorFieldSchemas.ts"

const client = { client: Reference }

export class KycGroup extends HttpApiGroup.make("kyc").add(
  HttpApiEndpoint.post("clear", "/clients/:client/kyc/clear", {
    params: client,
    payload: Schema.Struct({ note: Schema.optionalKey(text("The note", 500)) }),
    success: Answer(ClientView)
  }),
  HttpApiEndpoint.post("reject", "/clients/:client/kyc/reject", {
    params: client,
    payload: Schema.Struct({ reason: Reason }),
    success: Answer(ClientView)
  })
) {}
