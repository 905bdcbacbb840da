/**
 * The bytes that a system has written to its database so far. The difference of two readings is the amount between
 * them.
 */
import { onDatabase } from "./reference/database.ts"

export interface Written {
  /** Bytes of all its tables with their indexes. */
  readonly tableBytes: number
  /** Bytes of the write-ahead log, which all databases of a server share. */
  readonly logBytes: number
}

export const writtenTo = (databaseUrl: string): Promise<Written> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly tables: string; readonly log: string }>(
      `SELECT (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
                WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace) AS tables,
              pg_current_wal_lsn() - '0/0'::pg_lsn AS log`
    )
    const { tables, log } = rows[0] as (typeof rows)[number]
    return { tableBytes: Number(tables), logBytes: Number(log) }
  })

/** Bytes per action, for `count` actions between two readings. */
export const writtenEach = (before: Written, after: Written, count: number): Written => ({
  tableBytes: (after.tableBytes - before.tableBytes) / Math.max(1, count),
  logBytes: (after.logBytes - before.logBytes) / Math.max(1, count)
})
