/**
 * Parameters of paths and queries, each declared once for parsing, refusal, and description in the OpenAPI document. Numbers
 * are parsed from their text here, because "canonical decimal or refused" is stricter than a number schema (doc 1, Endpoints:
 * 400 on a malformed paging value; A1-01 path ids; A1-09, A1-14, A1-18).
 */
import { Effect, Schema, SchemaAST, SchemaIssue, SchemaTransformation } from "effect"
import { Id, parseId } from "../../machines/shared/Ids.ts"
import type { Noun } from "../../machines/shared/RefusalReason.ts"
import type { PageLimit } from "../../machines/shared/Limits.ts"
import { cleanText, codePointLength } from "../../machines/shared/Text.ts"

/**
 * A value parsed from a parameter's text. `read` returns undefined for a text that `sentence` refuses. The OpenAPI document
 * describes a number by `value`, a text by `text`.
 */
const fromText = <S extends Schema.Top>(
  value: S,
  read: (text: string) => S["Encoded"] | undefined,
  sentence: string,
  text: Schema.String = Schema.String
) =>
  text.pipe(
    Schema.decodeTo(
      value,
      SchemaTransformation.transformEffect<S["Encoded"], string>({
        decode: (text) => {
          const found = read(text)
          return found === undefined
            ? Effect.fail(new SchemaIssue.InvalidValue({ message: sentence }))
            : Effect.succeed(found)
        },
        encode: (encoded) => Effect.succeed(String(encoded))
      })
    )
  )

const nothingKey = "brokerage/nothing"
const namesKey = "brokerage/names"
const wantedKey = "brokerage/wanted"
const indexedKey = "brokerage/indexed"

/** The parsed value of a malformed id in a path; no object has this id. */
export const noId = 0

/** An id in a path. A segment that is no canonical positive id answers 404, like an unknown id. */
export const pathId = (description: string) =>
  fromText(Id.annotate({ description, [nothingKey]: noId }), parseId, "It must be an id.")

/** A percent-encoded text of 1 to `max` characters in a path. A malformed one is answered with `<names> not found.`. */
export const pathText = (names: Noun, max: number, description: string) =>
  fromText(
    Schema.String.annotate({ [namesKey]: names }),
    (text) => {
      const clean = cleanText(text)
      const length = codePointLength(clean)
      return length === 0 || length > max || clean.includes("\0") ? undefined : clean
    },
    "It must be a text.",
    // `fromText` checks the length above, in code points of the cleaned text.
    Schema.String.check(
      Schema.makeFilter<string>(() => undefined, { toJsonSchema: () => [{ minLength: 1, maxLength: max }, true] })
    ).annotate({ description })
  )

/** The client of a route. Any segment other than a canonical positive id answers 404, like an unknown client. */
export const clientParams = { clientId: pathId("The client's id.") }

/** Whether the schema of a path parameter is an id. */
export const isPathId = (ast: SchemaAST.AST): boolean => SchemaAST.resolveAt<number>(nothingKey)(ast) === noId

/** The noun of a path parameter, for the sentence of its 404. */
export const namedBy = (ast: SchemaAST.AST): Noun => SchemaAST.resolveAt<Noun>(namesKey)(ast) ?? "Object"

/** The number of rows of a page, 1 to the list's maximum. The OpenAPI document states the same default. */
const limitOf = ({ max, default: usual }: PageLimit) =>
  fromText(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: max })).annotate({
      description: `Rows of a page, 1 to ${max}; ${usual} when absent.`,
      default: usual
    }),
    (text) => {
      const value = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : max + 1
      return value > max ? undefined : value
    },
    `The limit must be a whole number from 1 to ${max}.`
  )

/** `limit` and `before` of a list with the given page sizes. */
export const pageParams = (sizes: PageLimit) => ({
  limit: Schema.optionalKey(limitOf(sizes)),
  before: Schema.optionalKey(
    fromText(
      Id.annotate({ description: "Only rows with a smaller id: nextBefore of the page before." }),
      parseId,
      "The cursor before must be a positive whole number."
    )
  )
})

/** The members of a struct by name, in decoded form. */
export const fieldsOf = (struct: Schema.Top | undefined): ReadonlyMap<string, SchemaAST.AST> =>
  new Map(
    struct !== undefined && SchemaAST.isObjects(struct.ast)
      ? struct.ast.propertySignatures.map(({ name, type }) => [String(name), type])
      : []
  )

/** Marks a filter whose index has the order of the list, so that a page scans few rows besides its own. */
export const indexed = <S extends Schema.Top>(filter: S): S["Rebuild"] => filter.annotate({ [indexedKey]: true })

const ofPaging = new Set(["limit", "before", "after"])

/** The filters of a list that are not marked `indexed`: with one of them, a page may scan any number of rows. */
export const scanningFilters = (fields: ReadonlyMap<string, SchemaAST.AST>): ReadonlyArray<string> =>
  [...fields].flatMap(([name, ast]) =>
    ofPaging.has(name) || SchemaAST.resolveAt<boolean>(indexedKey)(ast) === true ? [] : [name]
  )

/** A time in Unix ms, in a query. */
export const momentParam = (name: string, description: string) =>
  Schema.optionalKey(
    fromText(
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description }),
      (text) => {
        const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN
        return Number.isSafeInteger(value) ? value : undefined
      },
      `The parameter ${name} must be a whole number of Unix milliseconds.`
    )
  )

/** The sentence that refuses a query without the parameter; undefined when the parameter is optional. */
export const wantedBy = (ast: SchemaAST.AST): string | undefined => SchemaAST.resolveAt<string>(wantedKey)(ast)

const symbolWanted = "A market symbol is required."

/** The market of a query. A malformed symbol answers 404, like an unknown one. */
export const symbolParam = fromText(
  Schema.String.annotate({ description: "The market's symbol, exact, such as BTC-USDC.", [wantedKey]: symbolWanted }),
  (text) => (text === "" ? undefined : text),
  symbolWanted,
  Schema.String.annotate({ description: "The market's symbol, exact, such as BTC-USDC." })
)

/** The number of rows of a page, for a list without a cursor. */
export const limitParam = (sizes: PageLimit) => Schema.optionalKey(limitOf(sizes))

/** One of the given numbers, in a query. */
export const numberParam = <const T extends ReadonlyArray<number>>(
  name: string,
  numbers: T,
  usual: T[number],
  description: string
) => {
  const sentence = `The parameter ${name} must be one of: ${numbers.join(", ")}.`
  const known = new Map(numbers.map((number) => [String(number), number]))
  return Schema.optionalKey(
    fromText(
      Schema.Literals(numbers).annotate({ description, default: usual }),
      (text) => known.get(text),
      sentence,
      Schema.String.annotate({ description })
    )
  )
}

/** A query parameter with one of the given tokens, exactly as written. `usual` is the default for a query without it. */
export const tokenParam = <const T extends ReadonlyArray<string>>(
  name: string,
  tokens: T,
  description: string,
  usual?: T[number]
) =>
  Schema.optionalKey(
    Schema.Literals(tokens).annotate({
      description,
      ...(usual === undefined ? {} : { default: usual }),
      message: `The parameter ${name} must be one of: ${tokens.join(", ")}.`
    })
  )

/** Free text in its stored form: trimmed, NFC. Only the limit on headers bounds its length. */
export const textParam = (name: string, description: string) =>
  Schema.optionalKey(
    fromText(
      Schema.String,
      (text) => (text.includes("\0") ? undefined : cleanText(text)),
      `The parameter ${name} must not contain U+0000.`,
      Schema.String.annotate({ description })
    )
  )

/** The name of an object, trimmed. Every form is accepted: a malformed name matches no object and so answers 404. */
export const nameParam = (description: string) =>
  Schema.optionalKey(fromText(Schema.String, cleanText, "", Schema.String.annotate({ description })))
