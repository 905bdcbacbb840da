/** The operator's own keys, and guarded commands that wait for a second operator (operator surface, Roles and Four eyes). */
import type { JsonObject } from "../../machines/shared/Json.ts"
import { type MachineRow, machineColumns, ofSystem, onlyIn, table } from "./Table.ts"

export interface OperatorKeyRow extends MachineRow<"apiKey"> {
  readonly id: number
  readonly hash: string
  readonly prefix: string
  readonly label: string
  readonly role: "ADMIN" | "FINANCE" | "COMPLIANCE" | "SUPPORT"
  readonly createdAt: number
}

export interface ApprovalRow extends MachineRow<"approval"> {
  readonly id: number
  readonly command: string
  readonly args: JsonObject
  readonly requestedBy: number
  readonly requestedAt: number
}

const roles: ReadonlyArray<string> = ["ADMIN", "FINANCE", "COMPLIANCE", "SUPPORT"]

export const operatorTables = {
  operatorKeys: table<OperatorKeyRow>()({
    title: "operator key",
    machine: "apiKey",
    object: "operatorKey",
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      ...machineColumns,
      hash: "text",
      prefix: "text",
      label: "text",
      role: "text",
      createdAt: "id"
    },
    unique: [["hash"]],
    check: (row) => roles.includes(row.role),
    residence: ofSystem,
    id: ["operatorKey", "rare"]
  }),
  approvals: table<ApprovalRow>()({
    title: "approval",
    machine: "approval",
    key: ["id"],
    mode: "upsert",
    columns: { id: "id", ...machineColumns, command: "text", args: "json", requestedBy: "id", requestedAt: "id" },
    residence: { ...ofSystem, only: onlyIn("PENDING") },
    id: ["approval", "rare"]
  })
}
