/**
 * The bodies of POST .../appropriateness and .../acknowledge, with the rules that need no client. scoring.ts checks the answers
 * against the served questionnaire, after version and cooling period (doc 1, Appropriateness; A1-41, A1-42).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"

const integer = (label: string) => {
  const message = `${label} must be an integer.`
  return Schema.Number.annotate({ message, description: label })
    .check(Schema.isInt({ message }))
    .annotateKey(Fields.missing(label))
}

/** The body of POST .../appropriateness as sent. */
export const SubmissionBody = Fields.objectOf(
  {
    version: integer("The version of the questionnaire"),
    answers: Schema.Record(Schema.String, Schema.String)
      .annotate({ description: "Question id to option id, one for every question" })
      .annotateKey(Fields.missing("The answers object"))
  },
  "The request body"
)

/** The body of POST .../appropriateness/acknowledge as sent. */
export const AcknowledgementBody = Fields.objectOf(
  { acknowledgedAt: Fields.unixMillis("The time of acknowledgement") },
  "The request body"
)

type Faults = { readonly ok: false; readonly errors: Fields.FieldErrors }

/** A submission of valid form; its answers are not yet scored. */
export interface SubmissionBody {
  readonly version: number
  /** The answers: any JSON value, without members whose value is null. */
  readonly answers: unknown
}

const notAnObject: Faults = { ok: false, errors: {} }

/** Checks the form of a submission. A body that is no object gives an empty map of errors. */
export const decodeSubmission = (body: unknown): { readonly ok: true; readonly body: SubmissionBody } | Faults => {
  if (!Fields.isRecord(body)) return notAnObject
  const raw = Fields.withoutNulls(body, 1) as Fields.JsonRecord
  const { version, answers } = raw
  if (version === undefined) return { ok: false, errors: { version: "The version of the questionnaire is required." } }
  if (!Number.isInteger(version)) {
    return { ok: false, errors: { version: "The version of the questionnaire must be an integer." } }
  }
  return { ok: true, body: { version: version as number, answers: answers ?? {} } }
}

const decodeBody = Fields.decoderOf(AcknowledgementBody)

/**
 * Checks an acknowledgement; `now` in Unix ms, no tolerance. The specification forbids only a future time. A time before the
 * warning is accepted: the partner attests it, the service stores it beside its own time, and no calculation uses it.
 */
export const decodeAcknowledgement = (
  body: unknown,
  { now }: { readonly now: number }
): { readonly ok: true; readonly attestedAt: number } | Faults => {
  if (!Fields.isRecord(body)) return notAnObject
  const errors: Fields.FieldErrors = {}
  const decoded = decodeBody(Fields.withoutNulls(body, 0), (path, sentence) => {
    errors[path] ??= sentence
  })
  if (decoded === undefined) return { ok: false, errors }
  if (decoded.acknowledgedAt > now) {
    return { ok: false, errors: { acknowledgedAt: "The time of acknowledgement must not be in the future." } }
  }
  return { ok: true, attestedAt: decoded.acknowledgedAt }
}
