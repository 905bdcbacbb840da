/**
 * Entry of the command line. Everything here talks to the service through its operator routes, with one exception: the
 * command `serve` is the service, so its composition root is imported, for that command alone and only when it runs.
 */
import { type CliIo, type ExitStatus, servedStatus, unwritten } from "./CliIo.ts"
import { asks, confirm } from "./confirm.ts"
import { pageWith } from "./pager.ts"
import { runCli } from "./runCli.ts"

/** Whether this process is a service: it goes on without its output, which it counts itself. */
let serving = false
/** Of a command that ends in an order of its own. */
let ending: PromiseWithResolvers<void> | null = null
/** Of a command whose answer could not be written. */
let unheard: ExitStatus | null = null

/**
 * SIGTERM, SIGINT, or SIGHUP of a terminal that closes. Asked twice is asked once: on a terminal Ctrl-C arrives directly and
 * through the launcher.
 */
const stopped: CliIo["stopped"] = () => {
  if (ending !== null) return ending.promise
  const asked = (ending = Promise.withResolvers<void>())
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => asked.resolve())
  return asked.promise
}

const print = (text: string) => void process.stdout.write(text)

/**
 * Runs until a signal asks it to stop; a database taken over by another process ends it as refused. Rejects with a CliFailure
 * when it can't start.
 */
const serve: CliIo["serve"] = async (options): Promise<ExitStatus> => {
  // Listened to from the first moment, so that a stop asked for while starting is an orderly one too.
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

/** A reader that stands still does not keep a service that has ended: what waits for it gets a moment more. */
const endWithoutReaders = (): void => {
  setTimeout(() => process.exit(), 1_000).unref()
}

// Nothing can be said of it anywhere; the exit status says how the command ended.
process.stderr.on("error", () => undefined)

// A reader that has seen enough (`| head`) is no failure, and nothing more can reach it. Anything else (a full disk)
// keeps the answer of a command that may be done: reported like a connection that broke before the answer came.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (serving || unheard !== null) return
  const failure = error.code === "EPIPE" ? null : unwritten(error.code)
  if (failure !== null) {
    const json = process.argv.includes("--json")
    process.stderr.write(`${json ? JSON.stringify(failure.envelope) : failure.message}\n`)
    process.exitCode = unheard = failure.status
  }
  // What it has started is taken away first.
  if (ending === null) process.exit()
  ending.resolve()
})

/** A terminal that does not say how wide it is has what COLUMNS says, or 80. */
const size: CliIo["size"] = () => {
  const { isTTY, columns, rows } = process.stdout
  if (!isTTY) return null
  const { COLUMNS, LINES } = process.env
  return { columns: columns || Number(COLUMNS) || 80, rows: rows || Number(LINES) || 24 }
}

const errorColumns: CliIo["errorColumns"] = () => (process.stderr.isTTY ? process.stderr.columns || 80 : null)

/** Back to the begin of the line, and what stood there is gone. */
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
process.exitCode = unheard ?? status
