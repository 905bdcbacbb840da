/** The client data for transaction reports (doc 1, RTS 22 record). */
import type { ReportingRecord } from "../../machines/reporting/ReportingRecord.ts"
import { table } from "./Table.ts"

export interface ReportingRecordRow {
  readonly clientId: number
  readonly partnerId: number
  readonly fromRevision: number
  readonly complete: boolean
  readonly record: ReportingRecord
  readonly builtAt: number
}

export const reportingTables = {
  reportingRecords: table<ReportingRecordRow>()({
    title: "reporting record",
    machine: null,
    key: ["clientId"],
    mode: "upsert",
    columns: {
      clientId: "id",
      partnerId: "id",
      fromRevision: "id",
      complete: "bool",
      record: "sealed",
      builtAt: "id"
    }
  })
}
