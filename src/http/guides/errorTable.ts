/** The registry of errors as a table for people: in the guide on errors, and in docs/errors.md. */
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
