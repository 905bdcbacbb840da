/** The sandbox's checks and its reset (operator surface, sim verify, sim reset). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { holdingKinds } from "../../../machines/reconciliation/holdings.ts"
import { olderThanMoney } from "../../../machines/reconciliation/money.ts"
import { admin, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Millis } from "./OperatorFieldSchemas.ts"

const Count = Schema.Int
const side = Schema.NullOr(Schema.String).annotate({ description: "null: this side has none" })

const ResetState = Schema.Struct({
  sandbox: Schema.Boolean.annotate({ description: "false: it can not be reset" }),
  resets: Count.annotate({ description: "resets so far; one more once the next one is made" }),
  resetting: Schema.Boolean.annotate({ description: "one is asked for and not made yet" }),
  since: Millis.annotate({ description: "when the database of today was made, wall clock" })
})

const LifeView = Schema.Struct({
  ...ResetState.fields,
  fourEyes: Schema.Array(Schema.String).annotate({ description: "commands that wait for a second operator key" })
})

const ResetView = Schema.Struct({
  ...ResetState.fields,
  /** The data that a reset deletes: everything except operator keys and the options of `serve`. */
  goes: Schema.Struct({
    partners: Count,
    clients: Count,
    ledgerTransactions: Count,
    orders: Count,
    contracts: Count,
    swaps: Count,
    webhookDeliveries: Count,
    auditEntries: Count
  }),
  dryRun: Schema.optionalKey(Schema.Literal(true))
})

export class SimGroup extends HttpApiGroup.make("sim").add(
  HttpApiEndpoint.get("life", "/sim/reset", { success: Answer(LifeView) }).pipe(
    openTo(everyone, { partOf: "sim reset" })
  ),
  HttpApiEndpoint.post("reset", "/sim/reset", { success: Answer(ResetView) }).pipe(openTo(admin)),
  HttpApiEndpoint.get("verify", "/sim/verify", {
    success: Answer(
      Schema.Struct({
        ok: Schema.Boolean,
        first: Schema.NullOr(Schema.String).annotate({ description: "the first thing that is wrong, in words" }),
        venue: Schema.Boolean.annotate({ description: "false: no venue is attached" }),
        accounts: Count,
        compared: Schema.Struct({
          position: Count,
          order: Count,
          trade: Count,
          contract: Count,
          request: Count,
          swap: Count,
          money: Count
        }),
        withoutMoney: Count.annotate({ description: olderThanMoney }),
        inFlight: Schema.Array(Schema.String).annotate({ description: "refs of calls without an outcome" }),
        eventsBehind: Count,
        eventsLost: Schema.Array(Schema.Struct({ after: Count, to: Count })).annotate({
          description:
            "events that the venue did not give, so that the service went on after them and read every account again; " +
            "the newest, until staff drop them (venue quarantine drop)"
        }),
        differences: Schema.Array(
          Schema.Struct({
            account: Schema.String,
            kind: Schema.Literals(holdingKinds),
            name: Schema.String,
            service: side,
            venue: side
          })
        )
      })
    )
  }).pipe(openTo(everyone))
) {}
