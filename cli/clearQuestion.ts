/** The question before `kyc clear`, with every candidate of the open cases that the command would clear (F26; D1). */
import type { OperatorClient } from "./OperatorClient.ts"
import { type Candidate, candidateName, type Entry } from "./views/candidates.ts"

/**
 * The question is always put, because a cleared client can trade. `client` is a phrase for the client; `cases` are the cases to
 * clear.
 */
export const clearQuestion = async (
  api: OperatorClient,
  client: string,
  cases: ReadonlyArray<number>
): Promise<string> => {
  const lines = []
  for (const caseId of cases) lines.push(...(await candidateLines(api, caseId)))
  return questionOf(client, lines)
}

const candidateLines = async (api: OperatorClient, caseId: number): Promise<ReadonlyArray<string>> => {
  const { details, entries } = (await api.case.show({ params: { caseId: String(caseId) } })).data
  const { candidates = [] } = (details ?? {}) as { readonly candidates?: ReadonlyArray<Candidate> }
  return candidates.map((each) => `  case ${caseId}, ${candidateText(each, entries)}`)
}

const candidateText = (candidate: Candidate, entries: ReadonlyArray<Entry>): string => {
  const { entryId, list, score } = candidate
  const entry = entries.find((each) => each.entryId === entryId)
  const facts = [candidateName(candidate, entries), entry?.dob, entry?.country, `score ${score.toFixed(3)}`]
  const known = facts.filter((fact) => fact !== undefined && fact !== null)
  return `entry ${entryId}${entry === undefined ? "" : ` of ${entry.source}`} (${list}): ${known.join(", ")}`
}

const questionOf = (client: string, lines: ReadonlyArray<string>): string =>
  lines.length === 0
    ? `Clear the open cases of ${client}?`
    : `Screening has found ${client} on watch lists, or near them:\n${lines.join("\n")}\nClear it as another person?`
