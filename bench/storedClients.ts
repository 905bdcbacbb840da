/**
 * A large house of clients without an onboarding for each: every row that onboarding stored for one client is copied in
 * the database under new ids, references and e-mail addresses. Audit rows, decisions and events are not copied, because
 * their seals and numbers belong to the service. Money is not copied either.
 */
import type { Client } from "pg"
import { markScreened } from "./markScreened.ts"
import { onDatabase } from "./reference/database.ts"

/** The first id of copied clients, far above the ids of the service. */
export const firstStoredId = 1_000_000_000

const copiedTables = [
  "clients",
  "verification_blocks",
  "block_payloads",
  "kyc_packages",
  "kyc_revisions",
  "identity_sessions",
  "reporting_records",
  "screening_runs"
] as const

const newClient = `(${firstStoredId} + g)`

/** The SQL that replaces a column of a copy; `t` is the copied row, `g` its number. Other columns stay. */
const replacement = (table: string, column: string): string => {
  if (column === "client_id" || (table === "clients" && column === "id")) return newClient
  // The ids keep several rows of one client distinct, and the copies of each row too.
  if (column === "id" || column === "package_id") return `t.${column} * 1000000 + g`
  if (column === "shard") return `${newClient} % 1024`
  if (column === "uid") return `t.uid || '-' || g`
  if (column === "partner_client_ref") return `'stored-' || g`
  if (column === "email") return `'stored.' || g || '@mail.example'`
  // The service has several keys of a person in one text; a reference program has one.
  if (column === "person_key") return `regexp_replace(t.person_key, '(\\S+)', '\\1-' || g, 'g')`
  return `t.${column}`
}

const columnsOf = async (client: Client, table: string): Promise<ReadonlyArray<string>> => {
  const { rows } = await client.query<{ readonly name: string }>(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1 ORDER BY ordinal_position",
    [table]
  )
  return rows.map((row) => row.name)
}

/** Copies the rows of client `template` in one table, `count` times. Copied clients lack the rows of other tables. */
export const copyRows = async (
  client: Client,
  table: (typeof copiedTables)[number],
  template: number,
  count: number
): Promise<void> => {
  const columns = await columnsOf(client, table)
  const owner = table === "clients" ? "id" : "client_id"
  await client.query(
    `INSERT INTO ${table} (${columns.join(", ")})
     SELECT ${columns.map((column) => replacement(table, column)).join(", ")}
       FROM ${table} t, generate_series(1, $2::bigint) AS g WHERE t.${owner} = $1`,
    [template, count]
  )
}

/** Copies client `template` `count` times. Returns the new ids. */
export const storeClients = (databaseUrl: string, template: number, count: number): Promise<ReadonlyArray<number>> =>
  onDatabase(databaseUrl, async (client) => {
    await client.query("BEGIN")
    for (const table of copiedTables) await copyRows(client, table, template, count)
    await client.query(
      `INSERT INTO subjects (subject, token) SELECT 'client:' || ${newClient}, t.token
         FROM subjects t, generate_series(1, $2::bigint) AS g WHERE t.subject = 'client:' || $1::bigint`,
      [template, count]
    )
    await client.query(
      `INSERT INTO timers (subject, name, due_at) SELECT 'client:' || ${newClient}, t.name, t.due_at
         FROM timers t, generate_series(1, $2::bigint) AS g WHERE t.subject = 'client:' || $1::bigint`,
      [template, count]
    )
    await client.query(
      `INSERT INTO claims (name, owner)
       SELECT kind || CASE kind WHEN 'ref:' THEN c.partner_id || ':' || c.partner_client_ref
                                WHEN 'email:' THEN c.email ELSE c.person_key END, c.id
         FROM clients c, (VALUES ('ref:'), ('email:'), ('person:')) AS k(kind) WHERE c.id > ${firstStoredId}`
    )
    await markScreened(client)
    await client.query("COMMIT")
    await client.query("ANALYZE")
    return Array.from({ length: count }, (_, index) => firstStoredId + index + 1)
  })
