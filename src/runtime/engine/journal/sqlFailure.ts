/**
 * Classifies a failed statement by its meaning for the batch. The first distinction is whether the server answered: if it did,
 * the transaction is rolled back for certain; if not, the outcome is unknown and the writer row decides.
 */
import { Cause } from "effect"
import { SqlError } from "effect/sql"

export type Failure =
  /** A guard of the batch statement refused the batch; nothing was written. */
  | { readonly _tag: "Guard"; readonly guard: "epoch" | "fence" | "partner" | "claim" }
  /** The server refused the data; the same batch will be refused again. */
  | { readonly _tag: "Data"; readonly cause: unknown }
  /**
   * The server responds but can't write now (disk full, read-only, lock or statement timeout); nothing was written. `standstill`:
   * it can write nothing until an operator frees space or permits writes. `locked`: another session held a lock for longer than
   * the lock timeout.
   */
  | { readonly _tag: "Busy"; readonly cause: unknown; readonly standstill: boolean; readonly locked: boolean }
  /** No response: the statement may or may not have been committed. */
  | { readonly _tag: "Lost"; readonly cause: unknown }

/** The SQLSTATE of the errors that the function `journal_guard` raises. */
export const guardState = "BJ001"

/** The SQLSTATE of a lock timeout, or of NOWAIT on a held lock. */
const lockNotAvailable = "55P03"

interface ServerError {
  readonly code: string
  readonly message: string
  /** The file of PostgreSQL's source code in which the error was raised. */
  readonly file: string
}

/** The error and all its causes, the outermost first. */
const chain = (error: unknown): ReadonlyArray<object> => {
  const links: Array<object> = []
  for (let at: unknown = error; at !== null && typeof at === "object" && links.length < 6;) {
    links.push(at)
    const next = at as { readonly reason?: unknown; readonly cause?: unknown }
    at = next.reason ?? next.cause ?? null
  }
  return links
}

/**
 * The server's error fields inside a SqlError, if the server answered. Only the server's errors have a severity. The code alone
 * does not distinguish them, because a socket's EPIPE resembles a SQLSTATE.
 */
export const serverError = (error: unknown): ServerError | null => {
  for (const link of chain(error)) {
    const { code, severity, message, file } = link as { readonly [field: string]: unknown }
    if (typeof code === "string" && typeof severity === "string") {
      return { code, message: String(message), file: String(file) }
    }
  }
  return null
}

/** The driver could not encode a value: nothing was sent, and the same batch will fail again. */
const isUnsendable = (error: unknown): boolean =>
  chain(error).some((link) =>
    ["PgTypesCodecError", "PgProtocolEncodeError"].includes((link as { readonly _tag?: string })._tag ?? "")
  )

/**
 * A description of a failure for logs and for the refused caller: codes and names, never values. The server's detail lines and
 * many messages quote rows, and rows hold personal data.
 */
export const describeFailure = (error: unknown): string => {
  const links = chain(error)
  const refusal = links.find((link) => typeof (link as { readonly severity?: unknown }).severity === "string")
  const source = (refusal ?? links.at(-1) ?? {}) as { readonly [field: string]: unknown }
  const facts = ["code", "constraint", "table", "column", "routine", "syscall"].flatMap((name) =>
    typeof source[name] === "string" ? [`${name}=${source[name]}`] : []
  )
  const name = typeof source["name"] === "string" ? source["name"] : typeof error
  if (refusal !== undefined) return ["the server refused:", ...facts].join(" ")
  // The driver's own messages are constant sentences without values, so they may be logged.
  const driver = links.map((link) => (link as { readonly message?: unknown }).message).find(isDriverSentence)
  return [driver ?? name, ...facts].join(" ")
}

const isDriverSentence = (message: unknown): message is string =>
  typeof message === "string" && message.startsWith("PgConnection: ")

// SQLSTATE classes of a server that can't write now: resources, operator intervention, system errors, read-only and broken
// transactions.
const busyClasses = ["53", "55", "57", "58", "40", "25"]

/** SQLSTATEs of a server that can write no statement at all: read-only transaction, disk full, input/output error. */
const standstillStates = ["25006", "53100", "58030"]

/**
 * The server's source files for storage. An error that they raise without a SQLSTATE of its own (a quota or file size limit:
 * internal error; a read-only file system: insufficient privilege) is a fault of the disk and not of the data.
 */
const storageFiles = ["md.c", "fd.c", "slru.c", "xlog.c", "smgr.c", "buffile.c"]

const isStandstill = ({ code, file }: ServerError): boolean =>
  standstillStates.includes(code) || (["XX000", "42501"].includes(code) && storageFiles.includes(file))

export const classify = (cause: Cause.Cause<unknown>): Failure => {
  const error = Cause.squash(cause)
  if (!SqlError.isSqlError(error)) return { _tag: "Lost", cause: error }
  if (isUnsendable(error)) return { _tag: "Data", cause: error }
  const server = serverError(error)
  if (server === null || server.code.startsWith("08") || server.code.startsWith("57P"))
    return { _tag: "Lost", cause: error }
  if (server.code === guardState) {
    const guard = /journal guard (\w+)/.exec(server.message)?.[1] as "epoch" | "fence" | "partner" | "claim"
    return { _tag: "Guard", guard }
  }
  const standstill = isStandstill(server)
  return standstill || busyClasses.includes(server.code.slice(0, 2))
    ? { _tag: "Busy", cause: error, standstill, locked: server.code === lockNotAvailable }
    : { _tag: "Data", cause: error }
}

/** The error of a server that does not respond in time: treated as a lost connection. */
export const hanging = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({
    cause: new Error("no answer"),
    message: "the server hangs",
    operation: "batch"
  })
})
