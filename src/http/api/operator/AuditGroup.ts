/**
 * The audit stream in commit order, newest row last. With only `after` or `since`, a page holds the first rows that follow,
 * and `nextAfter` continues. Otherwise a page holds the newest rows (below the id `before`, if given), and `nextBefore`
 * continues backwards. `hasMore`: the limit left out rows (A3-45; operator surface, audit tail).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Millis, Reference } from "./OperatorFieldSchemas.ts"
import { indexed } from "../Parameters.ts"

export const AuditEntry = Schema.Struct({
  auditId: Schema.Int,
  stream: Schema.Literals(["client", "partner", "system"]),
  partnerId: Schema.NullOr(Schema.Int),
  clientId: Schema.NullOr(Schema.Int),
  ts: Millis,
  role: Schema.String,
  keyLabel: Schema.String,
  requestId: Schema.String,
  object: Schema.NullOr(Schema.String),
  action: Schema.String,
  before: Schema.NullOr(Schema.String),
  after: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String)
})

export class AuditGroup extends HttpApiGroup.make("audit").add(
  HttpApiEndpoint.get("tail", "/audit", {
    query: {
      client: indexed(Schema.optionalKey(Reference)),
      partner: indexed(Schema.optionalKey(Reference)),
      object: indexed(Schema.optionalKey(Reference)),
      since: Cursor("The time"),
      after: Cursor("The cursor"),
      before: Cursor("The cursor"),
      limit: Limit(1_000)
    },
    success: Answer(
      Schema.Struct({
        entries: Schema.Array(AuditEntry),
        nextAfter: Schema.Int,
        hasMore: Schema.Boolean,
        nextBefore: Schema.NullOr(Schema.Int)
      })
    )
  }).pipe(openTo(everyone))
) {}
