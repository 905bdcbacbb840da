/** The result that the caller of a command receives, for each outcome of its turn. */
import { Effect } from "effect"
import type { Claim } from "../journal/Commit.ts"
import { JournalUnavailable, type Outcome } from "../journal/Journal.ts"
import {
  CallerBarred,
  ClaimLost,
  CommitRejected,
  type DispatchError,
  FactNeeded,
  Unavailable
} from "./DispatchError.ts"

/** The result that the caller receives for the outcome of a commit: `value` after success, otherwise the matching error. */
export const resultOf = (
  outcome: Outcome,
  value: unknown
): Effect.Effect<never, DispatchError> | Effect.Effect<unknown> => {
  switch (outcome._tag) {
    case "Committed":
      return Effect.succeed(value)
    case "ClaimLost":
      return Effect.fail(new ClaimLost({ claims: outcome.claims as Array<Claim> }))
    case "Rejected":
      return Effect.fail(new CommitRejected({ cause: outcome.cause }))
    default:
      return Effect.fail(new Unavailable({ unknown: outcome._tag === "Unavailable" && outcome.unknown }))
  }
}

/**
 * The result that the caller receives for an error in a decision: an error of the mailbox becomes the caller's error, any
 * other is a defect.
 */
export const refusalOf = (error: unknown): Effect.Effect<never, DispatchError> =>
  error instanceof FactNeeded || error instanceof CallerBarred
    ? Effect.fail(error)
    : error instanceof JournalUnavailable
      ? Effect.fail(new Unavailable({ unknown: false }))
      : Effect.die(error)
