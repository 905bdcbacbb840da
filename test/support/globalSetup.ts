/**
 * One embedded PostgreSQL for the whole test run, and one stopped cluster that services with their own PostgreSQL copy,
 * in a temporary folder that is removed afterwards. Each is made at its first request over a local socket, so runs of
 * pure tests make neither.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { leftInMemory, useMemory } from "./memoryFolder.ts"
import { testServerVariable } from "./testServer.ts"

const prefix = "brokerage-test-"

/** The database from which every test database is cloned. */
const template = "template_brokerage"

interface RunningServer {
  readonly adminUrl: string
  readonly close: () => Promise<void>
}

/** Called once by vitest before the first test file; the returned function runs after the last one. */
export default async function globalSetup() {
  const leaveMemory = useMemory()
  const folder = mkdtempSync(join(tmpdir(), prefix))
  const socket = process.platform === "win32" ? `\\\\.\\pipe\\${folder.replaceAll(/\W/g, "-")}` : join(folder, "socket")
  let starting: Promise<RunningServer> | undefined
  let making: Promise<string> | undefined
  const answers: Readonly<Record<string, () => Promise<object>>> = {
    server: async () => ({ adminUrl: (await (starting ??= startServer(join(folder, "data")))).adminUrl, template }),
    cluster: async () => ({ cluster: await (making ??= makeCluster(join(folder, "cluster"))) })
  }
  const broker = createServer({ allowHalfOpen: true }, (connection) => {
    let request = ""
    connection.on("error", () => undefined) // a test file that ended meanwhile
    connection.on("data", (chunk) => void (request += chunk.toString()))
    connection.on("end", () => {
      const answer = answers[request] ?? (() => Promise.reject(new Error(`no request "${request}"`)))
      answer().then(
        (found) => connection.end(JSON.stringify(found)),
        (error: unknown) => connection.end(JSON.stringify({ error: String(error) }))
      )
    })
  })
  await listening(broker, socket)
  process.env[testServerVariable] = socket
  return async () => {
    await new Promise((resolve) => broker.close(resolve))
    await starting?.then(
      (server) => server.close(),
      () => undefined
    )
    rmSync(folder, { recursive: true, force: true })
    leaveMemory()
  }
}

const listening = (broker: Server, socket: string) =>
  new Promise<void>((resolve, reject) => {
    broker.once("error", reject)
    broker.listen(socket, resolve)
  })

/**
 * Stops the servers of killed test runs and removes their files: the supervisor keeps a server running after kill -9 on
 * purpose.
 */
const removeLeftovers = async () => {
  await removeFrom(tmpdir())
  for (const left of leftInMemory()) {
    await removeFrom(left)
    rmSync(left, { recursive: true, force: true })
  }
}

const removeFrom = async (place: string) => {
  const { isPostmasterOf, isRunning, lockDirectory, readPostmasterPid } =
    await import("../../src/runtime/adapters/postmasterPid.ts")
  for (const name of readdirSync(place).filter((each) => each.startsWith(prefix))) {
    const data = join(place, name, "data")
    // No lock: a run that is starting or ending. A lock that cannot be taken: a run that lives.
    if (!existsSync(join(data, "supervisor.lock")) || lockDirectory(data) === undefined) continue
    const server = readPostmasterPid(join(data, "cluster"))
    if (server !== undefined && isPostmasterOf(server.pid, join(data, "cluster"))) {
      process.kill(server.pid, "SIGQUIT")
      for (let round = 0; round < 250 && isRunning(server.pid); round++) await pause(20)
    }
    rmSync(join(place, name), { recursive: true, force: true })
  }
}

const startServer = async (dataDirectory: string): Promise<RunningServer> => {
  const { Effect, Exit, Redacted, Scope } = await import("effect")
  const { EmbeddedPostgres } = await import("../../src/runtime/adapters/EmbeddedPostgres.ts")
  // Leftovers of another user can't be removed, and are no reason to fail.
  await removeLeftovers().catch(() => undefined)
  const scope = await Effect.runPromise(Scope.make())
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const server = await Effect.runPromise(EmbeddedPostgres.start({ dataDirectory }).pipe(Scope.provide(scope)))
    const adminUrl = Redacted.value(server.url)
    await makeTemplate(adminUrl)
    return { adminUrl, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A stopped cluster whose database `brokerage` is migrated: initdb and the migrations take two seconds of a processor. */
const makeCluster = async (dataDirectory: string): Promise<string> => {
  const { Effect, Redacted } = await import("effect")
  const { EmbeddedPostgres } = await import("../../src/runtime/adapters/EmbeddedPostgres.ts")
  const starting = EmbeddedPostgres.start({ dataDirectory })
  const migrating = Effect.flatMap(starting, ({ url }) => Effect.promise(() => migrateOn(Redacted.value(url))))
  await Effect.runPromise(Effect.scoped(migrating))
  rmSync(join(dataDirectory, "port"))
  return dataDirectory
}

/**
 * Creates the migrated database from which test databases are cloned: a clone takes 35 ms, the migrations much longer.
 */
const makeTemplate = async (adminUrl: string) => {
  const { Effect } = await import("effect")
  const { SqlClient } = await import("effect/sql")
  await on(
    adminUrl,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE DATABASE ${sql(template)}`
    })
  )
  const url = new URL(adminUrl)
  url.pathname = `/${template}`
  await migrateOn(url.href)
}

const on = async <A, E>(url: string, effect: Effect.Effect<A, E, SqlClient.SqlClient>): Promise<A> => {
  const { Effect, Redacted } = await import("effect")
  const { PgClient } = await import("@effect/sql-pg")
  return Effect.runPromise(Effect.provide(effect, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
}

const migrateOn = async (url: string): Promise<void> => {
  const { migrate } = await import("../../src/runtime/migrations/migrate.ts")
  await on(url, migrate)
}
