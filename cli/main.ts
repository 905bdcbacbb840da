/**
 * Entry of the command line. Commands call the service through its operator routes. The exception is `serve`, which is the
 * service: its composition root is imported for that command alone, when it runs.
 */
import { type CliIo, type ExitStatus, servedStatus, unwritten } from "./CliIo.ts"
import { asks, confirm } from "./confirm.ts"
import { pageWith } from "./pager.ts"
import { runCli } from "./runCli.ts"

/** Whether this process is a service, which continues without output and counts lost lines itself. */
let serving = false
/** Set for a command that ends in order on a signal. */
let ending: PromiseWithResolvers<void> | null = null
/** The exit status of a command whose answer could not be written. */
let unwrittenStatus: ExitStatus | null = null

/**
 * Completes on SIGTERM, SIGINT, or SIGHUP of a closing terminal. Repeated signals count once: on a terminal Ctrl-C arrives both
 * directly and through the launcher.
 */
const stopped: CliIo["stopped"] = () => {
  if (ending !== null) return ending.promise
  const requested = (ending = Promise.withResolvers<void>())
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => requested.resolve())
  return requested.promise
}

const print = (text: string) => void process.stdout.write(text)

/**
 * Runs until a signal; a database taken over by another process ends it as refused. Rejects with a CliFailure if it can't
 * start.
 */
const serve: CliIo["serve"] = async (options): Promise<ExitStatus> => {
  // Registered first, so that a stop during the start is orderly too.
  const stop = stopped()
  serving = true
  const [{ Effect }, service] = await Promise.all([import("effect"), import("../src/main.ts")])
  const ended = Effect.runPromise(
    service.serve(
      options,
      Effect.promise(() => stop),
      ({ service, demo, print }) =>
        demo === null || options.json || !process.stdout.isTTY
          ? Effect.void
          : Effect.flatMap(
              Effect.promise(() => import("./demoReceiver.ts")),
              ({ demoReceiver }) => demoReceiver({ ...service, dataDir: options.dataDir, key: demo.key, print })
            )
    )
  )
  return servedStatus(ended.finally(endWithoutReaders))
}

/** Exits even if a stalled reader blocks stdout: pending output gets a short grace period. */
const endWithoutReaders = (): void => {
  setTimeout(() => process.exit(), 1_000).unref()
}

// There is no other place for this error; the exit status reports how the command ended.
process.stderr.on("error", () => undefined)

// A closed pipe (`| head`) is no failure, and later output is dropped. Any other error (a full disk) loses the answer of a
// command that may have run: it is reported like a connection that broke before the answer.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (serving || unwrittenStatus !== null) return
  const failure = error.code === "EPIPE" ? null : unwritten(error.code)
  if (failure !== null) {
    const json = process.argv.includes("--json")
    process.stderr.write(`${json ? JSON.stringify(failure.envelope) : failure.message}\n`)
    process.exitCode = unwrittenStatus = failure.status
  }
  // Otherwise the command first releases what it has started.
  if (ending === null) process.exit()
  ending.resolve()
})

/** A terminal of unknown width has the width of COLUMNS, or 80. */
const size: CliIo["size"] = () => {
  const { isTTY, columns, rows } = process.stdout
  if (!isTTY) return null
  const { COLUMNS, LINES } = process.env
  return { columns: columns || Number(COLUMNS) || 80, rows: rows || Number(LINES) || 24 }
}

const errorColumns: CliIo["errorColumns"] = () => (process.stderr.isTTY ? process.stderr.columns || 80 : null)

/** Moves to the start of the line and clears it. */
const clearLine = "\r\u001b[K"
const progress: CliIo["progress"] =
  process.stderr.isTTY && process.env.TERM !== "dumb"
    ? (line) => void process.stderr.write(`${clearLine}${(line ?? "").slice(0, (process.stderr.columns || 80) - 1)}`)
    : null

const status = await runCli(process.argv.slice(2), {
  stdout: print,
  stderr: (text) => void process.stderr.write(text),
  env: process.env,
  terminal: process.stdout.isTTY === true,
  size,
  errorColumns,
  page: pageWith(process.env),
  progress,
  asks,
  confirm,
  stopped,
  serve
})
process.exitCode = unwrittenStatus ?? status
