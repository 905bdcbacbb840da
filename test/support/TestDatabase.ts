/**
 * A private, migrated PostgreSQL database for each test file, cloned from the run's template and dropped afterwards.
 * Test files never share rows, so they run in parallel and in any order.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { connect } from "node:net"
import { inject } from "vitest"

export interface TestDatabase {
  readonly url: Redacted.Redacted
  /** Drops the database, even with open connections. */
  readonly drop: () => Promise<void>
}

interface TestServer {
  readonly adminUrl: string
  readonly template: string
}

/** The run's server; the first call starts it (globalSetup.ts). `adminUrl` is a superuser's connection string. */
export const testServer = (): Promise<TestServer> =>
  new Promise((resolve, reject) => {
    let text = ""
    const connection = connect(inject("databaseSocket"))
    connection.setEncoding("utf8")
    connection.on("data", (chunk: string) => void (text += chunk))
    connection.once("error", reject)
    connection.once("end", () => {
      const answer = JSON.parse(text) as TestServer & { readonly error?: string }
      if (answer.error === undefined) resolve(answer)
      else reject(new Error(answer.error))
    })
  })

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
