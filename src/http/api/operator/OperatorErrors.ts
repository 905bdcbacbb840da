/**
 * Errors of the operator surface, in the envelope {code, msg, error, data?} of the partner surface, one class per status (doc
 * 1, Envelope and error registry; operator surface, exit status 1).
 */
import { Schema } from "effect"

const fields = {
  code: Schema.Int,
  msg: Schema.String,
  error: Schema.String,
  data: Schema.optionalKey(Schema.Json)
}

export class OperatorInvalid extends Schema.Error<OperatorInvalid>("OperatorInvalid")(fields, {
  httpApiStatus: 400
}) {}
export class OperatorUnauthorized extends Schema.Error<OperatorUnauthorized>("OperatorUnauthorized")(fields, {
  httpApiStatus: 401
}) {}
export class OperatorForbidden extends Schema.Error<OperatorForbidden>("OperatorForbidden")(fields, {
  httpApiStatus: 403
}) {}
export class OperatorUnknown extends Schema.Error<OperatorUnknown>("OperatorUnknown")(fields, {
  httpApiStatus: 404
}) {}
export class OperatorConflict extends Schema.Error<OperatorConflict>("OperatorConflict")(fields, {
  httpApiStatus: 409
}) {}
export class OperatorTooLarge extends Schema.Error<OperatorTooLarge>("OperatorTooLarge")(fields, {
  httpApiStatus: 413
}) {}
export class OperatorDefect extends Schema.Error<OperatorDefect>("OperatorDefect")(fields, {
  httpApiStatus: 500
}) {}
/** 502: the venue can't be reached. */
export class OperatorUpstream extends Schema.Error<OperatorUpstream>("OperatorUpstream")(fields, {
  httpApiStatus: 502
}) {}
export class OperatorAway extends Schema.Error<OperatorAway>("OperatorAway")(fields, { httpApiStatus: 503 }) {}

/** Errors that any route may answer. */
export const operatorErrors = [
  OperatorInvalid,
  OperatorForbidden,
  OperatorUnknown,
  OperatorConflict,
  OperatorDefect,
  OperatorUpstream,
  OperatorAway
] as const
export type OperatorError =
  | OperatorInvalid
  | OperatorUnauthorized
  | OperatorForbidden
  | OperatorUnknown
  | OperatorConflict
  | OperatorDefect
  | OperatorUpstream
  | OperatorAway

/** The body of a refusal; `error` repeats the sentence (doc 1, Envelope). */
export const envelopeOf = (code: number, sentence: string, data: Schema.Json | null = null) =>
  data === null ? { code, msg: sentence, error: sentence } : { code, msg: sentence, error: sentence, data }

/** The changes that a dry run would write: rows by table, events, postings. */
export const DryRunView = Schema.Struct({
  rows: Schema.Record(Schema.String, Schema.Int),
  events: Schema.Array(
    Schema.Struct({ event: Schema.String, partnerId: Schema.Int, clientId: Schema.NullOr(Schema.Int) })
  ),
  postings: Schema.Array(
    Schema.Struct({
      account: Schema.String,
      clientId: Schema.NullOr(Schema.Int),
      currency: Schema.String,
      kind: Schema.String,
      amount: Schema.String
    })
  )
})

/** A change by a command, as the audit records it: an object (KIND:ID), with its state or a fact before and after. */
export const ChangeView = Schema.Struct({
  object: Schema.NullOr(Schema.String),
  action: Schema.String,
  before: Schema.NullOr(Schema.String),
  after: Schema.NullOr(Schema.String)
})

/**
 * A success: {code: 0, data}. A command that writes adds its first hundred changes. With ?dryRun=true the answer has the same
 * form, with the changes that the command would write.
 */
export const Answer = <S extends Schema.Top>(data: S) =>
  Schema.Struct({
    code: Schema.Literal(0),
    data,
    dryRun: Schema.optionalKey(DryRunView),
    changes: Schema.optionalKey(Schema.Array(ChangeView))
  })

/** The answer and effects that a waiting command would have if it were granted now. */
export const DeedView = Schema.Union([
  Schema.Struct({ result: Schema.Json, would: DryRunView, changes: Schema.Array(ChangeView) }),
  Schema.Struct({ refusal: Schema.String })
])
