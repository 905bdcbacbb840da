/**
 * One live object of a machine: its state, context, pending timers, calls of the venue in flight and a page of its history,
 * newest last, as the audit tells it and as its machine went; the objects in a state; and how many objects each machine has
 * in each state (operator surface, machine inspect, machine list).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AuditEntry } from "./AuditGroup.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Millis, Reference } from "./OperatorFieldSchemas.ts"

/** A step of a machine: what moved the object, as far as it is written down, and what came of it. */
export const PathStep = Schema.Struct({
  at: Millis,
  event: Schema.NullOr(Schema.String),
  guard: Schema.String,
  from: Schema.NullOr(Schema.String),
  to: Schema.NullOr(Schema.String),
  effects: Schema.Array(Schema.String),
  actions: Schema.Array(Schema.String),
  /** Role and label of the key; null: the service by itself, without a request. */
  by: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String)
})

/** What can happen next, and who can make it happen. */
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
      /** Four eyes guard the command: another operator key has to grant it. */
      secondKey: Schema.Boolean
    })
  )
})

export const StateInstance = Schema.Struct({
  id: Schema.String,
  /** When it came into the state, as far as that is written down; else when it came to be. */
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
  /** The same page as steps of the machine, with those that no audit row tells: trades, payments, warnings, attempts of a delivery. */
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
