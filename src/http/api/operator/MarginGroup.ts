/** A client's margin as its partner reads it (operator surface, margin show; doc 2, Margin picture). */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { MarginPicture } from "../../../machines/margin/marginPicture.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Reference } from "./OperatorFieldSchemas.ts"

export class MarginGroup extends HttpApiGroup.make("margin").add(
  HttpApiEndpoint.get("show", "/clients/:client/margin", {
    params: { client: Reference },
    success: Answer(MarginPicture)
  }).pipe(openTo(everyone))
) {}
