/**
 * A private, migrated PostgreSQL database for each test file, cloned from the run's template and dropped afterwards.
 * Test files never share rows, so they run in parallel and in any order.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { testServer } from "./testServer.ts"

export interface TestDatabase {
  readonly url: Redacted.Redacted
  /** Drops the database, even with open connections. */
  readonly drop: () => Promise<void>
}

/** Creates a private database. */
export const makeTestDatabase = async (): Promise<TestDatabase> => {
  const { adminUrl, template } = await testServer()
  const name = `t_${randomBytes(6).toString("hex")}`
  const admin = PgClient.layer({ url: Redacted.make(adminUrl), maxConnections: 1 })
  const onServer = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    Effect.runPromise(Effect.provide(effect, admin, { local: true }))
  await onServer(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(template)}`
    })
  )
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return {
    url: Redacted.make(url.href),
    drop: () =>
      onServer(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`
        })
      ).then(() => undefined)
  }
}
