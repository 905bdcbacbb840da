/** The knobs of the simulated venue as a tester writes them: YAML, checked; what is wrong is named with its file and line. */
import { Result, Schema, SchemaIssue } from "effect"
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml"
import { VenueKnobs } from "./core/VenueKnobs.ts"

const decode = Schema.decodeUnknownResult(VenueKnobs, { errors: "all", onExcessProperty: "error" })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The schema's words, where a tester would not know what is meant. */
const meaning: Readonly<Record<string, string>> = {
  "Expected no excess property": "There is no such knob",
  "Missing key": "It is needed here"
}

/** Sentences that one answer names. */
const mostSentences = 5

/** The knobs of a text, or what is wrong with it in words, each with `fileName` and its line. An empty text changes nothing. */
export const readKnobs = (text: string, fileName: string): VenueKnobs | string => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number): string => `${fileName}, line ${lines.linePos(offset).line}`
  const [broken] = document.errors
  if (broken !== undefined) return `${at(broken.pos[0])}: ${broken.message}.`
  const decoded = decode(valueOf(document) ?? {})
  if (Result.isSuccess(decoded)) return decoded.success
  return format(decoded.failure.issue)
    .issues.slice(0, mostSentences)
    .map(({ path = [], message }) => {
      const keys = path.map((part) => (typeof part === "object" ? part.key : part))
      const name = keys.length === 0 ? "the file" : keys.map(String).join(".")
      return `${at(offsetOf(document, keys))}: ${name}: ${meaning[message] ?? message}.`
    })
    .join(" ")
}

const valueOf = (document: Document): unknown => {
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch {
    // Aliases: nothing here needs them.
    return "aliases"
  }
}

/** Where the innermost thing of a path begins that is there at all: its key, where it has one. */
const offsetOf = (document: Document, path: ReadonlyArray<PropertyKey>): number => {
  for (let depth = path.length; depth > 0; depth--) {
    const parent = document.getIn(path.slice(0, depth - 1), true)
    const key = path[depth - 1]
    const pair = isMap(parent) ? parent.items.find(({ key: each }) => isScalar(each) && each.value === key) : undefined
    const found = pair?.key ?? document.getIn(path.slice(0, depth), true)
    if (isNode(found) && found.range) return found.range[0]
  }
  return 0
}
