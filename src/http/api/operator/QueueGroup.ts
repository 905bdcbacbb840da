/** All items that wait for a decision by staff (operator surface, queue). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { type Waiting, waitingKinds } from "../../../machines/operator/Waiting.ts"
import { token } from "../../../machines/shared/Fields.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Limit, Millis } from "./OperatorFieldSchemas.ts"

/** `mayDecide`: whether the requesting key may run the first command of `decide`. */
const WaitingView = Schema.Struct({
  kind: Schema.Literals(waitingKinds),
  id: Schema.String,
  since: Millis,
  state: Schema.String,
  partner: Schema.NullOr(Schema.String),
  clientId: Schema.NullOr(Schema.Int),
  clientUid: Schema.NullOr(Schema.String),
  currency: Schema.NullOr(Schema.String),
  amount: Schema.NullOr(Schema.String),
  about: Schema.NullOr(Schema.String),
  command: Schema.String,
  decide: Schema.Array(Schema.String),
  mayDecide: Schema.Boolean
} satisfies Record<keyof Waiting | "mayDecide", Schema.Top>)

export class QueueGroup extends HttpApiGroup.make("queue").add(
  HttpApiEndpoint.get("show", "/queue", {
    query: { kind: Schema.optionalKey(token("The kind", waitingKinds)), limit: Limit(500) },
    success: Answer(
      Schema.Struct({
        /** The time of the list in business time, Unix ms. */
        asOf: Millis,
        waiting: Schema.Array(WaitingView),
        counts: Schema.Array(
          Schema.Struct({ kind: Schema.Literals(waitingKinds), count: Schema.Int, oldestAt: Millis })
        ),
        hasMore: Schema.Boolean
      })
    )
  }).pipe(openTo(everyone))
) {}
