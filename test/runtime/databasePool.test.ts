/**
 * The pool on a network path that falls silent. Silent connections are destroyed and replaced, idle ones too, and their callers
 * receive the error of a lost connection. Long transactions continue while the server shows that it works.
 */
import { PgClient } from "@effect/sql-pg"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, ManagedRuntime } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { classify } from "../../src/runtime/engine/journal/sqlFailure.ts"
import { withinTime } from "../../src/runtime/engine/withinTime.ts"
import { layerDatabasePool } from "../../src/runtime/store/databasePool.ts"
import { inTransaction, longTransaction } from "../../src/runtime/store/transactions.ts"
import { isDeep } from "../support/every.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { type CuttingProxy, openProxy, silences } from "./engine/cuttingProxy.ts"
import { eventually } from "./engine/eventually.ts"

const application = "pool-under-test"

let database: TestDatabase
let proxy: CuttingProxy
let pool: ManagedRuntime.ManagedRuntime<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError>
beforeEach(async () => {
  database = await makeTestDatabase()
  proxy = await openProxy(database.url)
  pool = ManagedRuntime.make(
    layerDatabasePool({ url: proxy.url, maxConnections: 2, applicationName: application, quiet: 1_000 })
  )
})
afterEach(async () => {
  await pool.dispose()
  await proxy.close()
  await database.drop()
})

const run = <A, E>(
  work: (sql: PgClient.PgClient) => Effect.Effect<A, E>
): Promise<Exit.Exit<A, E | SqlError.SqlError>> => pool.runPromise(Effect.exit(Effect.flatMap(PgClient.PgClient, work)))
const one = (sql: PgClient.PgClient) => sql`SELECT 1 AS one`
const both = (sql: PgClient.PgClient) =>
  Effect.all([sql`SELECT pg_sleep(0.2)`, sql`SELECT pg_sleep(0.2)`], { concurrency: 2 })
const isLost = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && !Cause.hasDies(exit.cause) && classify(exit.cause)._tag === "Lost"

describe("a connection that becomes silent", () => {
  it.each(silences)("%s: statements in flight fail as lost, and the next statements succeed", async (silence) => {
    await run(both)
    proxy.fallSilent(silence)
    const exits = await Promise.all([run(one), run(one)])
    assert.deepStrictEqual(exits.map(isLost), [true, true])
    proxy.fallSilent(null)
    await eventually(async () => Exit.isSuccess(await run(one)))
  })

  it("the pool closes unused connections by itself: none of them leads to a lost server", async () => {
    await run(both)
    assert.strictEqual(proxy.passing(application), 2)
    proxy.fallSilent("both")
    proxy.fallSilent(null)
    await eventually(() => proxy.open(application) === 0)
    assert.isTrue(Exit.isSuccess(await run(one)))
  })

  it("the server ends the backends of silent connections, although their closing packets do not reach it", async () => {
    for (let silent = 0; silent < (isDeep ? 3 : 1); silent++) {
      await run(both)
      proxy.fallSilent("both")
      proxy.fallSilent(null)
      await eventually(() => proxy.open(application) === 0)
    }
    await eventually(async () => {
      const found = await run(
        (sql) => sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
                   WHERE application_name = ${application} AND pid <> pg_backend_pid()`
      )
      return Exit.isSuccess(found) && found.value[0]?.n === 0
    })
  })

  it("interrupted work returns its connection at once, and its statement ends at the server", async () => {
    const late = await run((sql) => withinTime(sql`SELECT pg_sleep(30)`, () => "late", "50 millis"))
    assert.deepStrictEqual(late, Exit.fail("late"))
    await eventually(async () => {
      const running = await run(
        (sql) => sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
                   WHERE query LIKE '%pg_sleep(30)%' AND state = 'active' AND pid <> pg_backend_pid()`
      )
      return Exit.isSuccess(running) && running.value[0]?.n === 0
    })
  })

  it("a transaction whose connection is lost fails as lost, and does not report its failed rollback", async () => {
    const exit = await run((sql) =>
      inTransaction(
        sql,
        Effect.andThen(
          sql`SELECT 1`,
          Effect.suspend(() => {
            proxy.cutNext("request")
            return sql`SELECT 2`
          })
        )
      )
    )
    assert.isTrue(isLost(exit))
  })
})

describe("a long transaction", () => {
  it("continues although the pool has no free connection", async () => {
    const exit = await run((sql) => {
      const reader = Effect.forever(sql`SELECT pg_sleep(0.5)`)
      const readers = Effect.all(
        Array.from({ length: 12 }, () => reader),
        { concurrency: "unbounded" }
      )
      return Effect.raceFirst(
        longTransaction(sql, (own) => own`SELECT pg_sleep(12), 7 AS seven`),
        readers
      )
    })
    assert.strictEqual(Exit.isSuccess(exit) ? exit.value[0]?.["seven"] : exit, 7)
  })

  it.runIf(isDeep)("survives the silence of a statement that is running", async () => {
    const exit = await run((sql) => longTransaction(sql, (own) => own`SELECT pg_sleep(3), 7 AS seven`))
    assert.strictEqual(Exit.isSuccess(exit) ? exit.value[0]?.["seven"] : exit, 7)
  })

  it.runIf(isDeep)("fails as lost once the server shows no work for it", async () => {
    const exit = await run((sql) =>
      longTransaction(sql, (own) => {
        proxy.fallSilent("requests")
        proxy.fallSilent(null)
        return own`SELECT 1`
      })
    )
    assert.isTrue(isLost(exit))
  })
})
