/**
 * Reference databases: on the same PostgreSQL server as the service's database, with the same tables and indexes, the
 * same partner, key and clients. They lack the triggers that check sums and refuse changes, because only the service's
 * design needs these. They have the house account as a row.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Client } from "pg"
import { migrate } from "../../src/runtime/migrations/migrate.ts"

const copied = ["partners", "api_keys", "clients", "subjects"] as const

const triggers = [
  ["postings", "postings_balance"],
  ["postings", "postings_insert_only"],
  ["ledger_transactions", "ledger_transactions_insert_only"],
  ["events", "events_insert_only"],
  ["audit", "audit_insert_only"]
] as const

/** Runs `work` on a connection of its own. */
export const onDatabase = async <A>(url: string, work: (client: Client) => Promise<A>): Promise<A> => {
  const client = new Client({ connectionString: url })
  client.on("error", () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The columns of a table that an insert writes; generated columns are left out. */
export const columnsOf = async (client: Client, table: string): Promise<string> => {
  const { rows } = await client.query<{ readonly names: string }>(
    `SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) AS names FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER'`,
    [table]
  )
  return rows[0]?.names ?? ""
}

/** Makes database `name` beside the service's and copies partner, key and clients. Returns its connection string. */
export const makeReferenceDatabase = async (serviceUrl: string, name: string): Promise<string> => {
  const address = new URL(serviceUrl)
  address.pathname = `/${name}`
  const url = address.href
  await onDatabase(serviceUrl, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${name}`)
  })
  await Effect.runPromise(
    Effect.provide(migrate, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }), { local: true })
  )
  await onDatabase(serviceUrl, (from) => onDatabase(url, (to) => copyRows(from, to)))
  return url
}

const copyRows = async (from: Client, to: Client): Promise<void> => {
  for (const [table, trigger] of triggers) await to.query(`DROP TRIGGER IF EXISTS ${trigger} ON ${table}`)
  await to.query("ALTER TABLE subjects ADD COLUMN audit_head text NOT NULL DEFAULT repeat('0', 64)")
  await to.query(
    "CREATE TABLE house_balances (account text PRIMARY KEY, amount bigint NOT NULL) WITH (fillfactor = 10)"
  )
  for (const table of copied) {
    const { rows } = await from.query<{ readonly all: string | null }>(
      `SELECT json_agg(t)::text AS all FROM ${table} t`
    )
    const columns = table === "subjects" ? "subject, token" : "*"
    const target = table === "subjects" ? "subjects (subject, token)" : table
    await to.query(`INSERT INTO ${target} SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`, [
      rows[0]?.all ?? "[]"
    ])
  }
  await to.query(`INSERT INTO balances (client_id, currency, partner_id, cash, reserved, deposited)
                  SELECT id, 'USDC', partner_id, 0, 0, 0 FROM clients`)
  await to.query("INSERT INTO house_balances (account, amount) SELECT 'partner_custody:' || id, 0 FROM partners")
  await to.query("VACUUM ANALYZE")
}
