/** Collateral reports (doc 3, Collateral report; D11). */
import { type MachineRow, machineColumns, table } from "../Table.ts"

export interface CollateralReportRow extends MachineRow<"collateralReport"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly createdAt: number
}

export const collateralTables = {
  collateralReports: table<CollateralReportRow>()({
    title: "collateral report",
    machine: "collateralReport",
    key: ["id"],
    mode: "insert",
    columns: { id: "id", partnerId: "id", clientId: "id", shard: "id", ...machineColumns, createdAt: "id" },
    id: ["collateral", "hot"]
  })
}
