/** How a command ends without a value: nothing was written, unless `Unavailable` says that nobody knows (architecture, Engine). */
import { Schema } from "effect"

/** A unique fact is taken by another object: the caller looks it up and decides again. Nothing was written. */
export class ClaimLost extends Schema.TaggedError<ClaimLost>()("ClaimLost", {
  claims: Schema.Array(Schema.Struct({ name: Schema.String, owner: Schema.Number }))
}) {}

/** Thrown inside `decide` when a fact is needed that only a database read can give. Nothing is written. */
export class FactNeeded extends Schema.TaggedError<FactNeeded>()("FactNeeded", { fact: Schema.String }) {}

/**
 * Thrown inside `decide` when the partner was suspended or closed, or the caller's key revoked, between the gates and the turn.
 * Nothing is written and the Idempotency-Key is given back: the caller gets what the gate would have said.
 */
export class CallerBarred extends Schema.TaggedError<CallerBarred>()("CallerBarred", {
  state: Schema.Literals(["SUSPENDED", "CLOSED", "REVOKED"])
}) {}

/** Overload or database away: HTTP 503 code 5030. `unknown`: the command may still turn out to be done. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", { unknown: Schema.Boolean }) {}

/** The database refused the data of this commit: a defect of ours, or input that slipped through. */
export class CommitRejected extends Schema.TaggedError<CommitRejected>()("CommitRejected", {
  cause: Schema.Defect()
}) {}

export type DispatchError = ClaimLost | FactNeeded | CallerBarred | Unavailable | CommitRejected
