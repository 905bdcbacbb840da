/**
 * Screening a held client again when compliance clears it: the list may have grown since the case was opened, and a
 * candidate nobody has looked at is never cleared (document 1, Rules of POST /clients 6; F26).
 */
import type { Json, JsonObject } from "../../machines/Effects.ts"
import type { ScreenedPerson, ScreeningCandidate, ScreeningResult } from "../../machines/screening/screen.ts"
import { isRecord } from "../../machines/shared/Fields.ts"
import { cleanText } from "../../machines/shared/Text.ts"
import type { SubjectState } from "../engine/SubjectState.ts"
import type { CaseRow } from "../store/Rows.ts"

/** A screening of this moment, without the entries compliance has seen already. */
export interface ScreenedAgain extends ScreeningResult {
  readonly listVersion: number
}

/** Entry ids of a case's candidates. */
export const candidateIds = (open: CaseRow): ReadonlyArray<number> => {
  const { candidates } = open.details as { readonly candidates?: ReadonlyArray<{ readonly entryId: number }> }
  return (candidates ?? []).map((candidate) => candidate.entryId)
}

/** Entries compliance has seen for this client: remembered false positives and the candidates of its open cases. */
export const knownEntries = (state: SubjectState): ReadonlySet<number> =>
  new Set([
    ...state.all("dispositions").flatMap((row) => (row.disposition === "FALSE_POSITIVE" ? [row.entryId] : [])),
    ...state.all("cases").flatMap(candidateIds)
  ])

/** The case with candidates that were found later. */
export const withCandidates = (open: CaseRow, found: ReadonlyArray<ScreeningCandidate>): CaseRow => {
  const before = (open.details as { readonly candidates?: ReadonlyArray<Json> }).candidates ?? []
  const details: JsonObject = { ...open.details, candidates: [...before, ...(found as unknown as ReadonlyArray<Json>)] }
  return { ...open, details }
}

const text = (value: unknown): string => (typeof value === "string" ? cleanText(value) : "")

/** The compared facts of a stored PERSONAL_INFO section. */
export const screenedPerson = (personalInfo: Json): ScreenedPerson => {
  const section: Readonly<Record<string, unknown>> = isRecord(personalInfo) ? personalInfo : {}
  const { citizenships } = section
  return {
    firstName: text(section["first_name"]),
    middleName: text(section["middle_name"]) || null,
    lastName: text(section["last_name"]),
    dob: text(section["date_of_birth"]) || null,
    nationalities: Array.isArray(citizenships) ? citizenships.map(text) : []
  }
}
