/**
 * Staking swaps of all clients, ended ones too, and the write-off of payments that are no longer expected (operator surface,
 * swap; doc 2, Swap).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { text, token } from "../../../machines/shared/Fields.ts"
import { Id } from "../../../machines/shared/Ids.ts"
import { pageEnd } from "../../../machines/shared/Page.ts"
import { SwapWire } from "../../../machines/swap/SwapWire.ts"
import { everyone, finance, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { ApprovalPending, Cursor, Limit, Reason, Reference } from "./OperatorFieldSchemas.ts"
import { swapStates } from "./operatorTokens.ts"
import { indexed } from "../Parameters.ts"

/** The row as partners read it, with the client, the writer's payments, and the ids of booked fee corrections. */
export const SwapView = Schema.Struct({
  ...SwapWire.fields,
  clientId: Id,
  clientUid: Schema.String,
  payments: Schema.Array(Schema.Struct({ id: Schema.Int, amount: Schema.String, at: Schema.Int })),
  corrections: Schema.Array(Schema.Int)
})

export class SwapGroup extends HttpApiGroup.make("swap").add(
  HttpApiEndpoint.get("list", "/swaps", {
    query: {
      client: indexed(Schema.optionalKey(Reference)),
      state: indexed(Schema.optionalKey(token("The state", swapStates))),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(Schema.Struct({ swaps: Schema.Array(SwapView), ...pageEnd }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/swaps/:swapId", { params: { swapId: Reference }, success: Answer(SwapView) }).pipe(
    openTo(everyone)
  ),
  HttpApiEndpoint.post("writeoff", "/swaps/:swapId/writeoff", {
    params: { swapId: Reference },
    payload: Schema.Struct({ amount: text("The amount", 40), reason: Reason }),
    success: Answer(Schema.Union([ApprovalPending, SwapView]))
  }).pipe(openTo(finance, { fourEyes: "usual" }))
) {}
