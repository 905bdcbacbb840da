/**
 * A client's margin in the form that partners read, and the accounts nearest to a close-out in a market (operator surface,
 * margin; doc 2, Margin picture).
 */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { MarginPicture } from "../../../machines/margin/marginPicture.ts"
import { NearAccounts } from "../../../machines/margin/nearAccounts.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Limit, Reference } from "./OperatorFieldSchemas.ts"

export class MarginGroup extends HttpApiGroup.make("margin").add(
  HttpApiEndpoint.get("show", "/clients/:client/margin", {
    params: { client: Reference },
    success: Answer(MarginPicture)
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("watch", "/markets/:symbol/near-accounts", {
    params: { symbol: Reference },
    query: { limit: Limit(100) },
    success: Answer(NearAccounts)
  }).pipe(openTo(everyone))
) {}
