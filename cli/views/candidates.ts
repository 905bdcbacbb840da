/** Candidates of a screening as a table, each with its list entry (operator surface, case show and kyc show; F26). */
import type { CandidateEntry } from "../../src/http/api/operator/CaseGroup.ts"
import { type NameDoubt, unreadableEntryId } from "../../src/machines/screening/foldName.ts"
import { table, time, type View } from "./View.ts"

export type Candidate = {
  readonly entryId: number
  readonly list: string
  readonly score: number
  readonly nameScore: number
  readonly why?: NameDoubt
}

export type Entry = CandidateEntry

/** Explanations for a candidate without an entry: the client's own name can't be compared (list UNREADABLE, entry 0). */
const doubts: Readonly<Record<NameDoubt, string>> = {
  NO_NAME: "the client's own name: first or last name without a letter",
  TITLE_ALONE: "the client's own name: a title alone",
  UNKNOWN_LETTERS: "the client's own name: letters that can't be compared",
  MIXED_WORD: "the client's own name: letters of several scripts in one word, or digits among them",
  LOOK_ALIKE_LETTERS: "the client's own name: letters that look like others",
  STRANGE_CHARACTERS: "the client's own name: characters that no name has"
}

/**
 * The name of the entry with this id, or "the client's own name" for the id that stands for an unreadable name. Null when
 * `entries` lack the id.
 */
export const entryName = (entryId: number, entries: ReadonlyArray<Entry>): string | null =>
  entryId === unreadableEntryId
    ? "the client's own name"
    : (entries.find((entry) => entry.entryId === entryId)?.name ?? null)

/**
 * The name of a candidate's entry; for the entry of an unreadable name, the reason that the client's name can't be
 * compared.
 */
export const candidateName = ({ entryId, why }: Candidate, entries: ReadonlyArray<Entry>): string | null =>
  why === undefined ? entryName(entryId, entries) : doubts[why]

export const candidatesTable = (candidates: ReadonlyArray<Candidate>, entries: ReadonlyArray<Entry>): View => {
  const byId = new Map(entries.map((entry) => [entry.entryId, entry]))
  return table(
    candidates.map((candidate) => ({ ...candidate, entry: byId.get(candidate.entryId) })),
    {
      entry: (row) => row.entryId,
      list: (row) => row.list,
      name: (row) => candidateName(row, entries),
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
