/**
 * Ids of a reference program, counted in memory from the highest stored id, because it is the only writer of its
 * database. A sequence would cost a round trip or a column default for each id.
 */
import type { Pool } from "pg"

const tables = {
  report: ["collateral_reports", "id"],
  transaction: ["ledger_transactions", "tx_id"],
  posting: ["postings", "posting_id"],
  audit: ["audit", "id"],
  event: ["events", "seq"]
} as const
type Kind = keyof typeof tables

export interface ReferenceIds {
  readonly next: (kind: Kind) => number
}

export const loadReferenceIds = async (pool: Pool): Promise<ReferenceIds> => {
  const last = new Map<Kind, number>()
  for (const [kind, [table, column]] of Object.entries(tables)) {
    const { rows } = await pool.query<{ readonly last: string }>(
      `SELECT coalesce(max(${column}), 0) AS last FROM ${table}`
    )
    last.set(kind as Kind, Number(rows[0]?.last ?? 0))
  }
  return {
    next: (kind) => {
      const id = (last.get(kind) ?? 0) + 1
      last.set(kind, id)
      return id
    }
  }
}
