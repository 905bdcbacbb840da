/**
 * One live object of a machine: its state, context, pending timers, calls of the venue in flight and a page of its history, newest last; and how many
 * objects each machine has in each state (operator surface, machine inspect, machine list).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AuditEntry } from "./AuditGroup.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Millis, Reference } from "./OperatorFieldSchemas.ts"

export const MachineInstance = Schema.Struct({
  kind: Schema.String,
  id: Schema.String,
  subject: Schema.String,
  state: Schema.String,
  version: Schema.String,
  context: Schema.Json,
  timers: Schema.Array(Schema.Struct({ name: Schema.String, dueAt: Millis })),
  /**
   * Calls of the venue in flight: since when, how often it was asked for them, and what it has last said: no answer yet, nothing
   * that would be the end of it, or that it was executed, without what came of it.
   */
  calls: Schema.Array(
    Schema.Struct({
      ref: Schema.String,
      call: Schema.String,
      at: Millis,
      asked: Schema.Int,
      found: Schema.Literals(["BEING_MADE", "NO_ANSWER", "NOTHING", "EXECUTED_UNSEEN"])
    })
  ),
  history: Schema.Array(AuditEntry),
  hasMore: Schema.Boolean,
  nextBefore: Schema.NullOr(Schema.Int)
})

export class MachineGroup extends HttpApiGroup.make("machine").add(
  HttpApiEndpoint.get("list", "/machines", {
    success: Answer(
      Schema.Struct({
        machines: Schema.Array(Schema.Struct({ name: Schema.String, states: Schema.Record(Schema.String, Schema.Int) }))
      })
    )
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("inspect", "/machines/:kind/:id", {
    params: { kind: Reference, id: Reference },
    query: { limit: Limit(1_000), before: Cursor("The cursor") },
    success: Answer(MachineInstance)
  }).pipe(openTo(everyone))
) {}
