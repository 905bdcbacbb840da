/**
 * Ids of the reference of the onboarding part, counted in memory from the highest stored id, because it is the only
 * writer of its database. Copied clients have far higher ids, which do not count.
 */
import type { Pool } from "pg"

const tables = {
  client: ["clients", "id"],
  package: ["kyc_packages", "id"],
  session: ["identity_sessions", "id"],
  run: ["screening_runs", "id"],
  decision: ["decisions", "id"],
  audit: ["audit", "id"],
  event: ["events", "seq"]
} as const
type Kind = keyof typeof tables

export interface ReferenceIds {
  readonly next: (kind: Kind) => number
}

/** The limit of the reference's own ids; copied rows have higher ones (storedClients.ts). */
const highestOwn = 1_000_000

export const loadReferenceIds = async (pool: Pool): Promise<ReferenceIds> => {
  const last = new Map<Kind, number>()
  for (const [kind, [table, column]] of Object.entries(tables)) {
    const { rows } = await pool.query<{ readonly last: string }>(
      `SELECT coalesce(max(${column}), 0) AS last FROM ${table} WHERE ${column} <= $1`,
      [highestOwn]
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
