/** The sandbox's business clock: it can be read and moved forward (operator surface, sim clock). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { admin, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Millis, rangeOf } from "./OperatorFieldSchemas.ts"

/** Ten years: more than any deadline, far below what Unix ms can hold. */
export const maxAdvanceMillis = 10 * 366 * 86_400_000

export const ClockView = Schema.Struct({
  now: Millis,
  wallNow: Millis,
  offsetMillis: Schema.Int,
  /** Business time at the venue; null: none is attached, or it does not answer. */
  venueNow: Schema.NullOr(Millis)
})

/** `behind`: venue, events and timers were not all there after 30 s; the rest comes by itself. */
const AdvanceView = Schema.Struct({ ...ClockView.fields, behind: Schema.Boolean })

export class ClockGroup extends HttpApiGroup.make("clock").add(
  HttpApiEndpoint.get("show", "/sim/clock", { success: Answer(ClockView) }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("advance", "/sim/clock", {
    payload: Schema.Struct({ advanceMillis: rangeOf("The advance in milliseconds", 1, maxAdvanceMillis) }),
    success: Answer(AdvanceView)
  }).pipe(openTo(admin))
) {}
