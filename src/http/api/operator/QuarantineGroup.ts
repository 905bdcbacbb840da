/**
 * Quarantine of venue events that could not be applied: staff list and drop them (operator surface, venue quarantine; A2-115).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { admin, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Millis, Reference } from "./OperatorFieldSchemas.ts"

export const QuarantineRow = Schema.Struct({
  quarantineId: Schema.Int,
  at: Millis,
  number: Schema.NullOr(Schema.Int),
  account: Schema.NullOr(Schema.String),
  reason: Schema.String,
  bytes: Schema.String,
  droppedAt: Schema.NullOr(Millis)
})

export class QuarantineGroup extends HttpApiGroup.make("quarantine").add(
  HttpApiEndpoint.get("list", "/venue/quarantine", {
    query: { limit: Limit(500), before: Cursor("The cursor") },
    success: Answer(Schema.Struct({ events: Schema.Array(QuarantineRow) }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("drop", "/venue/quarantine/:quarantineId/drop", {
    params: { quarantineId: Reference },
    success: Answer(QuarantineRow)
  }).pipe(openTo(admin))
) {}
