/** Fields that several operator requests share, with their sentences of refusal (operator surface; A1-01, A1-14). */
import { Schema, SchemaTransformation } from "effect"
import { text } from "../../../machines/shared/Fields.ts"
import { DeedView } from "./OperatorErrors.ts"

/** The operator's reason for a command. The audit stores it, and partners read it where the contract requires that. */
export const Reason = text("The reason", 500)

/**
 * A reference to an object: a partner by id or code, a client by id, uid, reference or e-mail address, any other object by
 * id. The service resolves it, and answers 404 when it is unknown.
 */
export const Reference = Schema.String.annotate({ message: "It must be one id or name." }).check(
  // The database refuses such a text, and no object can have it as its name.
  Schema.makeFilter((value) =>
    value.includes("\0") || !value.isWellFormed() ? "It must be one id or name." : undefined
  )
)

const whole = (label: string, minimum: number, maximum: number) => {
  const message = `${label} must be a whole number from ${minimum} to ${maximum}.`
  return Schema.Number.annotate({ message })
    .check(Schema.isInt({ message }), Schema.isBetween({ minimum, maximum }, { message }))
    .annotateKey({ messageMissingKey: `${label} is required.` })
}

/**
 * Like `whole`, for a query: plain digits only. Other spellings of a number (1e3, 0x10, 1.0) are refused as probable
 * mistakes.
 */
const wholeText = (label: string, minimum: number, maximum: number) => {
  const message = `${label} must be a whole number from ${minimum} to ${maximum}.`
  return Schema.String.annotate({ message })
    .check(Schema.isPattern(/^(0|[1-9][0-9]{0,15})$/, { message }))
    .pipe(Schema.decodeTo(whole(label, minimum, maximum), SchemaTransformation.numberFromString))
}

/** A body without required fields: an absent body equals {}. */
export const OptionalBody = <F extends Schema.Struct.Fields>(fields: F) => {
  const body = Schema.Struct(fields)
  // HttpApi reads an empty body as null, so null has to be a valid payload too.
  const none = Schema.Null.pipe(
    Schema.decodeTo(
      Schema.toType(body),
      SchemaTransformation.transform({ decode: () => ({}) as (typeof body)["Type"], encode: () => null })
    )
  )
  return [body, none] as const
}

/** The `limit` of a list, 1 to `maximum`; when absent, the command's default applies. */
export const Limit = (maximum: number) => Schema.optionalKey(wholeText("The limit", 1, maximum))

/** A query parameter with the id at which a page begins. The row with this id is not on the page. */
export const Cursor = (label: string) => Schema.optionalKey(wholeText(label, 0, Number.MAX_SAFE_INTEGER))

/** Requests a minute (operator surface: rate limits can be set up to 10^9). */
export const PerMinute = (label: string) => Schema.optionalKey(whole(label, 1, 1_000_000_000))

/** A query that refuses unknown names: an ignored filter would return unfiltered rows. */
export const onlyFields = <F extends Schema.Struct.Fields>(fields: F) =>
  Schema.Struct(fields).annotate({ messageUnexpectedKey: "This question has no such field." })

/** A time in a request or answer, Unix ms. */
export const Millis = Schema.Int

/** The answer of a command that waits for a second operator key; a dry run adds its effects. */
export const ApprovalPending = Schema.Struct({ approvalId: Schema.Int, deed: Schema.optionalKey(DeedView) })
export const rangeOf = whole
