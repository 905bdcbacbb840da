/**
 * Building blocks of request bodies. The messages of the schemas are the sentences for partners, so that one declaration
 * serves decoding and the OpenAPI document; sentences are collected by dotted path. Schemas hold the wire form; trimming and
 * other normalisation follow once a body is valid. Rules that join several fields or need a fact (today, blocked countries)
 * run as a second pure pass over the raw value: a schema skips its struct-level checks as soon as one field fails, but one
 * answer must name every failing field (doc 1, error registry, code 4000; A1-14, A1-27, A1-19, F2, A1-24, A1-25).
 */
import { Result, Schema, SchemaAST, SchemaIssue } from "effect"
import { enable } from "effect/schema/SchemaJITCompiler"
import { type CalendarDate, parseCalendarDate, yearOf } from "./CalendarDate.ts"
import { isCountry } from "./Country.ts"
import { cleanText, nameSentence, textSentence, trimText } from "./Text.ts"

/** Error sentences by the dotted path of their field. */
export type FieldErrors = Record<string, string>
export type JsonRecord = Record<string, unknown>
/** Adds a sentence at a dotted path; the first sentence of a path stays. */
export type AddError = (path: string, sentence: string) => void

/** A collector that adds a prefix to every path. */
export const under =
  (prefix: string, add: AddError): AddError =>
  (path, sentence) =>
    add(`${prefix}.${path}`, sentence)

/** Facts for the rules of a section, besides the section itself. */
export interface SectionFacts {
  /** Moment of receipt, Unix ms. */
  readonly now: number
  /** UTC date of receipt. */
  readonly today: CalendarDate
  readonly blockedJurisdictions: ReadonlySet<string>
  readonly identityProviders: readonly string[]
  /** POST /clients refuses document references; PUT .../kyc accepts the client's live ones. */
  readonly documents: "refused" | ReadonlySet<number>
}

/** True for a JSON object, which is neither null nor an array. */
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value)

type JsonConstraint = Record<string, string | number | boolean>

/** A check whose predicate returns the sentence. `constraint` is its looser JSON Schema form, for the OpenAPI document. */
const sentenceCheck = <A>(sentence: (value: A) => string | undefined, constraint: JsonConstraint) =>
  Schema.makeFilter<A>(sentence, { toJsonSchema: () => [constraint, true] })

/** The key annotation of a required field. Every builder below carries it; `Schema.optionalKey` ignores it. */
export const missing = (label: string) => ({ messageMissingKey: `${label} is required.` })

/** A struct with the sentence for a value that is not an object. */
export const objectOf = <F extends Schema.Struct.Fields>(fields: F, label: string) =>
  Schema.Struct(fields)
    .annotate({ message: `${label} must be an object.`, description: label })
    .annotateKey(missing(label))

/** A list of at least one item. */
export const listOf = <S extends Schema.Top>(item: S, label: string) =>
  Schema.Array(item)
    .annotate({ message: `${label} must be a list.`, description: `${label}, at least one` })
    .check(Schema.isMinLength(1, { message: `${label} must have at least one entry.` }))
    .annotateKey(missing(label))

/**
 * A list of `min` to `max` items. The length is checked before any item, because errors for each item of a long list would
 * make a response of megabytes.
 */
export const boundedList = <S extends Schema.Top>(item: S, label: string, min: number, max: number) => {
  const message = `${label} must be a list of ${min} to ${max} entries.`
  return Schema.Array(Schema.Unknown)
    .annotate({ message, description: label })
    .check(Schema.isMinLength(min, { message }), Schema.isMaxLength(max, { message }))
    .pipe(Schema.decodeTo(Schema.Array(item)))
    .annotateKey(missing(label))
}

/** Text of 1 to `max` code points after trimming. */
export const text = (label: string, max: number) => textField(label, max, true)

/** Text of at most `max` code points that may be empty: empty counts as not sent. */
export const optionalText = (label: string, max: number) => Schema.optionalKey(textField(label, max, false))

/** Like `text`, for a name or label: also refuses characters that change the direction of writing. */
export const nameText = (label: string, max: number) => textField(label, max, true, nameSentence)

/** Like `optionalText`, for a name. */
export const optionalName = (label: string, max: number) =>
  Schema.optionalKey(textField(label, max, false, nameSentence))

/** Text that has the shape of `pattern` after trimming; `sentence` refuses any other text. */
export const shaped = (label: string, pattern: RegExp, sentence: string) =>
  Schema.String.annotate({ message: `${label} must be text.`, description: label })
    .check(
      sentenceCheck((value: string) => (pattern.test(trimText(value)) ? undefined : sentence), {
        pattern: pattern.source
      })
    )
    .annotateKey(missing(label))

const decimalGrammar = /^(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/

/** A decimal string greater than zero, for a price or a quantity. The market's grid is checked elsewhere. */
export const positiveDecimal = (label: string) =>
  Schema.String.annotate({
    message: `${label} must be a decimal string such as 12.50.`,
    description: `${label}: positive decimal string`
  })
    .check(
      sentenceCheck(
        (value: string) => {
          const trimmed = trimText(value)
          if (!decimalGrammar.test(trimmed)) {
            return `${label} must be a plain decimal number such as 12.50, without sign, exponent or grouping.`
          }
          return /[1-9]/.test(trimmed) ? undefined : `${label} must be greater than zero.`
        },
        { pattern: decimalGrammar.source }
      )
    )
    .annotateKey(missing(label))

/** A whole number between two bounds, both inclusive. */
export const wholeNumber = (label: string, minimum: number, maximum: number) => {
  const message = `${label} must be a whole number from ${minimum} to ${maximum}.`
  return Schema.Number.annotate({ message, description: label })
    .check(Schema.isInt({ message }), Schema.isBetween({ minimum, maximum }, { message }))
    .annotateKey(missing(label))
}

/** ISO 3166-1 alpha-2, upper case, officially assigned. */
export const country = (label: string) =>
  Schema.String.annotate({
    message: `${label} must be an ISO 3166-1 alpha-2 country code in upper case.`,
    description: `${label}, ISO 3166-1 alpha-2`
  })
    .check(
      sentenceCheck(
        (value: string) =>
          isCountry(trimText(value)) ? undefined : `${label} must be an ISO 3166-1 alpha-2 country code in upper case.`,
        { pattern: "^[A-Z]{2}$" }
      )
    )
    .annotateKey(missing(label))

/** A real date YYYY-MM-DD within the given years. */
export const date = (label: string, years: { readonly from?: number; readonly to?: number } = {}) => {
  const from = years.from ?? 1
  const to = years.to ?? 9999
  return Schema.String.annotate({
    message: `${label} must be a real date written YYYY-MM-DD.`,
    description: `${label}, YYYY-MM-DD`
  })
    .check(
      sentenceCheck(
        (value: string) => {
          const parsed = parseCalendarDate(trimText(value))
          if (parsed === undefined) return `${label} must be a real date written YYYY-MM-DD.`
          if (yearOf(parsed) < from) return `${label} must be in the year ${from} or later.`
          return yearOf(parsed) > to ? `${label} must be in the year ${to} or earlier.` : undefined
        },
        { pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }
      )
    )
    .annotateKey(missing(label))
}

/** One of the given tokens, exactly: without trimming or change of case. */
export const token = <const T extends readonly [string, ...string[]]>(label: string, tokens: T) =>
  Schema.Literals(tokens)
    .annotate({ message: `${label} must be one of: ${tokens.join(", ")}.`, description: label })
    .annotateKey(missing(label))

/** A required true or false; no text or number stands for it. */
export const flag = (label: string) =>
  Schema.Boolean.annotate({ message: `${label} must be true or false.`, description: label }).annotateKey(
    missing(label)
  )

/** A declaration that only counts when it is true. */
export const mustBeTrue = (label: string) =>
  Schema.Literal(true)
    .annotate({ message: `${label} must be true.`, description: label })
    .annotateKey(missing(label))

/** Unix ms: a positive integer. */
export const unixMillis = (label: string) => {
  const message = `${label} must be a positive integer of Unix milliseconds.`
  return Schema.Number.annotate({ message, description: `${label}, Unix ms` })
    .check(Schema.isInt({ message }), Schema.isGreaterThan(0, { message }))
    .annotateKey(missing(label))
}

/** The id of a document, a positive integer. Whether this client has the document is checked elsewhere. */
export const documentId = (label: string) => {
  const message = `${label} must be a document id.`
  return Schema.Number.annotate({ message, description: `${label}; PUT .../kyc only` }).check(
    Schema.isInt({ message }),
    Schema.isGreaterThan(0, { message })
  )
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Adds every sentence of a failed decoding under its dotted path, with list indexes. */
export const addIssues = (issue: SchemaIssue.Issue, add: AddError): void => {
  for (const found of format(issue).issues) {
    add((found.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join("."), found.message)
  }
}

/** A decoder that passes every sentence to `add` and returns the value, or undefined when a sentence was found. */
export const decoderOf = <A, I>(schema: Schema.Codec<A, I>) => {
  // Every write decodes a body. Code generated once from the schema is several times faster than interpreting the schema.
  enable(schema.ast)
  const decode = Schema.decodeUnknownResult(schema, { errors: "all" })
  return (value: unknown, add: AddError): A | undefined => {
    const result = decode(value)
    if (Result.isSuccess(result)) return result.success
    addIssues(result.failure.issue, add)
    return undefined
  }
}

/**
 * A copy without null members, down to `depth` containers, because a null field counts as not sent, whether optional or
 * required. Deeper values are shared, not copied.
 */
export const withoutNulls = (value: unknown, depth: number): unknown => {
  if (depth < 0 || typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, depth - 1))
  const copy: JsonRecord = {}
  for (const [key, member] of Object.entries(value)) {
    if (member !== null && key !== "__proto__") copy[key] = withoutNulls(member, depth - 1)
  }
  return copy
}

/**
 * Removes the given optional members from the service's copy of a body when their text is blank: a blank counts as not sent.
 * A member of another type stays, so that the schema refuses it. Orders and requests for quotes never use this function,
 * because a stop with a blank price must be refused, not accepted without its price.
 */
export const dropBlanks = (schema: Schema.Top, raw: unknown): void => dropBlanksOf(SchemaAST.toType(schema.ast), raw)

const dropBlanksOf = (ast: SchemaAST.AST, value: unknown): void => {
  if (SchemaAST.isArrays(ast) && Array.isArray(value)) {
    for (const item of value) for (const rest of ast.rest) dropBlanksOf(rest, item)
  }
  if (!SchemaAST.isObjects(ast) || !isRecord(value)) return
  for (const { name, type } of ast.propertySignatures) {
    const key = String(name)
    const member = value[key]
    if (typeof member !== "string") dropBlanksOf(type, member)
    else if (SchemaAST.isOptional(type) && isText(type) && cleanText(member) === "") delete value[key]
  }
}

const isText = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isString(ast) ||
  (SchemaAST.isLiteral(ast) && typeof ast.literal === "string") ||
  (SchemaAST.isUnion(ast) && ast.types.every(isText))

/** A decoded value with every text trimmed and in NFC, and empty optional texts left out. */
export const cleanTexts = <A>(value: A): A => cleanAny(value) as A

/** The cleaned text at a key of a raw section, or undefined when it is not a text. */
export const textAt = (raw: JsonRecord, key: string): string | undefined => {
  const value = raw[key]
  return typeof value === "string" ? cleanText(value) : undefined
}

/** The date at a key of a raw section, or undefined when it is not a real date (the schema has the sentence for it). */
export const dateAt = (raw: JsonRecord, key: string): CalendarDate | undefined => {
  const value = raw[key]
  return typeof value === "string" ? parseCalendarDate(trimText(value)) : undefined
}

/** Calls `found` with the index of each text that occurred earlier in the list. */
export const eachDuplicate = (values: readonly unknown[], found: (index: number) => void): void => {
  const seen = new Set<string>()
  for (const [index, value] of values.entries()) {
    if (typeof value !== "string") continue
    const clean = cleanText(value)
    if (seen.has(clean)) found(index)
    seen.add(clean)
  }
}

/**
 * Refuses a list that is longer than any valid one, and removes it from the raw section: errors for each of its entries could
 * make a response of many megabytes.
 */
export const limitList = (raw: JsonRecord, key: string, label: string, max: number, add: AddError): void => {
  const value = raw[key]
  if (!Array.isArray(value) || value.length <= max) return
  delete raw[key]
  add(key, `${label} must have at most ${max} entries.`)
}

/**
 * Checks a document reference (one id or a list): refuses it and removes it from the raw section where references are not
 * allowed; otherwise it must name a document of this client. The schema refuses values that are not ids.
 */
export const checkDocumentReference = (raw: JsonRecord, key: string, facts: SectionFacts, add: AddError): void => {
  const { documents } = facts
  const value = raw[key]
  if (value === undefined) return
  if (documents !== "refused") {
    const judge = (id: unknown, path: string): void => {
      if (Number.isSafeInteger(id) && (id as number) > 0 && !documents.has(id as number)) {
        add(path, "The document reference does not name a document uploaded for this client.")
      }
    }
    if (Array.isArray(value)) for (const [index, id] of value.entries()) judge(id, `${key}.${index}`)
    else judge(value, key)
    return
  }
  delete raw[key]
  add(
    key,
    "Leave document references out when creating a client: upload the document, then PUT .../kyc with its reference."
  )
}

const textField = (label: string, max: number, needed: boolean, sentence = textSentence) =>
  Schema.String.annotate({
    message: `${label} must be text.`,
    description: `${label}, at most ${max} characters`
  })
    .check(
      sentenceCheck(
        (value: string) => sentence(value, label, max, needed),
        needed ? { minLength: 1, maxLength: max } : { maxLength: max }
      )
    )
    .annotateKey(missing(label))

const cleanAny = (value: unknown): unknown => {
  if (typeof value === "string") return cleanText(value)
  if (Array.isArray(value)) return value.map(cleanAny)
  if (!isRecord(value)) return value
  const out: JsonRecord = {}
  for (const [key, member] of Object.entries(value)) {
    const clean = cleanAny(member)
    if (clean !== "") out[key] = clean
  }
  return out
}
