/** The table of deposit notices, row and columns in one place (doc 3, Deposit notice). Catalogue and Rows list it. */
import type { Columns } from "./documentTables.ts"
import type { MachineRow } from "./Rows.ts"

export interface DepositNoticeRow extends MachineRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly currency: string
  /** Minor units; more than zero. */
  readonly amount: bigint
  readonly createdAt: number
  /** Null while PENDING. */
  readonly decidedAt: number | null
}

export const depositColumns: Columns<DepositNoticeRow> = {
  id: "id",
  partnerId: "id",
  clientId: "id",
  shard: "id",
  state: "text",
  version: "text",
  context: "json",
  currency: "text",
  amount: "money",
  createdAt: "id",
  decidedAt: "id"
}

/** Mailboxes hold undecided notices only. */
export const pendingNotices = {
  sql: "state = 'PENDING'",
  test: (row: { readonly state: string }): boolean => row.state === "PENDING"
}
