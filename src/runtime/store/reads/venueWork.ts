/**
 * Work that only a venue can end: while a database has any, the service does not start without a venue (operator surface,
 * `serve`).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { catalogue, type TableName } from "../../tables/Catalogue.ts"
import { isOpen, openTables } from "../openRows.ts"

/** Tables that hold work at the venue. `rows`: its rows in words. `only`: their condition (SQL over the table); null: all. */
const tables: ReadonlyArray<{ readonly table: TableName; readonly only: string | null; readonly rows: string }> = [
  { table: "venueCalls", only: null, rows: "calls in flight" },
  ...openTables.flatMap((each) => {
    const { atVenue: rows } = each.open
    return rows === undefined ? [] : [{ table: each.table, only: isOpen(each), rows }]
  })
]

/** The open work at the venue, such as "2 calls in flight"; empty if there is none. */
export const workAtVenue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found: Array<string> = []
  for (const { table, only, rows } of tables) {
    const [counted] = yield* sql.unsafe<{ readonly n: bigint }>(
      `SELECT count(*) AS n FROM ${catalogue[table].sqlName}${only === null ? "" : ` WHERE ${only}`}`
    )
    if (counted !== undefined && counted.n > 0n) found.push(`${counted.n} ${rows}`)
  }
  return found
})
