/**
 * Live objects of machines. One object has its state, context, pending timers, venue calls in flight, and a page of its
 * history, newest last, as audit rows and as machine steps. Lists show the objects in a state, and the number of objects by
 * machine and state (operator surface, machine inspect, machine list).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AuditEntry } from "./AuditGroup.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Millis, Reference } from "./OperatorFieldSchemas.ts"

/** A step of a machine: its trigger, where recorded, and its result. */
export const PathStep = Schema.Struct({
  at: Millis,
  event: Schema.NullOr(Schema.String),
  guard: Schema.String,
  from: Schema.NullOr(Schema.String),
  to: Schema.NullOr(Schema.String),
  effects: Schema.Array(Schema.String),
  actions: Schema.Array(Schema.String),
  /** Role and label of the operator key; null when the service acted by itself, without a request. */
  by: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String)
})

/** A possible next event, and the actors that can trigger it. */
export const NextMove = Schema.Struct({
  event: Schema.String,
  guard: Schema.String,
  to: Schema.String,
  effects: Schema.Array(Schema.String),
  movers: Schema.Array(
    Schema.Struct({
      by: Schema.Literals(["partner", "operator", "timer", "venue", "service"]),
      does: Schema.String,
      roles: Schema.Array(Schema.String),
      /** True when the command is under four eyes: another operator key must grant it. */
      secondKey: Schema.Boolean
    })
  )
})

export const StateInstance = Schema.Struct({
  id: Schema.String,
  /** The time at which the object entered the state, where recorded; otherwise its creation time. */
  since: Schema.NullOr(Millis),
  partnerId: Schema.NullOr(Schema.Int),
  clientId: Schema.NullOr(Schema.Int)
})

export const MachineInstance = Schema.Struct({
  kind: Schema.String,
  id: Schema.String,
  subject: Schema.String,
  state: Schema.String,
  version: Schema.String,
  context: Schema.Json,
  timers: Schema.Array(Schema.Struct({ name: Schema.String, dueAt: Millis })),
  /**
   * Venue calls in flight: the start, the number of status queries, and the last result (no answer yet, an answer that is not
   * final, or executed without details).
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
  /** The same page as machine steps. It includes steps without an audit row: trades, payments, warnings, delivery attempts. */
  path: Schema.Array(PathStep),
  next: Schema.Array(NextMove),
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
  }).pipe(openTo(everyone, { heavy: true })),
  HttpApiEndpoint.get("instances", "/machines/:kind/states/:state", {
    params: { kind: Reference, state: Reference },
    query: { limit: Limit(1_000), after: Schema.optionalKey(Reference) },
    success: Answer(
      Schema.Struct({
        kind: Schema.String,
        state: Schema.String,
        instances: Schema.Array(StateInstance),
        hasMore: Schema.Boolean,
        nextAfter: Schema.NullOr(Schema.String)
      })
    )
  }).pipe(openTo(everyone, { heavy: true })),
  HttpApiEndpoint.get("inspect", "/machines/:kind/:id", {
    params: { kind: Reference, id: Reference },
    query: { limit: Limit(1_000), before: Cursor("The cursor") },
    success: Answer(MachineInstance)
  }).pipe(openTo(everyone))
) {}
