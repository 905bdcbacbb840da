/** The watch list, imports of published lists, screening runs and what compliance found for candidates (F26). */
import type { ScreeningCandidate, ScreeningOutcome } from "../../machines/screening/screen.ts"
import { wholeReport } from "../../machines/screening/WatchImport.ts"
import { type MachineRow, machineColumns, ofClient, ofSystem, onlyIn, table } from "./Table.ts"

export interface WatchEntryRow {
  readonly id: number
  readonly list: "SANCTIONS" | "PEP"
  readonly name: string
  readonly dob: string | null
  readonly country: string | null
  /** Who publishes the list; OPERATOR for what operators added by hand. */
  readonly source: string
  readonly addedAt: number
  readonly removedAt: number | null
  /** The import that named it last; null for what operators added by hand. */
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
  /** The pass that screened a stored client; null where something that came in was screened. */
  readonly passId: number | null
  readonly ranAt: number
}

/** One finding for an entry: what the client's identity was then, and how like the two were. Never changed. */
export interface DispositionRow {
  readonly clientId: number
  readonly entryId: number
  /** Of the findings for this entry, from 1. */
  readonly number: number
  readonly partnerId: number
  readonly disposition: "FALSE_POSITIVE" | "TRUE_MATCH"
  /** Keyed hash of names, birth date and citizenships; null when only the likeness is known. */
  readonly identityKey: string | null
  /** Null, like the score, in findings older than these columns. */
  readonly outcome: ScreeningOutcome | null
  /** Millionths. */
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
    // Version 2 stores a report of the parts of the file that are not on the list. Version 1 took whole files only.
    upcasters: [({ state, context }) => ({ state, context: { report: wholeReport, ...(context as object) } })],
    // Imports under way, and the current one of each source.
    residence: { ...ofSystem, only: onlyIn("OPEN", "REMOVING", "DONE") },
    id: ["watchImport", "rare"]
  }),
  screeningPasses: table<ScreeningPassRow>()({
    title: "screening pass",
    machine: "screeningPass",
    key: ["id"],
    mode: "upsert",
    columns: { id: "id", ...machineColumns, startedAt: "id" },
    // The pass under way.
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
