/**
 * What a mass end could cost at the least: the rows that it wrote, written once more by plain set-based SQL into tables of the
 * same columns, indexes and checks, as many a transaction as the service's lane lets in, twice its own. Kinder than the service can be
 * to itself: the rows are in the database already, nobody decides, numbers, seals or encodes them, no trigger adds them up, and
 * nothing is read or guarded.
 */
import type { Client } from "pg"
import { internalRows } from "../../src/runtime/engine/mailbox/InternalLane.ts"
import { columnsOf, onDatabase } from "../reference/database.ts"

/** Tables to which an end adds rows; `by` orders them as they were written. */
const added = [
  { table: "audit", by: "id" },
  { table: "ledger_transactions", by: "tx_id" },
  { table: "postings", by: "posting_id" },
  { table: "settlement_items", by: "id" },
  { table: "notifications", by: "id" },
  { table: "events", by: "seq" },
  { table: "webhook_deliveries", by: "id" }
] as const

/** Tables of which an end changes rows, and the columns that it changes. */
const changed = [
  { table: "barrier_contracts", key: ["id"], set: ["state", "version", "context", "closed_at", "pnl"] },
  { table: "balances", key: ["client_id", "currency"], set: ["cash"] }
] as const

/** What was there before the end, of each table that it adds to. */
export type BeforeEnd = Readonly<Record<string, bigint>>

/** Of a table with numbers of their own for each partner only the house's rows count. */
const ownIn = (table: string, partnerId: number): string => (table === "events" ? `partner_id = ${partnerId}` : "true")

export const beforeEnd = (databaseUrl: string, partnerId: number): Promise<BeforeEnd> =>
  onDatabase(databaseUrl, async (client) => {
    const marks: Record<string, bigint> = {}
    for (const { table, by } of added) {
      const { rows } = await client.query<{ readonly last: string }>(
        `SELECT COALESCE(max(${by}), 0) AS last FROM ${table} WHERE ${ownIn(table, partnerId)}`
      )
      marks[table] = BigInt(rows[0]?.last ?? 0)
    }
    return marks
  })

/** The rows of all tables in so many batches, and one statement that writes a batch. */
const prepare = async (client: Client, before: BeforeEnd, partnerId: number) => {
  await client.query("DROP SCHEMA IF EXISTS ceiling CASCADE")
  await client.query("CREATE SCHEMA ceiling")
  const found = (table: string, by: string) =>
    `FROM ${table} WHERE ${by} > ${before[table]} AND ${ownIn(table, partnerId)}`
  const sources = [
    ...added.map(({ table, by }) => ({ table, by, from: found(table, by) })),
    ...changed.map(({ table, key }) => ({ table, by: key.join(", "), from: `FROM ${table}` }))
  ]
  let rows = 0
  for (const { from } of sources) {
    const counted = await client.query<{ readonly n: string }>(`SELECT count(*) AS n ${from}`)
    rows += Number(counted.rows[0]?.n)
  }
  const batches = Math.max(1, Math.ceil(rows / internalRows))
  for (const { table, by, from } of sources) {
    await client.query(`CREATE TABLE ceiling.${table} (LIKE public.${table} INCLUDING ALL)`)
    await client.query(
      `CREATE TABLE ceiling.${table}_source AS SELECT *, ntile(${batches}) OVER (ORDER BY ${by}) AS batch ${from}`
    )
    await client.query(`CREATE INDEX ON ceiling.${table}_source (batch)`)
  }
  const parts: Array<string> = []
  for (const { table } of added) {
    const columns = await columnsOf(client, table)
    parts.push(
      `${table}_added AS (INSERT INTO ceiling.${table} (${columns}) OVERRIDING SYSTEM VALUE
         SELECT ${columns} FROM ceiling.${table}_source WHERE batch = $1)`
    )
  }
  for (const { table, key, set } of changed) {
    const columns = await columnsOf(client, table)
    await client.query(`INSERT INTO ceiling.${table} (${columns}) SELECT ${columns} FROM ceiling.${table}_source`)
    parts.push(
      `${table}_changed AS (UPDATE ceiling.${table} t SET ${set.map((name) => `${name} = s.${name}`).join(", ")}
         FROM ceiling.${table}_source s WHERE s.batch = $1 AND ${key.map((name) => `t.${name} = s.${name}`).join(" AND ")})`
    )
  }
  await client.query("ANALYZE")
  return { batches, statement: `WITH ${parts.join(", ")} SELECT 1` }
}

/** Contracts a second. `contracts`: how many the end has ended. */
export const measureCeiling = (
  databaseUrl: string,
  {
    before,
    partnerId,
    contracts
  }: { readonly before: BeforeEnd; readonly partnerId: number; readonly contracts: number }
): Promise<number> =>
  onDatabase(databaseUrl, async (client) => {
    const { batches, statement } = await prepare(client, before, partnerId)
    const began = performance.now()
    for (let batch = 1; batch <= batches; batch++)
      await client.query({ name: "ceiling", text: statement, values: [batch] })
    const rate = (contracts * 1_000) / (performance.now() - began)
    await client.query("DROP SCHEMA ceiling CASCADE")
    return rate
  })
