/**
 * The embedded PostgreSQL, really started: set-up, restart, adoption after a killed parent, refusal, durability checks.
 * Waits poll facts (a changed pid, a printed line), never a fixed time.
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { type ChildProcess, spawn } from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import {
  checkDurability,
  durabilityViolations,
  EmbeddedPostgres,
  type EmbeddedPostgresOptions
} from "../../src/runtime/adapters/EmbeddedPostgres.ts"
import { hydrateSymlinks, postgresBinaries } from "../../src/runtime/adapters/postgresBinaries.ts"
import {
  isPostmasterOf,
  isRunning,
  lockDirectory,
  parsePostmasterPid,
  processStamp,
  readPostmasterPid
} from "../../src/runtime/adapters/postmasterPid.ts"
import { makeTestDatabase } from "../support/TestDatabase.ts"
import { expectLog } from "../support/expectLog.ts"

const folders: Array<string> = []
const children: Array<ChildProcess> = []
const folder = () => {
  const made = Fs.mkdtempSync(join(tmpdir(), "brokerage-pg-"))
  folders.push(made)
  return made
}

afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
  for (const each of folders) {
    const server = readPostmasterPid(join(each, "cluster"))
    // Reached only if a test failed half-way: its server must not keep running.
    if (server !== undefined && isPostmasterOf(server.pid, join(each, "cluster"))) process.kill(server.pid, "SIGQUIT")
    Fs.rmSync(each, { recursive: true, force: true, maxRetries: 10 })
  }
})

const query = <A, E>(url: Redacted.Redacted, effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  effect.pipe(
    Effect.provide(PgClient.layer({ url, maxConnections: 1, connectTimeout: "5 seconds" }), { local: true }),
    Effect.scoped
  )

const one = (url: Redacted.Redacted, expression: string) =>
  query(
    url,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly value: unknown }>`SELECT ${sql.literal(expression)} AS value`
      return rows[0]?.value
    })
  )

const eventually = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, Schedule.max([Schedule.spaced("50 millis"), Schedule.recurs(300)]))

const waitFor = (fact: () => boolean) =>
  eventually(Effect.suspend(() => (fact() ? Effect.void : Effect.fail(new Error("not yet")))))

describe("one running server", () => {
  const dataDirectory = folder()
  let scope: Scope.Closeable
  let server: EmbeddedPostgres["Service"]
  const start = (options: EmbeddedPostgresOptions) => EmbeddedPostgres.start(options).pipe(Scope.provide(scope))

  beforeAll(async () => {
    scope = await Effect.runPromise(Scope.make())
    server = await Effect.runPromise(start({ dataDirectory }))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  it.live.each([
    ["current_setting('server_encoding')", "UTF8"],
    ["lower('ÀÉÎ')", "àéî"],
    ["current_setting('data_checksums')", "on"],
    ["current_setting('password_encryption')", "scram-sha-256"],
    ["current_setting('listen_addresses')", "127.0.0.1"],
    ["current_setting('unix_socket_directories')", ""],
    ["current_setting('fsync')", "on"],
    ["current_database()", "brokerage"],
    ["(SELECT datlocprovider::text FROM pg_database WHERE datname = current_database())", "b"]
  ] as const)("serve: the embedded server has %s = %s", ([expression, expected]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* one(server.url, expression), expected)
    })
  )

  it.live("serve: the embedded server passes the durability check", () => query(server.url, checkDurability))

  it.live("serve: a database that may lose commits is refused with one sentence per reason", () =>
    Effect.gen(function* () {
      const error = yield* query(
        server.url,
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`SET synchronous_commit = off`
          yield* checkDurability
        })
      ).pipe(Effect.flip)
      assert.strictEqual(
        error.message,
        "The database runs with synchronous_commit off and could lose acknowledged requests; switch it on."
      )
    })
  )

  it("serve: the password file is readable by its owner only", () => {
    assert.strictEqual(Fs.statSync(join(dataDirectory, "password")).mode & 0o777, 0o600)
    assert.strictEqual(Fs.statSync(join(dataDirectory, "postgres.log")).mode & 0o777, 0o600)
    assert.include(Redacted.value(server.url), Fs.readFileSync(join(dataDirectory, "password"), "utf8").trim())
    assert.notInclude(String(server.url), "postgres://")
  })

  it.live("serve: neither statements nor row values reach the server's log", () =>
    Effect.gen(function* () {
      const refused = query(
        server.url,
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`CREATE TEMP TABLE person (name text PRIMARY KEY)`
          yield* sql`INSERT INTO person SELECT 'Secret Name' FROM generate_series(1, 2)`
        })
      )
      yield* Effect.flip(refused)
      const log = Fs.readFileSync(join(dataDirectory, "postgres.log"), "utf8")
      assert.include(log, "duplicate key value violates unique constraint")
      assert.notInclude(log, "Secret Name")
    })
  )

  it.live("serve: a wrong password is refused", () =>
    Effect.gen(function* () {
      const url = new URL(Redacted.value(server.url))
      url.password = "wrong"
      assert.isTrue(Exit.isFailure(yield* Effect.exit(one(Redacted.make(url.href), "1"))))
    })
  )

  it.live("serve: the server is in a session of its own, so Ctrl-C does not reach it", () =>
    Effect.gen(function* () {
      const pid = yield* server.pid
      const fields = Fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")
      assert.strictEqual(fields?.[3], String(pid))
    })
  )

  it.live("serve: a second service on the same data directory is refused", () =>
    Effect.gen(function* () {
      let isLocked = false
      const whenLocked = Effect.sync(() => (isLocked = true))
      const error = yield* start({ dataDirectory, whenLocked }).pipe(Effect.flip)
      assert.strictEqual(error.message, "The data directory is in use by another running brokerage service.")
      assert.isFalse(isLocked, "it would end the venue of the running service")
      assert.strictEqual(yield* one(server.url, "1"), 1)
    })
  )

  it.live("serve: kill -9 of the server: it runs again on the same port, and committed rows exist", () =>
    Effect.gen(function* () {
      expectLog(/the embedded PostgreSQL (ended unexpectedly|runs again)/)
      const before = yield* server.pid
      yield* query(
        server.url,
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`CREATE TABLE kept (n integer)`
          yield* sql`INSERT INTO kept VALUES (42)`
        })
      )
      process.kill(before, "SIGKILL")
      yield* eventually(Effect.filterOrFail(server.pid, (pid) => pid !== before))
      assert.strictEqual(yield* eventually(one(server.url, "(SELECT n FROM kept)")), 42)
      assert.isTrue(isPostmasterOf(yield* server.pid, join(dataDirectory, "cluster")))
    })
  )
})

describe("processes", () => {
  /** A service in a process of its own: starts the server, prints its pid, waits. `unshare` makes it an ordinary user. */
  const parent = (dataDirectory: string, asUser: boolean) => {
    const adapter = pathToFileURL(join(import.meta.dirname, "../../src/runtime/adapters/EmbeddedPostgres.ts")).href
    const script = `
      import { Effect } from "effect"
      import { EmbeddedPostgres } from ${JSON.stringify(adapter)}
      const program = Effect.gen(function* () {
        const server = yield* EmbeddedPostgres.start({ dataDirectory: ${JSON.stringify(dataDirectory)} })
        console.log("PID=" + (yield* server.pid) + " UID=" + process.getuid())
        yield* Effect.never
      })
      const controller = new AbortController()
      process.on("SIGTERM", () => controller.abort())
      Effect.runPromiseExit(Effect.scoped(program), { signal: controller.signal }).then((exit) => {
        if (!controller.signal.aborted) console.log(String(exit.cause))
      })`
    const node = [process.execPath, "--input-type=module", "-e", script]
    const line = asUser ? ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", ...node] : node
    const child = spawn(line[0]!, line.slice(1), {
      stdio: ["ignore", "pipe", "inherit"],
      cwd: join(import.meta.dirname, "../..")
    })
    children.push(child)
    let output = ""
    child.stdout.on("data", (chunk: Buffer) => void (output += chunk.toString("utf8")))
    const found = (name: string) => Number(new RegExp(`${name}=(\\d+)`).exec(output)?.[1])
    const started = Effect.map(
      waitFor(() => /PID=\d+ UID=\d+\n/.test(output)),
      () => ({ pid: found("PID"), uid: found("UID") })
    )
    return { child, started }
  }
  const gone = (child: ChildProcess) => waitFor(() => child.exitCode !== null || child.signalCode !== null)

  it.live("serve: kill -9 of the service: its server lives on and the next start adopts it", () =>
    Effect.gen(function* () {
      const dataDirectory = folder()
      const first = parent(dataDirectory, false)
      const { pid } = yield* first.started
      first.child.kill("SIGKILL")
      yield* gone(first.child)
      assert.isTrue(isRunning(pid))
      yield* Effect.scoped(
        Effect.gen(function* () {
          expectLog(/the service adopted the embedded PostgreSQL/)
          const server = yield* EmbeddedPostgres.start({ dataDirectory })
          assert.strictEqual(yield* server.pid, pid)
          assert.strictEqual(yield* one(server.url, "1"), 1)
          // An adopted server is supervised like one of our own.
          expectLog(/the embedded PostgreSQL (ended unexpectedly|runs again)/)
          process.kill(pid, "SIGKILL")
          yield* eventually(Effect.filterOrFail(server.pid, (now) => now !== pid))
          assert.strictEqual(yield* eventually(one(server.url, "1")), 1)
        })
      )
      assert.isFalse(Fs.existsSync(join(dataDirectory, "cluster/postmaster.pid")))
      assert.isFalse(Fs.existsSync(join(dataDirectory, "supervisor.lock")))
    })
  )

  it.live("serve: as an ordinary user the same server starts without a user namespace, and SIGTERM ends both", () =>
    Effect.gen(function* () {
      const service = parent(folder(), process.getuid?.() === 0)
      const { pid, uid } = yield* service.started
      assert.notStrictEqual(uid, 0)
      assert.isTrue(isRunning(pid))
      service.child.kill("SIGTERM")
      yield* gone(service.child)
      assert.strictEqual(service.child.exitCode, 0)
      assert.isFalse(isRunning(pid))
    })
  )

  it.live(
    "serve: our server with another password: it is stopped and started again, then refused with a sentence",
    () =>
      Effect.gen(function* () {
        const dataDirectory = folder()
        const first = parent(dataDirectory, false)
        const { pid } = yield* first.started
        first.child.kill("SIGKILL")
        yield* gone(first.child)
        Fs.writeFileSync(join(dataDirectory, "password"), "another\n")
        const error = yield* EmbeddedPostgres.start({ dataDirectory }).pipe(Effect.scoped, Effect.flip)
        assert.strictEqual(error.message, "The embedded PostgreSQL does not accept the password of its data directory.")
        assert.isFalse(isRunning(pid))
        assert.isFalse(Fs.existsSync(join(dataDirectory, "cluster/postmaster.pid")))
      })
  )

  it.live("serve: a pid file that names a living process of another program does not prevent the start", () =>
    Effect.gen(function* () {
      const dataDirectory = folder()
      const port = yield* Effect.scoped(
        Effect.map(EmbeddedPostgres.start({ dataDirectory }), (server) => new URL(Redacted.value(server.url)).port)
      )
      const stranger = spawn("sleep", ["60"])
      children.push(stranger)
      const cluster = join(dataDirectory, "cluster")
      Fs.writeFileSync(
        join(cluster, "postmaster.pid"),
        `${stranger.pid}\n${cluster}\n1\n${port}\n\n127.0.0.1\n0 0\nready\n`
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* EmbeddedPostgres.start({ dataDirectory })
          assert.strictEqual(yield* one(server.url, "1"), 1)
          assert.strictEqual(new URL(Redacted.value(server.url)).port, port)
          const pid = yield* server.pid
          yield* server.stop // It also stops without the end of the scope, and for good.
          assert.isFalse(isRunning(pid))
        })
      )
      assert.isTrue(isRunning(stranger.pid!))
    })
  )
})

describe("test databases", () => {
  it.live("serve: every test file has a database of its own, dropped at the end", () =>
    Effect.gen(function* () {
      const [first, second] = yield* Effect.promise(() => Promise.all([makeTestDatabase(), makeTestDatabase()]))
      const make = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE private_rows (n integer)`)
      yield* query(first.url, make)
      const exists = "to_regclass('private_rows') IS NOT NULL"
      assert.deepStrictEqual([yield* one(first.url, exists), yield* one(second.url, exists)], [true, false])
      yield* Effect.promise(() => Promise.all([first.drop(), second.drop()]))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(one(first.url, "1"))))
    })
  )
})

describe("files", () => {
  const lines = "4377\n/data/cluster\n1795232818\n54999\n\n127.0.0.1\n  2146476         4\nready   \n"

  it("serve: postmaster.pid is parsed, incomplete and foreign files are not", () => {
    assert.deepStrictEqual(parsePostmasterPid(lines), {
      pid: 4377,
      dataDirectory: "/data/cluster",
      startedAt: 1_795_232_818_000,
      port: 54_999,
      status: "ready"
    })
    assert.strictEqual(parsePostmasterPid("4377\n/data/cluster\n1795232818\n")?.port, undefined)
    for (const torn of ["", "\n", "4377", "4377\n/data", `-${lines}`, `0${lines.slice(4)}`, "x\n/data\n1\n"]) {
      assert.strictEqual(parsePostmasterPid(torn), undefined)
    }
  })

  it("serve: a living process that is not PostgreSQL of this folder is never taken for our server", () => {
    assert.deepStrictEqual([process.pid, 0, -1].map(isRunning), [true, false, false])
    assert.isFalse(isPostmasterOf(process.pid, process.cwd()))
    assert.isFalse(isPostmasterOf(process.pid, folder()))
  })

  it("serve: the lock of a dead holder is replaced, also when another process has its pid", () => {
    for (const holder of [
      { pid: 2 ** 22 + 1, stamp: "x" },
      { pid: process.pid, stamp: "an earlier life" }
    ]) {
      const at = folder()
      Fs.writeFileSync(join(at, "supervisor.lock"), JSON.stringify({ ...holder, token: "t" }))
      const release = lockDirectory(at)
      assert.isDefined(release)
      assert.isUndefined(lockDirectory(at))
      release?.()
      assert.deepStrictEqual(Fs.readdirSync(at), [])
    }
    assert.notStrictEqual(processStamp(process.pid), processStamp(process.ppid))
  })

  it.live("serve: missing library links are made again, existing ones stay", () =>
    Effect.gen(function* () {
      const root = folder()
      Fs.mkdirSync(join(root, "native/lib"), { recursive: true })
      Fs.writeFileSync(join(root, "native/lib/libx.so.60.2"), "library")
      const link = (target: string) => ({ source: "native/lib/libx.so.60.2", target: `native/lib/${target}` })
      Fs.writeFileSync(join(root, "native/pg-symlinks.json"), JSON.stringify([link("libx.so"), link("libx.so.60")]))
      Fs.symlinkSync("libx.so.60.2", join(root, "native/lib/libx.so"))
      yield* hydrateSymlinks(root)
      assert.strictEqual(Fs.readFileSync(join(root, "native/lib/libx.so.60"), "utf8"), "library")
      assert.strictEqual(Fs.readlinkSync(join(root, "native/lib/libx.so.60")), "libx.so.60.2")
    })
  )

  it("serve: every unsafe database setting is named in a sentence", () => {
    const safe = [
      ["fsync", "on"],
      ["full_page_writes", "on"],
      ["synchronous_commit", "local"],
      ["track_activities", "on"],
      ["server_version_num", "150000"],
      ["server_encoding", "UTF8"]
    ] as const
    assert.deepStrictEqual(durabilityViolations(new Map(safe)), [])
    assert.lengthOf(durabilityViolations(new Map()), 6)
    for (const [name, value, said] of [
      ["fsync", "off", /^The database runs with fsync off /],
      ["full_page_writes", "off", /^The database runs with full_page_writes off /],
      ["synchronous_commit", "off", /^The database runs with synchronous_commit off /],
      ["track_activities", "off", /^The database runs with track_activities off /],
      ["server_version_num", "149999", /^PostgreSQL 15 or newer is needed\.$/],
      ["server_encoding", "SQL_ASCII", /encoding UTF8\.$/]
    ] as const) {
      const sentences = durabilityViolations(new Map([...safe, [name, value]]))
      assert.lengthOf(sentences, 1)
      assert.match(sentences[0] ?? "", said)
    }
  })

  it.live("serve: a platform without programs is asked to use --database-url", () =>
    Effect.gen(function* () {
      for (const platform of ["sunos-x64", "win32-x64"]) {
        assert.include((yield* Effect.flip(postgresBinaries(platform))).message, "Start with --database-url")
      }
    })
  )
})
