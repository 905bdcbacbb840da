/**
 * What a failed statement of a service means for its caller (doc 1, error registry: 5030 and 5000). Only a database that
 * is away or busy is a reason to come back later; a statement the server refused fails again for ever, so that is a
 * defect with an id in the log, without the values it carried.
 */
import { Cause, Effect } from "effect"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { classify, describeFailure } from "../engine/journal/sqlFailure.ts"

/** After a failed read: nothing can have happened. */
export const whenAway = (error: unknown): Effect.Effect<never, Unavailable> => {
  const { _tag } = classify(Cause.fail(error))
  return _tag === "Lost" || _tag === "Busy" ? Effect.fail(new Unavailable({ unknown: false })) : defect(error)
}

/** After a failed write of one statement: without an answer nobody knows whether it is in. */
export const whenUnsure = (error: unknown): Effect.Effect<never, Unavailable> => {
  const { _tag } = classify(Cause.fail(error))
  if (_tag === "Lost") return Effect.fail(new Unavailable({ unknown: true }))
  return _tag === "Busy" ? Effect.fail(new Unavailable({ unknown: false })) : defect(error)
}

const defect = (error: unknown): Effect.Effect<never> =>
  Effect.die(new Error(`a statement can not be run: ${describeFailure(error)}`))
