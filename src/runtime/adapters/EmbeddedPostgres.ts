/**
 * EmbeddedPostgres: a PostgreSQL server in the data directory, started, supervised and stopped by the service. The server has its
 * own session: Ctrl-C reaches only the service (which drains first), and the server outlives a killed parent. The next start
 * verifies that the server belongs to this directory and adopts it. A dead server is restarted with the same port and password.
 * Source: architecture, Start-up; operator surface, `serve` without --database-url.
 */
import { Context, type Duration, Effect, Fiber, Layer, Redacted, Schedule, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import * as Fs from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { doubling } from "../engine/Backoff.ts"
import { endProcess } from "./endProcess.ts"
import {
  checkUserMode,
  defaultUserMode,
  type PostgresBinaries,
  type PostgresBinariesError,
  postgresBinaries,
  postgresCommand,
  postgresSettings,
  runProgram,
  spawnServer,
  type UserMode
} from "./postgresBinaries.ts"
import { isPostmasterOf, isRunning, lockDirectory, readPostmasterPid, readText } from "./postmasterPid.ts"
import { syncFolder, writeWhole } from "./writeWhole.ts"
import { layerDatabasePool } from "../store/databasePool.ts"

/** The embedded server can't be started, or another process uses it. The sentence is for the operator. */
export class EmbeddedPostgresError extends Schema.TaggedError<EmbeddedPostgresError>()("EmbeddedPostgresError", {
  sentence: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return this.sentence
  }
}

export interface EmbeddedPostgresOptions {
  /** The folder of the cluster, its password, port, log and lock. Created if missing. */
  readonly dataDirectory: string
  /** The TCP port of the server. Without it the server keeps the port of its last start, or takes a free one. */
  readonly port?: number
  /**
   * How the server's user is set up: `mapped` uses a user namespace, the default for root; `plain` is the default
   * otherwise.
   */
  readonly userMode?: UserMode
  /** The time that the service's stop leaves for the server to end, wall ms. If absent, each signal gets its usual time. */
  readonly left?: () => number
  /** Runs once the directory is locked for this process, before the server starts. */
  readonly whenLocked?: Effect.Effect<unknown>
}

export interface EmbeddedPostgresShape {
  /**
   * The connection string of the database `brokerage`, with the superuser's password. It stays the same when the server is
   * restarted.
   */
  readonly url: Redacted.Redacted
  /** The pid of the current postmaster: it changes when a dead one is replaced (0 in between). */
  readonly pid: Effect.Effect<number>
  /**
   * Ends supervision, then the server: by a fast shutdown, and after a timeout by an immediate one. The end of the scope
   * does the same.
   */
  readonly stop: Effect.Effect<void>
}

export class EmbeddedPostgres extends Context.Service<EmbeddedPostgres, EmbeddedPostgresShape>()(
  "brokerage/runtime/adapters/EmbeddedPostgres"
) {
  /** Starts or adopts the server of a data directory and keeps it running until the scope closes. */
  static readonly start = (
    options: EmbeddedPostgresOptions
  ): Effect.Effect<EmbeddedPostgresShape, EmbeddedPostgresError | PostgresBinariesError, Scope.Scope> =>
    startServer(options)

  static readonly layer = (options: EmbeddedPostgresOptions) =>
    Layer.effect(EmbeddedPostgres, EmbeddedPostgres.start(options))
}

const user = "brokerage"
const database = "brokerage"

/** Lock files and shared memory of a killed server remain for a second or two; the start gives up after about 20 s. */
const launchRetries = Schedule.max([doubling(200, 3_000), Schedule.recurs(10)])
/** A dead server is started again for as long as the service lives, with pauses in ms. */
const restartRetries = doubling(200, 5_000)

/** The server of one data directory, for as long as the service owns the directory. */
interface Cluster {
  readonly home: string
  readonly directory: string
  readonly binaries: PostgresBinaries
  readonly mode: UserMode
  readonly password: string
  readonly fixedPort: number | undefined
  readonly left: () => number
  /** Process id of the current postmaster; 0 before the first start and between two postmasters. */
  pid: number
  port: number
}

const startServer = Effect.fn("EmbeddedPostgres.start")(function* (options: EmbeddedPostgresOptions) {
  const mode = options.userMode ?? defaultUserMode()
  const binaries = yield* postgresBinaries()
  yield* checkUserMode(mode)
  const home = yield* attempt("The data directory of the embedded PostgreSQL can not be made.", () => {
    Fs.mkdirSync(options.dataDirectory, { recursive: true, mode: 0o700 })
    return Fs.realpathSync(options.dataDirectory)
  })
  yield* Effect.acquireRelease(
    attempt("The lock file of the data directory can not be written.", () => lockDirectory(home)),
    (release) => Effect.sync(() => release?.())
  ).pipe(
    Effect.filterOrFail(
      (release) => release !== undefined,
      () => fail("The data directory is in use by another running brokerage service.")
    )
  )
  yield* options.whenLocked ?? Effect.void
  const directory = join(home, "cluster")
  const password = yield* ensurePassword(home, directory)
  const { port: fixedPort, left = () => Infinity } = options
  const cluster: Cluster = { home, directory, binaries, mode, password, fixedPort, left, pid: 0, port: 0 }
  if (!Fs.existsSync(directory)) yield* initialise(cluster)
  // The finaliser is added before the start, so that a failed or interrupted start leaves no server behind.
  yield* Effect.addFinalizer(() => shutdown(cluster))
  if (!(yield* adopt(cluster))) yield* choosePort(cluster).pipe(Effect.andThen(launch(cluster)), retryLaunch)
  yield* ensureDatabase(cluster)
  const supervisor = yield* Effect.forkScoped(supervise(cluster))
  return {
    url: urlOf(cluster, database),
    pid: Effect.sync(() => cluster.pid),
    stop: Effect.andThen(Fiber.interrupt(supervisor), shutdown(cluster))
  }
})

const retryLaunch = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.retry(effect, launchRetries)

const urlOf = (cluster: Cluster, name: string) =>
  Redacted.make(`postgres://${user}:${cluster.password}@127.0.0.1:${cluster.port}/${name}`)

const fail = (sentence: string, cause?: unknown) =>
  new EmbeddedPostgresError(cause === undefined ? { sentence } : { sentence, cause })

const attempt = <A>(sentence: string, run: () => A) => Effect.try({ try: run, catch: (cause) => fail(sentence, cause) })

/**
 * Creates the superuser's password and flushes it to disk, before the cluster is made: without its password a cluster is
 * useless.
 */
const ensurePassword = (home: string, directory: string) => {
  const path = join(home, "password")
  return attempt("The password file of the embedded PostgreSQL can not be written.", () => {
    const kept = readText(path)?.trim()
    if (kept !== undefined && kept !== "") return kept
    if (Fs.existsSync(directory)) return undefined
    const password = randomBytes(32).toString("base64url")
    writeWhole(path, `${password}\n`)
    return password
  }).pipe(
    Effect.flatMap((password) =>
      password === undefined
        ? Effect.fail(fail("The password file of the embedded PostgreSQL is missing from the data directory."))
        : Effect.succeed(password)
    )
  )
}

const token = () => randomBytes(8).toString("hex")

/** Runs initdb in a staging folder and renames it when complete: an interrupted initdb never leaves an apparent cluster. */
const initialise = Effect.fn("EmbeddedPostgres.initialise")(function* (cluster: Cluster) {
  const staging = `${cluster.directory}.${token()}`
  const args = [
    `--pgdata=${staging}`,
    `--username=${user}`,
    `--pwfile=${join(cluster.home, "password")}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--data-checksums"
  ]
  const failed = "The embedded PostgreSQL can not be set up in the data directory."
  yield* attempt(failed, () => {
    for (const name of Fs.readdirSync(cluster.home)) {
      if (/^cluster\.[0-9a-f]{16}$/.test(name)) Fs.rmSync(join(cluster.home, name), { recursive: true, force: true })
    }
  })
  const [command, full] = postgresCommand(cluster.binaries, cluster.mode, "initdb", args)
  const { status, output } = yield* runProgram(command, full)
  if (status !== 0) return yield* fail(failed, new Error(output.slice(-2000)))
  yield* attempt(failed, () => {
    Fs.renameSync(staging, cluster.directory)
    syncFolder(cluster.home)
  })
})

/** Keeps the last port if it is still free; otherwise the kernel chooses another. */
const choosePort = Effect.fn("EmbeddedPostgres.choosePort")(function* (cluster: Cluster) {
  const path = join(cluster.home, "port")
  const kept = Number(readText(path) ?? 0)
  const wanted = cluster.fixedPort ?? (Number.isInteger(kept) && kept > 0 && kept < 65_536 ? kept : 0)
  const bound = yield* freePort(wanted)
  if (bound === undefined && cluster.fixedPort !== undefined) {
    return yield* fail("The chosen port of the embedded PostgreSQL is in use by another program.")
  }
  cluster.port = bound ?? (yield* freePort(0)) ?? 0
  yield* attempt("The port file can not be written.", () => writeWhole(path, `${cluster.port}\n`))
})

const freePort = (port: number): Effect.Effect<number | undefined> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", () => resume(Effect.succeed(undefined)))
    server.listen({ port, host: "127.0.0.1" }, () => {
      const address = server.address()
      const bound = typeof address === "object" && address !== null ? address.port : undefined
      server.close(() => resume(Effect.succeed(bound)))
    })
  })

/**
 * Adopts a living server that provably belongs to this directory; stops one that belongs here but can't be used. True if adopted.
 */
const adopt = Effect.fn("EmbeddedPostgres.adopt")(function* (cluster: Cluster) {
  const found = readPostmasterPid(cluster.directory)
  if (found === undefined || !isPostmasterOf(found.pid, cluster.directory)) return false
  cluster.pid = found.pid
  const port = yield* until(() => readyPort(cluster, found.pid)).pipe(Effect.timeoutOption("30 seconds"))
  if (port._tag === "Some" && port.value > 0 && (cluster.fixedPort ?? port.value) === port.value) {
    cluster.port = port.value
    if (yield* Effect.orElseSucceed(answers(cluster), () => false)) {
      yield* attempt("The port file can not be written.", () =>
        writeWhole(join(cluster.home, "port"), `${cluster.port}\n`)
      )
      yield* Effect.logInfo("the service adopted the embedded PostgreSQL", { pid: cluster.pid, port: cluster.port })
      return true
    }
  }
  yield* shutdown(cluster)
  return false
})

/** The port of a server that is ready; 0 once the server has ended; undefined while it starts or stops. */
const readyPort = (cluster: Cluster, pid: number): number | undefined => {
  if (!isRunning(pid)) return 0
  const file = readPostmasterPid(cluster.directory)
  return file?.pid === pid && file.status === "ready" ? file.port : undefined
}

/** Polls `read` at intervals of `pause` until it returns a value other than undefined. */
const until = <A>(read: () => A | undefined, pause: Duration.Input = "25 millis"): Effect.Effect<A> =>
  Effect.gen(function* () {
    for (;;) {
      const value = read()
      if (value !== undefined) return value
      yield* Effect.sleep(pause)
    }
  })

/** True if the server accepts the password and serves exactly this cluster. */
const answers = (cluster: Cluster) =>
  onServer(
    cluster,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ at: string }>`SELECT current_setting('data_directory') AS at`
      return rows[0]?.at !== undefined && Fs.realpathSync(rows[0].at) === Fs.realpathSync(cluster.directory)
    })
  )

const onServer = <A, E>(cluster: Cluster, effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  effect.pipe(
    Effect.provide(
      layerDatabasePool({ url: urlOf(cluster, "postgres"), maxConnections: 1, applicationName: "brokerage-start" }),
      { local: true }
    )
  )

/** Before the connection string is returned, the password must work and the database must exist. */
const ensureDatabase = (cluster: Cluster) =>
  onServer(
    cluster,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT 1 FROM pg_database WHERE datname = ${database}`
      if (rows.length === 0) yield* sql`CREATE DATABASE ${sql(database)}`
    })
  ).pipe(
    Effect.mapError((cause) =>
      fail("The embedded PostgreSQL does not accept the password of its data directory.", cause)
    )
  )

/** Starts the postmaster on the cluster's port and waits until it is ready (crash recovery may take a while). */
const launch = Effect.fn("EmbeddedPostgres.launch")(function* (cluster: Cluster) {
  const child = yield* attempt("The embedded PostgreSQL can not be started.", () => spawnPostmaster(cluster))
  const ready = yield* until(() => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return 0
    return readyPort(cluster, child.pid)
  }).pipe(Effect.timeoutOption("120 seconds"))
  if (ready._tag === "Some" && ready.value === cluster.port) return
  yield* shutdown(cluster)
  cluster.pid = 0 // never signal a pid that may soon belong to another process
  const log = readText(join(cluster.home, "postgres.log")) ?? ""
  return yield* fail(
    "The embedded PostgreSQL does not start; its log (postgres.log in the data directory) says why.",
    new Error(log.slice(-1000))
  )
})

const spawnPostmaster = (cluster: Cluster): ChildProcess => {
  const options = Object.entries({ ...postgresSettings, port: cluster.port })
  const flags = options.flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const serverArgs = ["-D", cluster.directory, ...flags]
  const [command, args] = postgresCommand(cluster.binaries, cluster.mode, "postgres", serverArgs)
  // A pid file left by a crash may name a pid that another process has now. PostgreSQL would refuse to start for ever; the
  // variable that pg_ctl sets makes it ignore that one pid. It still checks shared memory before it replaces the file.
  const stale = readPostmasterPid(cluster.directory)
  const foreign = stale !== undefined && !isPostmasterOf(stale.pid, cluster.directory)
  const child = spawnServer(command, args, {
    logFile: join(cluster.home, "postgres.log"),
    environment: foreign ? { PG_GRANDPARENT_PID: String(stale.pid) } : {}
  })
  cluster.pid = child.pid ?? 0
  return child
}

/** Watches the postmaster and restarts it on the same port whenever it dies. */
const supervise = (cluster: Cluster) =>
  Effect.gen(function* () {
    yield* until(() => (isRunning(cluster.pid) ? undefined : true), "100 millis")
    yield* Effect.logWarning("the embedded PostgreSQL ended unexpectedly and is restarted", { pid: cluster.pid })
    yield* launch(cluster).pipe(
      Effect.tapError((error) => Effect.logError(error.message)),
      Effect.retry(restartRetries)
    )
    yield* Effect.logInfo("the embedded PostgreSQL runs again", { pid: cluster.pid, port: cluster.port })
  }).pipe(Effect.forever)

/** Fast shutdown (open transactions are rolled back), then immediate (recovery at the next start), each bounded. */
const shutdown = (cluster: Cluster): Effect.Effect<void> =>
  endProcess({
    pid: () => cluster.pid,
    signals: [
      ["SIGINT", 8_000],
      ["SIGQUIT", 3_000],
      ["SIGKILL", 1_000]
    ],
    left: cluster.left
  })

/** The error of a database that is not safe for money; `sentences` gives each reason. */
export class DurabilityError extends Schema.TaggedError<DurabilityError>()("DurabilityError", {
  sentences: Schema.Array(Schema.String)
}) {
  override get message() {
    return this.sentences.join(" ")
  }
}

/**
 * The reasons why a database with these settings is not safe for money, one sentence each; empty if it is safe. `settings`:
 * values by name, as in pg_settings.
 */
export const durabilityViolations = (settings: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const sentences = ["fsync", "full_page_writes", "synchronous_commit"]
    .filter((name) => (settings.get(name) ?? "off") === "off")
    .map((name) => `The database runs with ${name} off and could lose acknowledged requests; switch it on.`)
  if (settings.get("track_activities") !== "on")
    sentences.push(
      "The database runs with track_activities off and hides whether a long statement works; switch it on."
    )
  if (Number(settings.get("server_version_num") ?? 0) < 150_000) sentences.push("PostgreSQL 15 or newer is needed.")
  if (settings.get("server_encoding") !== "UTF8") sentences.push("The database has to be created with encoding UTF8.")
  return sentences
}

/**
 * Refuses a database that could lose acknowledged commits (fsync, full_page_writes or synchronous_commit off), shows no
 * activity (track_activities off; `longWork` needs it), is older than PostgreSQL 15 or does not store UTF-8. The embedded
 * server and the server of any --database-url are checked alike. Source: architecture, Start-up.
 */
export const checkDurability = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string; setting: string }>`
    SELECT name, setting FROM pg_settings
    WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'track_activities', 'server_version_num',
                   'server_encoding')`
  const sentences = durabilityViolations(new Map(rows.map((row) => [row.name, row.setting])))
  if (sentences.length > 0) return yield* new DurabilityError({ sentences })
})
