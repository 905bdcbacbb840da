/** Reconciliation breaks; `partnerId` and `clientId` name the scope (doc 3, Withdrawal request; A3-11). */
import { type MachineRow, machineColumns, ofSystem, onlyIn, table } from "./Table.ts"

export interface ReconBreakRow extends MachineRow<"reconBreak"> {
  readonly id: number
  readonly scope: "ALL" | "PARTNER" | "CLIENT"
  readonly partnerId: number | null
  readonly clientId: number | null
  readonly currency: string
  /** The difference in minor units of `currency`, signed; never zero. */
  readonly amount: bigint
  readonly openedAt: number
  readonly closedAt: number | null
}

const scopes: ReadonlyArray<string> = ["ALL", "PARTNER", "CLIENT"]

export const reconciliationTables = {
  reconBreaks: table<ReconBreakRow>()({
    title: "reconciliation break",
    machine: "reconBreak",
    mirrors: ({ closedAt }) => ({ closedAt }),
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      ...machineColumns,
      scope: "text",
      partnerId: "id?",
      clientId: "id?",
      currency: "text",
      amount: "money",
      openedAt: "id",
      closedAt: "id?"
    },
    check: (row) => scopes.includes(row.scope) && row.amount !== 0n,
    residence: { ...ofSystem, only: onlyIn("OPEN") },
    id: ["reconBreak", "usual"]
  })
}
