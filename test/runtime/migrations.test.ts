/**
 * Migrations give the reviewed schema, a second run changes nothing, a database from before the baseline is refused,
 * and append-only tables refuse every change.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { serverError } from "../../src/runtime/engine/journal/sqlFailure.ts"
import { dumpSchema } from "../../src/runtime/migrations/dumpSchema.ts"
import { m0064 } from "../../src/runtime/migrations/0064_misfit_contracts.ts"
import { migrate } from "../../src/runtime/migrations/migrate.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

let database: TestDatabase
let scope: Scope.Closeable
let sql: PgClient.PgClient
let context: Context.Context<PgClient.PgClient | SqlClient.SqlClient>

beforeAll(async () => {
  database = await makeTestDatabase()
  scope = await Effect.runPromise(Scope.make())
  context = await Effect.runPromise(
    Layer.buildWithScope(PgClient.layer({ url: database.url, maxConnections: 1 }), scope)
  )
  sql = Context.get(context, PgClient.PgClient)
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await database.drop()
})

const run = <A, E>(effect: Effect.Effect<A, E, PgClient.PgClient | SqlClient.SqlClient>) =>
  Effect.runPromise(Effect.provide(effect, context))
const query = (statement: string) => run(sql.unsafe<Record<string, unknown>>(statement))

describe("schema", () => {
  it("the migrated schema is src/runtime/migrations/schema.sql (else run scripts/dumpSchema.ts)", async () => {
    const file = join(import.meta.dirname, "../../src/runtime/migrations/schema.sql")
    assert.strictEqual(await run(dumpSchema), readFileSync(file, "utf8"))
  })

  it("the dump shows every change of the schema", async () => {
    const before = await run(dumpSchema)
    const changes = [
      ["ALTER TABLE claims ADD COLUMN extra text", "ALTER TABLE claims DROP COLUMN extra"],
      ["CREATE INDEX claims_owner ON claims (owner)", "DROP INDEX claims_owner"],
      ["ALTER TABLE claims ALTER COLUMN owner DROP NOT NULL", "ALTER TABLE claims ALTER COLUMN owner SET NOT NULL"],
      ["ALTER TABLE claims ADD CONSTRAINT positive CHECK (owner > 0)", "ALTER TABLE claims DROP CONSTRAINT positive"],
      [
        "ALTER TABLE audit DISABLE TRIGGER audit_insert_only",
        "ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_insert_only"
      ],
      ["CREATE SEQUENCE id_new", "DROP SEQUENCE id_new"],
      ["CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION one"]
    ] as const
    for (const [change, undo] of changes) {
      await query(change)
      assert.notStrictEqual(await run(dumpSchema), before, change)
      await query(undo)
      assert.strictEqual(await run(dumpSchema), before, undo)
    }
  })

  it("a second migration changes nothing", async () => {
    const state = () => query("SELECT migration_id, name FROM schema_migrations ORDER BY 1")
    const before = { schema: await run(dumpSchema), state: await state(), writer: await query("TABLE writer") }
    assert.isNotEmpty(before.state)
    await run(migrate)
    assert.deepStrictEqual(
      { schema: await run(dumpSchema), state: await state(), writer: await query("TABLE writer") },
      before
    )
  })
})

describe("the baseline", () => {
  const rows = () => query("SELECT migration_id FROM schema_migrations ORDER BY 1")

  it("is the only migration that a new database runs up to it", async () => {
    assert.deepStrictEqual((await rows())[0], { migration_id: 63 })
    assert.deepStrictEqual(await query("SELECT epoch, batch, owner FROM writer"), [
      { epoch: 0n, batch: 0n, owner: "nobody" }
    ])
  })

  it("a database that an earlier version migrated to it continues from there", async () => {
    const schema = await run(dumpSchema)
    await query("UPDATE writer SET epoch = 7, owner = 'an earlier version'")
    await query("INSERT INTO schema_migrations (migration_id, name) SELECT n, 'earlier' FROM generate_series(1, 62) n")
    const before = await rows()
    await run(migrate)
    assert.deepStrictEqual([await run(dumpSchema), await rows()], [schema, before])
    assert.deepStrictEqual(await query("SELECT epoch FROM writer"), [{ epoch: 7n }])
  })

  it("an older database is refused by a sentence that names the version to migrate with, and stays as it is", async () => {
    const schema = await run(dumpSchema)
    const kept = await query("SELECT * FROM schema_migrations WHERE migration_id >= 63")
    await query("DELETE FROM schema_migrations WHERE migration_id > 54")
    const refusal = await run(Effect.flip(migrate))
    assert.strictEqual(
      refusal.message,
      "The database has the schema of an earlier version (migration 54; this version goes on from 63): start version 0.1.0 on it once, then this one."
    )
    assert.deepStrictEqual([await run(dumpSchema), (await rows()).length], [schema, 54])
    await query("DELETE FROM schema_migrations")
    for (const { migration_id: id, name } of kept)
      await query(`INSERT INTO schema_migrations VALUES (${id}, now(), '${name}')`)
  })
})

describe("migration 0064", () => {
  it("A2-115: a misfit of a request to close gets the contract, one that has ended does not", async () => {
    await query("ALTER TABLE venue_misfits DROP COLUMN contract_id")
    const rfq = (id: number, contract: number) =>
      `(${id}, 1, 1, 'EXPIRED', '1', '{}', 'BTC-USDC-KO', 'USDC', 0, 1, ${contract}, false)`
    await query(`INSERT INTO rfqs VALUES ${rfq(1, 44)}, ${rfq(2, 45)}`)
    const misfit = (id: number, ref: string, state: string) =>
      `(${id}, 1, 1, '${ref}', 5, 1, NULL, '${state}', '2', '{}', '{}')`
    await query(
      `INSERT INTO venue_misfits (id, partner_id, client_id, ref, worth, at, break_id, state, version, context, market)
       VALUES ${misfit(1, "A-1-7", "STANDING")}, ${misfit(2, "R-2", "READING")}, ${misfit(3, "R-1", "ENDED")}, ${misfit(4, "O-1", "READING")}`
    )
    await run(m0064)
    assert.deepStrictEqual(await query("SELECT id, contract_id FROM venue_misfits ORDER BY id"), [
      { id: 1n, contract_id: 44n },
      { id: 2n, contract_id: 45n },
      { id: 3n, contract_id: null },
      { id: 4n, contract_id: null }
    ])
    for (const table of ["venue_misfits", "rfqs"]) await query(`DELETE FROM ${table}`)
  })
})

describe("A2-62: rows that never change", () => {
  const rows: { readonly [table: string]: string } = {
    events: "(1, 1, 'client.status', NULL, '{}', 1)",
    decisions: "(1, 1, 1, 'GRANTED', 'clean', 'system', 1)",
    audit: "(1, 1, 'PARTNER', 'main', 'r', NULL, NULL, NULL, 'a', NULL, NULL, NULL)",
    ledger_transactions: "(1, 'k', 'MANUAL', 'desk', NULL, NULL, 1, '{}', 1)",
    seals: "(1, 'h', 1, 1, 1, 1, 1, 1)",
    postings: "(1, 1, 'client:1', 1, 1, 'USDC', 'cash', 5), (2, 1, 'manual', NULL, 1, 'USDC', 'cash', -5)"
  }
  for (const [table, values] of Object.entries(rows)) {
    it(`${table}: UPDATE, DELETE and TRUNCATE are refused, for the superuser and as a replica too`, async () => {
      await query(`INSERT INTO ${table} VALUES ${values}`)
      assert.deepStrictEqual(await query("SELECT usesuper FROM pg_user WHERE usename = current_user"), [
        { usesuper: true }
      ])
      const before = await query(`TABLE ${table}`)
      const column = table === "audit" ? "action = 'b'" : table === "seals" ? "hash = 'b'" : "partner_id = 2"
      for (const role of ["origin", "replica"]) {
        await query(`SET session_replication_role = ${role}`)
        for (const statement of [`UPDATE ${table} SET ${column}`, `DELETE FROM ${table}`, `TRUNCATE ${table}`]) {
          const refusal = await run(Effect.flip(sql.unsafe(statement)))
          assert.strictEqual(serverError(refusal)?.code, "BJ002", `${statement} as ${role}`)
        }
      }
      await query("SET session_replication_role = origin")
      assert.deepStrictEqual(await query(`TABLE ${table}`), before)
    })
  }

  it("an unbalanced transaction is refused as a replica too", async () => {
    await query("SET session_replication_role = replica")
    const refusal = await run(
      Effect.flip(sql.unsafe("INSERT INTO postings VALUES (9, 9, 'client:1', 1, 1, 'USDC', 'cash', 5)"))
    )
    await query("SET session_replication_role = origin")
    assert.strictEqual(serverError(refusal)?.code, "23514")
  })
})
