/** Candidates of a screening as a table, each with its entry (operator surface, case show and kyc show; F26). */
import type { CandidateEntry } from "../../src/http/api/operator/CaseGroup.ts"
import { table, time, type View } from "./View.ts"

export interface Candidate {
  readonly entryId: number
  readonly list: string
  readonly score: number
  readonly nameScore: number
}

export type Entry = CandidateEntry

export const candidatesTable = (candidates: ReadonlyArray<Candidate>, entries: ReadonlyArray<Entry>): View => {
  const byId = new Map(entries.map((entry) => [entry.entryId, entry]))
  return table(
    candidates.map((candidate) => ({ ...candidate, entry: byId.get(candidate.entryId) })),
    {
      entry: (row) => row.entryId,
      list: (row) => row.list,
      name: (row) => row.entry?.name ?? null,
      dob: (row) => row.entry?.dob ?? null,
      country: (row) => row.entry?.country ?? null,
      source: (row) => row.entry?.source ?? null,
      removed: (row) => time(row.entry?.removedAt ?? null),
      score: (row) => row.score.toFixed(3),
      "name score": (row) => row.nameScore.toFixed(3)
    },
    "no candidates"
  )
}
