/**
 * Entry of the command line. Commands call the service through its operator routes. `serve` is the service itself: its
 * composition root is imported only when this command runs.
 */
import { type CliIo, type ExitStatus, servedStatus, unwritten } from "./CliIo.ts"
import { canPrompt, confirm } from "./confirm.ts"
import { pageWith } from "./pager.ts"
import { runCli } from "./runCli.ts"

/** True when this process is a service, which continues without output and itself counts lost log lines. */
let serving = false
/**
 * Set once this process waits for a signal, so that it can release its resources before it ends; null: it can exit at once.
 */
let ending: PromiseWithResolvers<void> | null = null
/** The exit status of a command whose answer could not be written; null while no write has failed. */
let unwrittenStatus: ExitStatus | null = null

/**
 * Completes on SIGTERM, on SIGINT, or on SIGHUP when the terminal closes. Repeated signals count once: Ctrl-C on a terminal
 * arrives both directly and through the launcher.
 */
const stopped: CliIo["stopped"] = () => {
  if (ending !== null) return ending.promise
  const requested = (ending = Promise.withResolvers<void>())
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => requested.resolve())
  return requested.promise
}

const print = (text: string) => void process.stdout.write(text)

/**
 * Runs the service until a signal. When another process takes over the database, the exit status is that of a refusal.
 * Rejects with a CliFailure when the service can't start.
 */
const serve: CliIo["serve"] = async (options): Promise<ExitStatus> => {
  // The signal handlers come first, so that a signal during the start stops the service in order too.
  const stop = stopped()
  serving = true
  if (options.untilStdinEnds) {
    process.stdin.once("close", () => ending?.resolve()).resume()
    // The open pipe must not keep a process alive that has stopped for another reason.
    process.stdin.unref()
  }
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

/** Exits even when a stalled reader blocks stdout: pending output gets one second. */
const endWithoutReaders = (): void => {
  setTimeout(() => process.exit(), 1_000).unref()
}

// An error of stderr can't be shown anywhere; the exit status shows how the command ended.
process.stderr.on("error", () => undefined)

// A closed pipe (`| head`) is no failure, and later output is dropped. Any other error (a full disk) loses the answer of a
// command that may have run. It is reported like a connection that broke before the answer.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (serving || unwrittenStatus !== null) return
  const failure = error.code === "EPIPE" ? null : unwritten(error.code)
  if (failure !== null) {
    const json = process.argv.includes("--json")
    process.stderr.write(`${json ? JSON.stringify(failure.envelope) : failure.message}\n`)
    process.exitCode = unwrittenStatus = failure.status
  }
  // A command that can end properly first releases what it has started; any other exits at once.
  if (ending === null) process.exit()
  ending.resolve()
})

/** The size of the terminal. When its width is unknown, the width is COLUMNS, or 80. */
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
  canPrompt,
  confirm,
  stopped,
  serve
})
process.exitCode = unwrittenStatus ?? status
