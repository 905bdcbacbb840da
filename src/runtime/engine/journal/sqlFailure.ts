/**
 * What a failed statement means for the batch it carried. The first question is always whether the server answered:
 * if it did, the transaction is undone for certain; if not, nobody knows yet and the writer row decides.
 */
import { Cause } from "effect"
import { SqlError } from "effect/sql"

export type Failure =
  /** A guard of the batch statement: which promise did not hold. */
  | { readonly _tag: "Guard"; readonly guard: "epoch" | "fence" | "partner" | "claim" }
  /** The server refused the data; the same batch will be refused again. */
  | { readonly _tag: "Data"; readonly cause: unknown }
  /**
   * The server is there but can't do it now (disk full, read-only, lock or statement timeout); nothing was written.
   * `standstill`: it can write nothing at all until somebody makes room or lets it write again. `locked`: another session
   * held something locked for longer than this one waits.
   */
  | { readonly _tag: "Busy"; readonly cause: unknown; readonly standstill: boolean; readonly locked: boolean }
  /** No answer: the statement may or may not have been committed. */
  | { readonly _tag: "Lost"; readonly cause: unknown }

/** SQLSTATE that `journal_guard` raises with. */
export const guardState = "BJ001"

/** SQLSTATE of a lock that did not come in time, or at once where nobody wanted to wait. */
const lockNotAvailable = "55P03"

interface ServerError {
  readonly code: string
  readonly message: string
  /** The server's source file that raised it. */
  readonly file: string
}

/** The error and what it was caused by, outermost first. */
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
 * The server's own error fields inside a SqlError, if the server answered at all. Known by their severity: a socket's
 * EPIPE looks like a SQLSTATE too.
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

/** The driver could not put a value on the wire: nothing was sent, and the same batch will fail again. */
const isUnsendable = (error: unknown): boolean =>
  chain(error).some((link) =>
    ["PgTypesCodecError", "PgProtocolEncodeError"].includes((link as { readonly _tag?: string })._tag ?? "")
  )

/**
 * A failure for logs and for whoever asks why a commit was refused: codes and names, never values. The server's detail
 * lines and many messages quote rows, and rows hold personal data.
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
  // The driver's own words about its connection are fixed sentences.
  const driver = links.map((link) => (link as { readonly message?: unknown }).message).find(isDriverSentence)
  return [driver ?? name, ...facts].join(" ")
}

const isDriverSentence = (message: unknown): message is string =>
  typeof message === "string" && message.startsWith("PgConnection: ")

// Operator intervention, resources, system errors, read-only transactions, connection classes.
const busyClasses = ["53", "55", "57", "58", "40", "25"]

/** Read-only transaction, disk full, input/output error: no statement of ours can be written. */
const standstillStates = ["25006", "53100", "58030"]

/**
 * Where the server touches its files. What has no SQLSTATE of its own there (a quota, a file size limit: internal error; a
 * file system gone read-only: insufficient privilege) is trouble with the disk and not with the data.
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

/** What a server that says nothing for too long counts as: the same as a lost connection. */
export const hanging = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({
    cause: new Error("no answer"),
    message: "the server hangs",
    operation: "batch"
  })
})
