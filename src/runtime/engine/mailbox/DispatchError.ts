/** The errors of a command: nothing was written, unless `Unavailable` has `unknown` (architecture, Engine). */
import { Schema } from "effect"

/** A unique fact is taken by another object: the caller finds that object and decides again. Nothing was written. */
export class ClaimLost extends Schema.TaggedError<ClaimLost>()("ClaimLost", {
  claims: Schema.Array(Schema.Struct({ name: Schema.String, owner: Schema.Number }))
}) {}

/** Thrown inside `decide` if it needs a fact that only a database read can give. Nothing is written. */
export class FactNeeded extends Schema.TaggedError<FactNeeded>()("FactNeeded", { fact: Schema.String }) {}

/**
 * Thrown inside `decide` if the partner was suspended or closed, or the caller's key revoked, between the gates and the turn.
 * Nothing is written and the Idempotency-Key is released: the caller gets the error of the gate.
 */
export class CallerBarred extends Schema.TaggedError<CallerBarred>()("CallerBarred", {
  state: Schema.Literals(["SUSPENDED", "CLOSED", "REVOKED"])
}) {}

/** Overload, or the database is away: HTTP 503 code 5030. `unknown`: the command may still turn out to be done. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", { unknown: Schema.Boolean }) {}

/** The database refused the data of this commit: a defect of the service, or input that its validation missed. */
export class CommitRejected extends Schema.TaggedError<CommitRejected>()("CommitRejected", {
  cause: Schema.Defect()
}) {}

export type DispatchError = ClaimLost | FactNeeded | CallerBarred | Unavailable | CommitRejected
