/**
 * Why a service does not start, as a sentence that names the remedy. Faults of the environment (ports, addresses, the database
 * of --database-url) get their sentences here; adapters bring their own (operator surface, Service: exit status 1).
 */
import { Cause, Effect } from "effect"
import { HttpServerError } from "effect/http"
import { SqlError } from "effect/sql"
import { describeFailure, serverError } from "./runtime/engine/journal/sqlFailure.ts"
import { ServeError } from "./ServeError.ts"
import type { ServeOptions } from "./serveOptions.ts"

/** Converts a listener's failure to a sentence; other failures pass through. */
export const explainListening =
  ({ host, port }: Pick<ServeOptions, "host" | "port">) =>
  <A, E, R>(listen: Effect.Effect<A, E, R>): Effect.Effect<A, E | ServeError, R> =>
    Effect.mapError(listen, (error) =>
      error instanceof HttpServerError.ServeError
        ? new ServeError({ sentence: listenSentence(host, port, codeOf(error.cause)) })
        : error
    )

const listenSentence = (host: string, port: number, code: string): string => {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} of ${host} is in use by another program: stop it, or choose another port with --port (0 for any free one).`
    case "EADDRNOTAVAIL":
      return `${host} is no address of this machine: name one of its own with --host (0.0.0.0 for all of them).`
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The name ${host} has no address: name an address of this machine with --host.`
    case "EACCES":
      return `This user may not listen on port ${port}: choose one from 1024 on with --port.`
    default:
      return `The service can not listen on port ${port} of ${host} (${code}): choose others with --port and --host.`
  }
}

/** Converts a failure of the --database-url database to a sentence without its password; other failures pass through. */
export const explainDatabase =
  ({ databaseUrl }: Pick<ServeOptions, "databaseUrl">) =>
  <A, E, R>(prepare: Effect.Effect<A, E, R>): Effect.Effect<A, E | ServeError, R> =>
    Effect.mapError(prepare, (error) =>
      databaseUrl !== null && SqlError.isSqlError(error)
        ? new ServeError({ sentence: databaseSentence(databaseUrl, error) })
        : error
    )

const databaseSentence = (databaseUrl: string, error: unknown): string => {
  const place = placeOf(databaseUrl)
  if (place === null) {
    return "--database-url is no PostgreSQL address: it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE."
  }
  const answered = serverError(error)
  if (answered === null) {
    return `The database at ${place} can not be reached (${describeFailure(error)}): check that it runs, and host and port of --database-url.`
  }
  const { code } = answered
  if (code.startsWith("28")) {
    return `The database at ${place} refuses this user (${code}): check user and password of --database-url, and the server's pg_hba.conf.`
  }
  if (code === "3D000") {
    return `The server at ${place} has no database of this name: create it, or name another in --database-url.`
  }
  return `The database at ${place} can not be prepared (${describeFailure(error)}): the user of --database-url needs an own, writable database.`
}

/** HOST:PORT of a database address; null if it is invalid. */
const placeOf = (databaseUrl: string): string | null => {
  if (!URL.canParse(databaseUrl)) return null
  const { protocol, hostname, port, searchParams } = new URL(databaseUrl)
  if (protocol !== "postgres:" && protocol !== "postgresql:") return null
  return `${hostname || searchParams.get("host") || "localhost"}:${port || "5432"}`
}

const codeOf = (cause: unknown): string => {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown }
  return String(code ?? message ?? cause)
}

/** Converts every failure of a service to a sentence, never empty and without a stack; the log has a defect's stack. */
export const explained = <A, R>(serve: Effect.Effect<A, unknown, R>): Effect.Effect<A, ServeError, R> =>
  Effect.catchCause(serve, (cause) => {
    const error = Cause.squash(cause)
    return Effect.andThen(
      Cause.hasDies(cause) && !isFileFault(error)
        ? Effect.logError("the service stopped because of a defect: start it again", cause)
        : Effect.void,
      new ServeError({ sentence: sentenceOf(error) })
    )
  })

const fileFaults = ["EACCES", "EDQUOT", "EIO", "EISDIR", "ENOSPC", "ENOTDIR", "EPERM", "EROFS"]

/** Whether the file system refuses a file of the data directory, which is a fault of the environment. */
const isFileFault = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && fileFaults.includes(String((error as NodeJS.ErrnoException).code))

/** Faults of the disk by the codes and texts that files, PostgreSQL and its programs report, with the remedy. */
const diskFaults: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /\bENOSPC\b|\bEDQUOT\b|No space left on device|Disk quota exceeded|^53100$/m,
    "The disk is full: make room, then start again."
  ],
  [/\bEROFS\b|Read-only file system/, "The disk is read-only: make it writable, then start again."]
]
/** The longest chain of causes that is searched. */
const causesMost = 10

/** The disk's fault behind an error, as a sentence; null: no cause names one. */
const diskFaultOf = (error: unknown): string | null => {
  let cause = error
  for (let depth = 0; depth < causesMost && cause !== undefined && cause !== null; depth++) {
    if (Cause.isCause(cause)) cause = Cause.squash(cause)
    const { message, code, reason, cause: next } = cause as Readonly<Record<string, unknown>>
    const text = `${String(message)}\n${String(code)}`
    const found = diskFaults.find(([pattern]) => pattern.test(text))
    if (found !== undefined) return found[1]
    cause = next ?? reason
  }
  return null
}

const sentenceOf = (error: unknown): string => {
  if (isFileFault(error))
    return `A file of the data directory can not be used (${error.message}): check its kind, its rights and the free space, or name another --data-dir.`
  const { message, name } = error instanceof Error ? error : { message: String(error), name: "" }
  const sentence = message.trim() === "" ? `The service can not start (${name || "unknown error"}).` : message
  const disk = diskFaultOf(error)
  return disk === null ? sentence : `${sentence.replace(/[^.]$/, "$&.")} ${disk}`
}
