/** The registry of errors and its reasons for people: as sections of the guide on errors, and as tables in docs/errors.md. */
import { meaningOf, reasonsOf } from "../../machines/shared/RefusalReason.ts"
import { markdownTable } from "../api/markdownTable.ts"
import { wireErrors } from "../api/WireErrors.ts"

/** Facts in braces as code, so that a page shows them as they are. */
const quoted = (data: string): string => data.replace(/\{(?:[^{}]|\{[^}]*\})*\}/g, (braces) => `\`${braces}\``)

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

/** Each code with its reasons, for a page whose columns are too narrow for a table. */
export const errorSections = (): ReadonlyArray<string> =>
  wireErrors.flatMap(({ code, status, meaning, data }) => {
    const reasons = reasonsOf(status, code).map((reason) => `- \`${reason}\`: ${meaningOf[reason]}`)
    return [
      `### HTTP ${status}, code ${code}`,
      "",
      meaning,
      ...(data === "" ? [] : ["", `In \`data\`: ${quoted(data)}.`]),
      ...(reasons.length === 0 ? [] : ["", ...reasons]),
      ""
    ]
  })
