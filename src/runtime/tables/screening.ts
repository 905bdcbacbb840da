/** The watch list, imports of published lists, screening runs and compliance's findings on candidates (F26). */
import type { ScreeningCandidate, ScreeningOutcome } from "../../machines/screening/screen.ts"
import { wholeReport } from "../../machines/screening/WatchImport.ts"
import { type MachineRow, machineColumns, ofClient, ofSystem, onlyIn, table } from "./Table.ts"

export interface WatchEntryRow {
  readonly id: number
  readonly list: "SANCTIONS" | "PEP"
  readonly name: string
  readonly dob: string | null
  readonly country: string | null
  /** The publisher of the list; OPERATOR for manual entries. */
  readonly source: string
  readonly addedAt: number
  readonly removedAt: number | null
  /** The last import that named the entry; null for manual entries. */
  readonly importId: number | null
}

export interface WatchImportRow extends MachineRow<"watchImport"> {
  readonly id: number
  readonly source: string
  readonly sourceVersion: string
  readonly startedAt: number
}

/** A pass that screens stored clients again. Its trigger, scope, cursor and counts are in the context. */
export interface ScreeningPassRow extends MachineRow<"screeningPass"> {
  readonly id: number
  readonly startedAt: number
}

export interface ScreeningRunRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly trigger: string
  readonly outcome: string
  /** Time of the last change of any list, Unix ms. */
  readonly listVersion: number
  /** Version of every imported list by its source. */
  readonly listVersions: Readonly<Record<string, string>>
  readonly candidates: ReadonlyArray<ScreeningCandidate>
  /** The pass that screened a stored client; null for a screening of incoming data. */
  readonly passId: number | null
  readonly ranAt: number
}

/** One finding on an entry: the client's identity at that time, and its similarity to the entry. Never changed. */
export interface DispositionRow {
  readonly clientId: number
  readonly entryId: number
  /** The number of the finding on this entry, from 1. */
  readonly number: number
  readonly partnerId: number
  readonly disposition: "FALSE_POSITIVE" | "TRUE_MATCH"
  /** Keyed hash of names, birth date and citizenships; null if only the similarity is known. */
  readonly identityKey: string | null
  /** Null, like the score, in findings older than these columns. */
  readonly outcome: ScreeningOutcome | null
  /** The score of the judged match in millionths; null in findings older than this column. */
  readonly score: number | null
  readonly decidedAt: number
  readonly decidedBy: string
}

export const screeningTables = {
  screeningRuns: table<ScreeningRunRow>()({
    title: "screening run",
    machine: null,
    key: ["id"],
    mode: "insert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      trigger: "text",
      outcome: "text",
      listVersion: "id",
      listVersions: "json",
      candidates: "json",
      passId: "id?",
      ranAt: "id"
    },
    id: ["screeningRun", "usual"]
  }),
  watchEntries: table<WatchEntryRow>()({
    title: "watch list entry",
    machine: null,
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      list: "text",
      name: "text",
      dob: "text?",
      country: "text?",
      source: "text",
      addedAt: "id",
      removedAt: "id?",
      importId: "id?"
    },
    check: (row) => row.list === "SANCTIONS" || row.list === "PEP",
    id: ["watchEntry", "hot"]
  }),
  watchImports: table<WatchImportRow>()({
    title: "watch list import",
    machine: "watchImport",
    key: ["id"],
    mode: "upsert",
    columns: { id: "id", ...machineColumns, source: "text", sourceVersion: "text", startedAt: "id" },
    // Version 2 stores a report of the parts of the file that are not on the list. Version 1 accepted whole files only.
    upcasters: [({ state, context }) => ({ state, context: { report: wholeReport, ...(context as object) } })],
    // Memory holds running imports, and the current import of each source.
    residence: { ...ofSystem, only: onlyIn("OPEN", "REMOVING", "DONE") },
    id: ["watchImport", "rare"]
  }),
  screeningPasses: table<ScreeningPassRow>()({
    title: "screening pass",
    machine: "screeningPass",
    key: ["id"],
    mode: "upsert",
    columns: { id: "id", ...machineColumns, startedAt: "id" },
    // Memory holds the running pass only.
    residence: { ...ofSystem, only: onlyIn("RUNNING") },
    id: ["screeningPass", "rare"]
  }),
  dispositions: table<DispositionRow>()({
    title: "disposition",
    machine: null,
    key: ["clientId", "entryId", "number"],
    mode: "insert",
    columns: {
      clientId: "id",
      entryId: "id",
      number: "id",
      partnerId: "id",
      disposition: "text",
      identityKey: "text?",
      outcome: "text?",
      score: "id?",
      decidedAt: "id",
      decidedBy: "text"
    },
    residence: ofClient
  })
}
