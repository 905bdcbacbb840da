/** Collateral reports (doc 3, Collateral report; D11). */
import { type MachineRow, machineColumns, table } from "./Table.ts"

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
    // Version 2 keeps the balances after the booking for replays; those of version 1 are recomputed.
    upcasters: [
      ({ state, context }) => ({
        state,
        context: {
          cashAfter: null,
          reservedAfter: null,
          freeAfter: null,
          freeMarginAfter: null,
          ...(context as object)
        }
      })
    ],
    key: ["id"],
    mode: "insert",
    // A report is booked or refused at once.
    open: null,
    columns: { id: "id", partnerId: "id", clientId: "id", shard: "id", ...machineColumns, createdAt: "id" },
    reference: "collateral",
    id: ["collateral", "hot"]
  })
}
