/** The sandbox's own proofs (operator surface, sim verify). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { holdingKinds } from "../../../machines/venue/holdings.ts"
import { olderThanMoney } from "../../../machines/venue/money.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"

const Count = Schema.Int
const side = Schema.NullOr(Schema.String).annotate({ description: "null: this side has none" })

export class SimGroup extends HttpApiGroup.make("sim").add(
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
