/** Cases: questions that compliance must decide before a held client continues (doc 1, Client lifecycle; D1, D2). */
import type { JsonObject } from "../../machines/shared/Json.ts"
import { type MachineRow, machineColumns, ofClient, onlyIn, table } from "./Table.ts"

export interface CaseRow extends MachineRow<"case"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly reason: string
  /** The facts for compliance's decision: candidates, run ids, the duplicate's client id. Never KYC payloads. */
  readonly details: JsonObject
  readonly openedAt: number
  readonly closedAt: number | null
}

export const complianceTables = {
  cases: table<CaseRow>()({
    title: "case",
    machine: "case",
    mirrors: ({ decidedAt }) => ({ closedAt: decidedAt }),
    key: ["id"],
    mode: "upsert",
    // The close of the account ends its cases.
    open: null,
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      shard: "id",
      ...machineColumns,
      reason: "text",
      details: "json",
      openedAt: "id",
      closedAt: "id?"
    },
    residence: { ...ofClient, only: onlyIn("OPEN") },
    id: ["case", "usual"]
  })
}
