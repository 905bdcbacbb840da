/**
 * The real service as a child process, started by its own command, so that a crash run kills the same process that an
 * operator runs (operator surface, `serve`; architecture, Proof: crash runs).
 */
import { Clock, Effect, Schema, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, openSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { copyCluster } from "../support/testServer.ts"

export class ServiceNotReady extends Schema.TaggedError<ServiceNotReady>()("ServiceNotReady", {
  detail: Schema.String
}) {
  override get message(): string {
    return this.detail
  }
}

export interface ServiceOptions {
  readonly dataDir: string
  readonly databaseUrl?: string
  /** The process kills itself the n-th time it passes this point (`--kill-at`). */
  readonly killAt?: { readonly point: string; readonly times: number }
  /** Hosts that webhooks may go to although they are not public (`--allow-webhook-host`). */
  readonly webhookHosts?: ReadonlyArray<string>
  /** A sandbox with the demo's partner and client (`--demo`). */
  readonly demo?: true
  /** A venue other than the service's own simulated one (`--venue-url`, `--venue-key-file`). */
  readonly venue?: { readonly url: string; readonly keyFile: string }
}

export interface Exited {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ServiceProcess {
  readonly pid: number
  readonly url: string
  readonly caFile: string
  readonly operatorKeyFile: string
  /** Ms from the start of the process to its ready line. */
  readonly readyMillis: number
  readonly exited: Effect.Effect<Exited>
  readonly hasExited: () => boolean
  readonly signal: (signal: NodeJS.Signals) => void
}

const root = resolve(import.meta.dirname, "../..")
const readyLimit = "60 seconds"

const ReadyLine = Schema.fromJsonString(
  Schema.Struct({
    ready: Schema.Literal(true),
    url: Schema.String,
    pid: Schema.Int,
    operatorKeyFile: Schema.String,
    caFile: Schema.String
  })
)

export const logFileOf = (dataDir: string): string => `${dataDir}.service.log`

/**
 * Starts the service and waits for its ready line. The end of the scope sends SIGTERM, and SIGKILL if the process does
 * not end.
 */
export const startService = Effect.fnUntraced(function* (
  options: ServiceOptions
): Effect.fn.Return<ServiceProcess, ServiceNotReady, Scope.Scope> {
  if (options.databaseUrl === undefined) yield* Effect.promise(() => copyCluster(options.dataDir))
  const startedAt = yield* Clock.currentTimeMillis
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawnService(options)),
    (process) => endChild(process)
  )
  const exited = exitOf(child)
  const line = yield* firstLine(child).pipe(
    Effect.timeoutOrElse({
      duration: readyLimit,
      orElse: () => Effect.fail(notReady(options, "was not ready in time"))
    }),
    Effect.raceFirst(
      Effect.flatMap(exited, ({ code, signal }) =>
        Effect.fail(notReady(options, `ended before it was ready (${code ?? signal})`))
      )
    )
  )
  const ready = yield* Effect.mapError(Schema.decodeUnknownEffect(ReadyLine)(line), () =>
    notReady(options, "printed another first line")
  )
  return {
    ...ready,
    readyMillis: (yield* Clock.currentTimeMillis) - startedAt,
    exited,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    signal: (signal) => void child.kill(signal)
  }
})

/** Starts the process alone. */
export const spawnService = (options: ServiceOptions): ChildProcess => {
  const log = openSync(logFileOf(options.dataDir), "a", 0o600)
  try {
    return spawn(
      process.execPath,
      [
        join(root, "bin", "brokerage.mjs"),
        "serve",
        "--sandbox",
        "--port",
        "0",
        "--data-dir",
        options.dataDir,
        "--json",
        ...(options.databaseUrl === undefined ? [] : ["--database-url", options.databaseUrl]),
        ...(options.killAt === undefined ? [] : ["--kill-at", `${options.killAt.point}:${options.killAt.times}`]),
        ...(options.demo === true ? ["--demo"] : []),
        ...(options.venue === undefined
          ? []
          : ["--venue-url", options.venue.url, "--venue-key-file", options.venue.keyFile]),
        ...(options.webhookHosts ?? []).flatMap((host) => ["--allow-webhook-host", host])
      ],
      { stdio: ["ignore", "pipe", log] }
    )
  } finally {
    closeSync(log)
  }
}

const notReady = (options: ServiceOptions, what: string): ServiceNotReady => {
  const log = readFileSync(logFileOf(options.dataDir), "utf8").slice(-2_000)
  return new ServiceNotReady({ detail: `The service ${what}. The end of its log:\n${log}` })
}

const firstLine = (child: ChildProcess): Effect.Effect<string> =>
  Effect.callback<string>((resume) => {
    let text = ""
    const read = (part: Buffer) => {
      text += part.toString()
      const end = text.indexOf("\n")
      if (end >= 0) resume(Effect.succeed(text.slice(0, end)))
    }
    child.stdout?.on("data", read)
  })

const exitOf = (child: ChildProcess): Effect.Effect<Exited> =>
  Effect.callback<Exited>((resume) => {
    const tell = () => resume(Effect.succeed({ code: child.exitCode, signal: child.signalCode }))
    if (child.exitCode !== null || child.signalCode !== null) return tell()
    child.once("exit", tell)
    return Effect.sync(() => void child.off("exit", tell))
  })

const endChild = (child: ChildProcess): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const [signal, patience] of [
      ["SIGTERM", "20 seconds"],
      ["SIGKILL", "5 seconds"]
    ] as const) {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill(signal)
      yield* Effect.timeoutOption(exitOf(child), patience)
    }
  })
