/** Trading halts of ours (A2-11). */
import { type MachineRow, machineColumns, ofSystem, onlyIn, table } from "../Table.ts"

export interface TradingHaltRow extends MachineRow<"tradingHalt"> {
  readonly id: number
  /** ALL, a family, or a symbol. */
  readonly scope: string
  readonly startedAt: number
}

export const marketTables = {
  tradingHalts: table<TradingHaltRow>()({
    title: "trading halt",
    machine: "tradingHalt",
    key: ["id"],
    mode: "upsert",
    columns: { id: "id", ...machineColumns, scope: "text", startedAt: "id" },
    residence: { ...ofSystem, only: onlyIn("ACTIVE") },
    id: ["tradingHalt", "rare"]
  })
}
