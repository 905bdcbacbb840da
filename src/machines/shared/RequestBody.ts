/**
 * The refusal of a request body by its decoder, and the one function that checks a body and names its faults in the documented
 * order (doc 1, error registry, code 4000; A1-01, A1-27).
 */
import * as Fields from "./Fields.ts"
import { checkFields, invalidFields, type Refusal } from "./Refusal.ts"
import type { Reason } from "./RefusalReason.ts"

/**
 * The faults of a body: the sentence of the first failing field, and all failing fields with their sentences. There is no
 * field when the body is no object.
 */
export interface BodyFaults {
  readonly ok: false
  readonly sentence: string
  readonly errors: Fields.FieldErrors
}

export const notAnObject = "The request body must be a JSON object."

/** A refusal that names no field, only a sentence. */
export const invalidWhole = (reason: Reason, sentence: string): Refusal => ({
  _tag: "Invalid",
  reason,
  sentence,
  errors: null
})

/** The refusal of a body that is no JSON object. */
export const notABody: Refusal = invalidWhole("INVALID_BODY", notAnObject)

/** The refusal of a body with faults. `reason` is given when a rule with its own reason refused a field. */
export const invalidBody = ({ sentence, errors }: Omit<BodyFaults, "ok">, reason: Reason = "INVALID_FIELDS"): Refusal =>
  Object.keys(errors).length === 0
    ? invalidWhole("INVALID_BODY", sentence)
    : { _tag: "Invalid", reason, sentence, errors }

/** The refusal of a body of sections, with the general sentence. When no field is named, the body is no object. */
export const invalidSections = (errors: Readonly<Record<string, string>>): Refusal =>
  Object.keys(errors).length === 0 ? notABody : invalidFields(errors)

/**
 * Checks a body. `judge` receives the body without its null members, and returns the result when it can be computed. Any
 * sentence that it adds refuses the body all the same. Faults are named in the order of `labels`, not in the order in which
 * they were found.
 */
export const judgeBody = <A extends { readonly ok: true }>(
  body: unknown,
  labels: Readonly<Record<string, string>>,
  judge: (raw: Fields.JsonRecord, add: Fields.AddError) => A | undefined
): A | BodyFaults => {
  if (!Fields.isRecord(body)) return { ok: false, sentence: notAnObject, errors: {} }
  const found: Fields.FieldErrors = {}
  const decided = judge(Fields.withoutNulls(body, 0) as Fields.JsonRecord, (path, sentence) => {
    found[path] ??= sentence
  })
  if (decided !== undefined && Object.keys(found).length === 0) return decided
  const errors: Fields.FieldErrors = {}
  for (const field of Object.keys(labels)) if (found[field] !== undefined) errors[field] = found[field]
  const [first] = Object.values(errors)
  return decided === undefined || first !== undefined ? { ok: false, sentence: first ?? checkFields, errors } : decided
}
