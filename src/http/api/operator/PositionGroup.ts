/** Perpetual positions of clients (operator surface, position; doc 2, Position). */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { PositionsWire } from "../../../machines/order/OrderWire.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Reference } from "./OperatorFieldSchemas.ts"

export class PositionGroup extends HttpApiGroup.make("position").add(
  HttpApiEndpoint.get("list", "/clients/:client/positions", {
    params: { client: Reference },
    success: Answer(PositionsWire)
  }).pipe(openTo(everyone))
) {}
