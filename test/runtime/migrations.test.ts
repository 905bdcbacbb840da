/**
 * Migrations: the schema they give is the reviewed one, running them again changes nothing, and what must never change
 * can't be changed by anybody.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { serverError } from "../../src/runtime/engine/journal/sqlFailure.ts"
import { dumpSchema } from "../../src/runtime/migrations/dumpSchema.ts"
import { m0027 } from "../../src/runtime/migrations/0027_venue_name.ts"
import { m0052 } from "../../src/runtime/migrations/0052_venue_misfits.ts"
import { m0054 } from "../../src/runtime/migrations/0054_misfit_states.ts"
import { m0063 } from "../../src/runtime/migrations/0063_last_listings.ts"
import { m0064 } from "../../src/runtime/migrations/0064_misfit_contracts.ts"
import { m0057 } from "../../src/runtime/migrations/0057_misfit_market.ts"
import { presentRow } from "../../src/runtime/engine/machine/upcast.ts"
import { catalogue } from "../../src/runtime/store/Catalogue.ts"
import { migrate } from "../../src/runtime/migrations/migrate.ts"
import { stampVenueName } from "../../src/runtime/store/ServiceStamp.ts"
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

  it("migrating again is a no-op", async () => {
    const state = () => query("SELECT migration_id, name FROM schema_migrations ORDER BY 1")
    const before = { schema: await run(dumpSchema), state: await state(), writer: await query("TABLE writer") }
    assert.isAtLeast(before.state.length, 5)
    await run(migrate)
    assert.deepStrictEqual(
      { schema: await run(dumpSchema), state: await state(), writer: await query("TABLE writer") },
      before
    )
  })
})

describe("migration 0027: the name at the venue", () => {
  const named = async (before: string): Promise<unknown> => {
    await query("ALTER TABLE service_stamp DROP COLUMN venue_name")
    await query(before)
    await run(m0027)
    const answers = [await run(stampVenueName("NAME22")), await run(stampVenueName("OTHER2"))]
    await query("DELETE FROM venue_accounts")
    return answers
  }

  it("is drawn once; a database that was at a venue goes on without one", async () => {
    await query(
      "INSERT INTO service_stamp (id, sandbox, canary, created_at) VALUES (1, true, '', 1) ON CONFLICT DO NOTHING"
    )
    assert.deepStrictEqual(await named("SELECT"), ["NAME22", "NAME22"])
    assert.deepStrictEqual(await named("INSERT INTO venue_accounts VALUES (1, 3)"), ["", ""])
    await query("DELETE FROM service_stamp")
  })
})

describe("migrations 0054, 0057 and 0064: misfits of an older version", () => {
  it("keep their reads, and get the state that their columns meant; the schema is that of a new database", async () => {
    const before = await run(dumpSchema)
    await query("DROP TABLE venue_misfits")
    await run(m0052)
    const old = [
      "(1, 1, 1, 'O-1', 'the side is SELL instead of BUY', 5, 2, 100, NULL, true)",
      "(2, 1, 1, 'A-1-7', 'it is \"closed\" early', -6, 5, 200, 9, true)",
      "(3, 1, 1, 'S-1', 'a fee', 7, 5, 300, 8, false)",
      "(4, 1, 1, 'O-2', 'a fee', 7, 0, 400, NULL, false)"
    ]
    await query(`INSERT INTO venue_misfits VALUES ${old.join(", ")}`)
    await run(m0054)
    await run(m0057)
    await query(
      "INSERT INTO rfqs VALUES (1, 1, 1, 'EXPIRED', '1', '{}', 'BTC-USDC-KO', 'USDC', 0, 1, 44, false), (2, 1, 1, 'EXPIRED', '1', '{}', 'BTC-USDC-KO', 'USDC', 0, 1, 45, false)"
    )
    await run(m0064)
    await query("DELETE FROM rfqs")
    assert.strictEqual(await run(dumpSchema), before)
    const rows = (await query("SELECT * FROM venue_misfits ORDER BY id")).map((row) =>
      presentRow(catalogue.venueMisfits, row)
    )
    const read = (misfitId: number, ref: string, reason: string, at: number, reads: number) => ({
      context: { misfitId, ref, reason, at, reads, isAwaited: false },
      market: { bands: [], isListed: null }
    })
    assert.deepStrictEqual(
      rows.map(({ state, context, market }) => [state, { context, market }]),
      [
        ["READING", read(1, "O-1", "the side is SELL instead of BUY", 100, 2)],
        ["STANDING", read(2, "A-1-7", 'it is "closed" early', 200, 5)],
        ["ENDED", read(3, "S-1", "a fee", 300, 5)],
        ["ENDED", read(4, "O-2", "a fee", 400, 0)]
      ]
    )
    assert.deepStrictEqual(
      rows.map((row) => [row["ref"], row["worth"], row["break_id"], row["contract_id"]]),
      [
        ["O-1", 5n, null, null],
        ["A-1-7", -6n, 9n, 44n],
        ["S-1", 7n, 8n, null],
        ["O-2", 7n, null, null]
      ]
    )
    await query("DELETE FROM venue_misfits")
  })
})

describe("migration 0063: the last listing", () => {
  it("of a database of an older version is none, until one is kept", async () => {
    const before = await run(dumpSchema)
    await query("DROP TABLE last_listings")
    await run(m0063)
    assert.strictEqual(await run(dumpSchema), before)
    assert.deepStrictEqual(await query("SELECT * FROM last_listings"), [])
  })
})

describe("A2-62: what is never changed", () => {
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
