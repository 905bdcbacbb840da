/** Trading halts of ours (A2-11), and the last marks that holdings and deposits are valued by (F23, F25). */
import { type MachineRow, machineColumns, ofSystem, onlyIn, table } from "../Table.ts"

export interface TradingHaltRow extends MachineRow<"tradingHalt"> {
  readonly id: number
  /** ALL, a family, or a symbol. */
  readonly scope: string
  readonly startedAt: number
}

/** The last mark of a SPOT market that was kept. */
export interface LastMarkRow {
  readonly symbol: string
  /** Decimal string, on the market's grid. */
  readonly price: string
  /** The venue's time of it, Unix ms. */
  readonly at: number
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
  }),
  lastMarks: table<LastMarkRow>()({
    title: "last mark",
    machine: null,
    key: ["symbol"],
    mode: "upsert",
    columns: { symbol: "text", price: "text", at: "id" }
  })
}
