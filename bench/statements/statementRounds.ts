/**
 * The statements part, each row on a data directory of its own: large statements with their files, and end-of-day runs.
 */
import { type FileFindings, type FilePlan, measureFiles } from "./fileRounds.ts"
import { measureNights, type NightFindings, type NightPlan } from "./nightRounds.ts"

/**
 * Rows that can be requested by name. `nights` has ten times the clients and takes longer than all others, so it runs
 * only on request.
 */
export const statementRows = ["files", "night", "nights"] as const
export type StatementRow = (typeof statementRows)[number]
export const usualStatementRows: ReadonlyArray<StatementRow> = ["files", "night"]

export interface StatementPlan {
  readonly rows: ReadonlySet<StatementRow>
  readonly files: Omit<FilePlan, "progress">
  readonly night: Omit<NightPlan, "progress">
  readonly nights: Omit<NightPlan, "progress">
  readonly progress: FilePlan["progress"]
}

/** Null: not measured. */
export interface StatementFindings {
  readonly files: FileFindings | null
  readonly night: NightFindings | null
  /** The end-of-day run with ten times the clients. */
  readonly nights: NightFindings | null
}

export const measureStatements = async (plan: StatementPlan): Promise<StatementFindings> => {
  const { rows, progress } = plan
  return {
    files: rows.has("files") ? await measureFiles({ ...plan.files, progress }) : null,
    night: rows.has("night") ? await measureNights({ ...plan.night, progress }) : null,
    nights: rows.has("nights") ? await measureNights({ ...plan.nights, progress }) : null
  }
}
