/** The sandbox's business clock: it can be read and moved forward (operator surface, sim clock). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { maxAdvanceMillis } from "../../../machines/shared/Limits.ts"
import { admin, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Millis, rangeOf } from "./OperatorFieldSchemas.ts"

export const ClockView = Schema.Struct({
  now: Millis,
  wallNow: Millis,
  offsetMillis: Schema.Int,
  /** Business time at the venue; null: none is attached, or it does not answer. */
  venueNow: Schema.NullOr(Millis),
  /**
   * The venue is not at this moment, its last event is not taken, or it does not answer. After an advance also: timers that
   * became due have not fired. The service catches up by itself.
   */
  behind: Schema.Boolean
})

const DueNext = Schema.Struct({ name: Schema.String, subject: Schema.String, dueAt: Millis })

/** `next`: what is due next, the first one first; at most ten. `more`: how many are due after these; 1,000 for more than that. */
const ClockShown = Schema.Struct({ ...ClockView.fields, next: Schema.Array(DueNext), more: Schema.Int })

const Tally = Schema.Array(Schema.Struct({ name: Schema.String, count: Schema.Int }))

/** The answer comes once nothing is `behind`, or after 30 s. */
const AdvanceView = Schema.Struct({
  ...ClockShown.fields,
  /** Timers that fired on the way, by handler; in a dry run those that are due by then now. */
  fired: Tally,
  /** Jobs that make statements and became due on the way, by name: they run by themselves (`statement jobs`). */
  jobs: Tally
})

export class ClockGroup extends HttpApiGroup.make("clock").add(
  HttpApiEndpoint.get("show", "/sim/clock", { success: Answer(ClockShown) }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("advance", "/sim/clock", {
    /** One of the two. */
    payload: Schema.Struct({
      advanceMillis: Schema.optionalKey(rangeOf("The advance in milliseconds", 1, maxAdvanceMillis)),
      to: Schema.optionalKey(rangeOf("The moment in Unix milliseconds", 1, Number.MAX_SAFE_INTEGER))
    }),
    success: Answer(AdvanceView)
  }).pipe(openTo(admin))
) {}
