/** Rows of the watch list, of the imports of published ones, and of the passes that screen clients again (F26). */
import type { Columns } from "./documentTables.ts"
import type { MachineRow } from "./Rows.ts"

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

export interface WatchImportRow extends MachineRow {
  readonly id: number
  readonly source: string
  readonly sourceVersion: string
  readonly startedAt: number
}

/** Its trigger, scope, cursor and counts are in the context. */
export interface ScreeningPassRow extends MachineRow {
  readonly id: number
  readonly startedAt: number
}

export const watchEntryColumns: Columns<WatchEntryRow> = {
  id: "id",
  list: "text",
  name: "text",
  dob: "text",
  country: "text",
  source: "text",
  addedAt: "id",
  removedAt: "id",
  importId: "id"
}

export const watchImportColumns: Columns<WatchImportRow> = {
  id: "id",
  state: "text",
  version: "text",
  context: "json",
  source: "text",
  sourceVersion: "text",
  startedAt: "id"
}

export const passColumns: Columns<ScreeningPassRow> = {
  id: "id",
  state: "text",
  version: "text",
  context: "json",
  startedAt: "id"
}

/** The mailbox holds the pass under way. */
export const runningPasses = {
  sql: "state = 'RUNNING'",
  test: (row: { readonly state: string }): boolean => row.state === "RUNNING"
}

/** Mailboxes hold imports under way and the current one of each source. */
export const presentImports = {
  sql: "state IN ('OPEN', 'REMOVING', 'DONE')",
  test: (row: { readonly state: string }): boolean => ["OPEN", "REMOVING", "DONE"].includes(row.state)
}
