/**
 * Query parameters as the contract declares them (api/Parameters.ts). Each may be sent once and is validated separately, with
 * its own sentence. Unknown names are ignored (doc 1, Endpoints; A1-09).
 */
import { Result, Schema, SchemaAST, SchemaIssue } from "effect"
import { wantedBy } from "../api/Parameters.ts"

export type QueryErrors = Readonly<Record<string, string>>
export type Query = Readonly<Record<string, unknown>>

export interface QueryParameter {
  readonly name: string
  readonly read: (text: string) => Result.Result<unknown, Schema.SchemaError>
  /** The parsed value that stands for an absent parameter; undefined when it has no default. */
  readonly usual: unknown
  /** The sentence that refuses an absent parameter; undefined when the parameter is optional. */
  readonly wanted: string | undefined
}

/**
 * The result of parsing a query. `errors` is null when all parameters are valid; otherwise `query` has only the valid ones.
 */
export interface ParsedQuery {
  readonly query: Query
  readonly errors: QueryErrors | null
}

/** A codec that decodes one parameter, so that each parameter is refused with its own sentence. */
export const readerOf = (ast: SchemaAST.AST): Schema.Codec<unknown> => Schema.make<Schema.Codec<unknown>>(ast)

/** The parameters of an endpoint's query, in the order of the contract. */
export const queryParametersOf = (fields: ReadonlyMap<string, SchemaAST.AST>): ReadonlyArray<QueryParameter> =>
  [...fields].map(([name, ast]) => ({
    name,
    read: Schema.decodeUnknownResult(readerOf(ast)),
    usual: SchemaAST.resolveAt<unknown>("default")(ast),
    wanted: wantedBy(ast)
  }))

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Parses the text after the question mark. An absent parameter takes its default; one that is sent twice is refused. */
export const parseQuery = (parameters: ReadonlyArray<QueryParameter>, search: string): ParsedQuery => {
  const query: Record<string, unknown> = {}
  const sent = search === "" ? null : new URLSearchParams(search)
  let errors: Record<string, string> | null = null
  const refuse = (name: string, sentence: string): void => void ((errors ??= {})[name] = sentence)
  for (const { name, read, usual, wanted } of parameters) {
    const [text, second] = sent?.getAll(name) ?? []
    if (text === undefined) {
      if (usual !== undefined) query[name] = usual
      else if (wanted !== undefined) refuse(name, wanted)
    } else if (second !== undefined) {
      refuse(name, `The parameter ${name} must be sent once.`)
    } else {
      const value = read(text)
      if (Result.isSuccess(value)) query[name] = value.success
      else refuse(name, format(value.failure.issue).issues[0]?.message ?? `The parameter ${name} is not valid.`)
    }
  }
  return { query, errors }
}
