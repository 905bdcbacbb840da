/** Reads YAML files of the simulated venue by a schema; each problem has its line and the probable intention. */
import { Result, Schema, SchemaIssue } from "effect"
import { isNode, LineCounter, parseDocument, visit } from "yaml"

export interface Problem {
  /** Line of the text, from 1. */
  readonly line: number
  readonly message: string
}

export type Read<A> =
  | { readonly ok: true; readonly value: A }
  | { readonly ok: false; readonly problems: ReadonlyArray<Problem>; readonly message: string }

/** Limit on the length of a message. */
const messageLimit = 256
/** Limit on expanded aliases of a file. */
const aliasLimit = 100

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Reads a text; unknown fields are problems. */
export const readYaml = <A, I>(schema: Schema.Codec<A, I>, text: string): Read<A> => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line)
  if (document.errors.length > 0)
    return failed(document.errors.map(({ message, pos }) => ({ line: lineAt(pos[0]), message })))
  const unfolded = unfold(document)
  if (Result.isFailure(unfolded)) return failed([{ line: lineAt(firstAlias(document)), message: unfolded.failure }])
  const decoded = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })(
    unfolded.success ?? {}
  )
  if (Result.isSuccess(decoded)) return { ok: true, value: decoded.success }
  return failed(
    format(decoded.failure.issue).issues.map(({ path = [], message }) => {
      const keys = path.map((part) => (typeof part === "object" ? part.key : part))
      return {
        line: lineAt(placeOf(document, keys)),
        message: `${keys.map(String).join(".") || "the file"}: ${message}`
      }
    })
  )
}

type Document = ReturnType<typeof parseDocument>

/** The values of a document, or the reason why its aliases or merges are refused. */
const unfold = (document: Document): Result.Result<unknown, string> =>
  Result.try({
    try: (): unknown => document.toJS({ maxAliasCount: aliasLimit }),
    catch: (error) => (error instanceof Error ? error.message : String(error))
  })

/** Line of the first alias, or the beginning. */
const firstAlias = (document: Document): number => {
  let place: number | null = null
  visit(document, {
    Alias: (_, { range }) => {
      place ??= range?.[0] ?? null
      return visit.BREAK
    }
  })
  return place ?? 0
}

/** Reports each problem once. For a file that is nested too deeply, this is the only problem. */
const failed = (found: ReadonlyArray<Problem>): Read<never> => {
  const explained = found.map(({ line, message }) => ({
    line,
    message: message.startsWith("Maximum call stack") ? "maps and lists are nested too deeply" : message
  }))
  const problems = [...new Map(explained.map((each) => [`${each.line}: ${each.message}`, each])).values()].toSorted(
    (one, other) => one.line - other.line
  )
  return { ok: false, problems, message: messageOf(problems) }
}

const messageOf = (problems: ReadonlyArray<Problem>): string =>
  problems
    .map(({ line, message }) => `line ${line}: ${message}`)
    .join("; ")
    .slice(0, messageLimit)

/** The line of a path, or of its longest existing part. */
const placeOf = (document: Document, keys: ReadonlyArray<PropertyKey>): number => {
  for (let length = keys.length; length >= 0; length--) {
    const node = document.getIn(keys.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}
