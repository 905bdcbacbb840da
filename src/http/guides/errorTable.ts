/** The registry of errors and its reasons as tables for people: in the guide on errors, and in docs/errors.md. */
import { meaningOf, reasonsOf } from "../../machines/shared/RefusalReason.ts"
import { markdownTable } from "../api/markdownTable.ts"
import { wireErrors } from "../api/WireErrors.ts"

/** Facts in braces as code, so that a page shows them as they are. */
const quoted = (data: string): string => data.replace(/\{[^}]*\}/g, (braces) => `\`${braces}\``)

export const errorTable = (): ReadonlyArray<string> =>
  markdownTable([
    ["Code", "HTTP", "When", "data"],
    ["0", "200, 201", "Success: `{code: 0, data}`; bare routes answer their body alone.", "the payload"],
    ...wireErrors.map(({ code, status, meaning, data }) => [String(code), String(status), meaning, quoted(data)])
  ])

/** Every reason that a partner can meet, once a code. */
export const reasonTable = (): ReadonlyArray<string> =>
  markdownTable([
    ["Code", "HTTP", "data.reason", "Why"],
    ...wireErrors.flatMap(({ code, status }) =>
      reasonsOf(status, code).map((reason) => [String(code), String(status), `\`${reason}\``, meaningOf[reason]])
    )
  ])
