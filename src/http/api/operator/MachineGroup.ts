/** One live object of a machine: its state, context, pending timers and history (operator surface, machine inspect). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AuditEntry } from "./AuditGroup.ts"
import { Answer } from "./OperatorErrors.ts"
import { Millis, Reference } from "./OperatorFieldSchemas.ts"

export const MachineInstance = Schema.Struct({
  kind: Schema.String,
  id: Schema.String,
  subject: Schema.String,
  state: Schema.String,
  version: Schema.String,
  context: Schema.Json,
  timers: Schema.Array(Schema.Struct({ name: Schema.String, dueAt: Millis })),
  history: Schema.Array(AuditEntry)
})

export class MachineGroup extends HttpApiGroup.make("machine").add(
  HttpApiEndpoint.get("inspect", "/machines/:kind/:id", {
    params: { kind: Reference, id: Reference },
    success: Answer(MachineInstance)
  })
) {}
