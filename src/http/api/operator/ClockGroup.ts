/** The sandbox's business clock: read and advance (operator surface, sim clock). */
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
  /** Business time of the venue; null when no venue is attached, or it does not respond. */
  venueNow: Schema.NullOr(Millis),
  /**
   * True while a jump is not complete, and when the venue's clock differs, its last event is not applied, or it does not
   * respond. The service catches up by itself.
   */
  behind: Schema.Boolean,
  /** Business time at the end of the jump that is under way; null when none is. */
  movingTo: Schema.NullOr(Millis)
})

const DueNext = Schema.Struct({ name: Schema.String, subject: Schema.String, dueAt: Millis })

/**
 * `next`: the work due next (timers, statement jobs, delivery attempts, and the venue's funding, maturities and expiries),
 * earliest first, at most ten. Up to five of them are timers that are overdue by 2 s or more: these stand first. `more`: the number of later ones, at most 1,000.
 */
const ClockShown = Schema.Struct({ ...ClockView.fields, next: Schema.Array(DueNext), more: Schema.Int })

const Tally = Schema.Array(Schema.Struct({ name: Schema.String, count: Schema.Int }))

const BecameDue = Schema.Struct({ ...DueNext.fields, count: Schema.Int })

/** The answer is sent once `behind` is false, or after 30 s. */
const AdvanceView = Schema.Struct({
  ...ClockShown.fields,
  /** Timers that fired during the advance, counted by handler; in a dry run, those that would fire. */
  fired: Tally,
  /** Statement jobs that became due during the advance, counted by name; they run in the background (`statement jobs`). */
  jobs: Tally,
  /** The work that became due in the interval, in the order of time, at most 200; in a dry run, the work that would. */
  became: Schema.Array(BecameDue),
  /** The number of further work. */
  becameMore: Schema.Int
})

export class ClockGroup extends HttpApiGroup.make("clock").add(
  HttpApiEndpoint.get("show", "/sim/clock", { success: Answer(ClockShown) }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("advance", "/sim/clock", {
    /** A request must give exactly one of the two members. */
    payload: Schema.Struct({
      advanceMillis: Schema.optionalKey(rangeOf("The advance in milliseconds", 1, maxAdvanceMillis)),
      to: Schema.optionalKey(rangeOf("The moment in Unix milliseconds", 1, Number.MAX_SAFE_INTEGER))
    }),
    success: Answer(AdvanceView)
  }).pipe(openTo(admin))
) {}
