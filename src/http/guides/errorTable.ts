/** The registry of errors and reasons as text: sections of the guide on errors, and the tables of docs/errors.md. */
import { meaningOf, reasonsOf } from "../../machines/shared/RefusalReason.ts"
import { markdownTable } from "../api/markdownTable.ts"
import { wireErrors } from "../api/WireErrors.ts"

/** Marks object shapes in braces as Markdown code, so that they are shown unchanged. */
const quoted = (data: string): string => data.replace(/\{(?:[^{}]|\{[^}]*\})*\}/g, (braces) => `\`${braces}\``)

export const errorTable = (): ReadonlyArray<string> =>
  markdownTable([
    ["Code", "HTTP", "When", "data"],
    ["0", "200, 201", "Success: `{code: 0, data}`; bare routes answer their body alone.", "the payload"],
    ...wireErrors.map(({ code, status, meaning, data }) => [String(code), String(status), meaning, quoted(data)])
  ])

/** A table of all reasons that a partner can get, by code. */
export const reasonTable = (): ReadonlyArray<string> =>
  markdownTable([
    ["Code", "HTTP", "data.reason", "Why"],
    ...wireErrors.flatMap(({ code, status }) =>
      reasonsOf(status, code).map((reason) => [String(code), String(status), `\`${reason}\``, meaningOf[reason]])
    )
  ])

/** One section per code, for pages whose columns are too narrow for a table. */
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
