/**
 * Converts the failure of a statement to the caller's error (doc 1, error registry: 5030 and 5000). Only a database that is away
 * or busy justifies a retry. A statement that the server refused would fail again, so it is a defect with an id in the log,
 * without its values.
 */
import { Cause, Effect } from "effect"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { classify, describeFailure } from "../engine/journal/sqlFailure.ts"

/** The caller's error for a failed read, which has changed nothing. */
export const whenAway = (error: unknown): Effect.Effect<never, Unavailable> => {
  const { _tag } = classify(Cause.fail(error))
  return _tag === "Lost" || _tag === "Busy" ? Effect.fail(new Unavailable({ unknown: false })) : defect(error)
}

/** The caller's error for a failed write of one statement: without a response the outcome is unknown. */
export const whenUnsure = (error: unknown): Effect.Effect<never, Unavailable> => {
  const { _tag } = classify(Cause.fail(error))
  if (_tag === "Lost") return Effect.fail(new Unavailable({ unknown: true }))
  return _tag === "Busy" ? Effect.fail(new Unavailable({ unknown: false })) : defect(error)
}

const defect = (error: unknown): Effect.Effect<never> =>
  Effect.die(new Error(`a statement can not be run: ${describeFailure(error)}`))
