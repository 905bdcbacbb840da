/**
 * EmbeddedVenue: the simulated venue of a sandbox, in the data directory, started, supervised and stopped by the service. Like
 * the embedded PostgreSQL it has its own session: it outlives a killed service, and the next start adopts it. A dead simulator is
 * restarted on the same port. Source: C1, Restart; operator surface, `serve` without --venue-url.
 */
import { type Duration, Effect, Fiber, Redacted, Schedule, Schema, type Scope } from "effect"
import type { ChildProcess } from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { seatVersion } from "../../venue/seatAnswer.ts"
import { doubling } from "../engine/Backoff.ts"
import type { VenueConnection } from "../ports/VenueConnection.ts"
import { requestSeat, type Seated } from "./requestSeat.ts"
import { queryVenue } from "./queryVenue.ts"
import { endProcess } from "./endProcess.ts"
import { spawnServer } from "./postgresBinaries.ts"
import { isRunning, readText } from "./postmasterPid.ts"

/** The simulator can't be started. The sentence is for the operator. */
export class EmbeddedVenueError extends Schema.TaggedError<EmbeddedVenueError>()("EmbeddedVenueError", {
  sentence: Schema.String
}) {
  override get message() {
    return this.sentence
  }
}

export interface EmbeddedVenueOptions {
  /** The simulator's folder with log, key and address; created if missing. */
  readonly dataDirectory: string
  /** Idle timeout: the simulator ends after this time without a request of a service, wall ms. */
  readonly idleMillis?: number
  /** Longest time from its start until it listens, wall ms. */
  readonly startMillis?: number
  /** The time that the service's stop leaves for the simulator to end, wall ms. If absent, each signal gets its usual time. */
  readonly left?: () => number
}

export interface EmbeddedVenue {
  /** The address and the key of the simulator. A replacement of a dead simulator has the same address and key. */
  readonly connection: VenueConnection
  /** The pid of the current simulator: it changes when a dead one is replaced (0 in between). */
  readonly pid: Effect.Effect<number>
  /** Ends supervision and the simulator. Also runs when the scope closes. */
  readonly stop: Effect.Effect<void>
}

const usualIdleMillis = 15 * 60_000
/** A start reads the event log from the last snapshot on, which takes a small part of this time. */
const usualStartMillis = 30_000
const program = fileURLToPath(new URL("../../../simulator/venue/main.ts", import.meta.url))
/** A dead simulator is replaced for as long as the service lives. */
const restartRetries = doubling(100, 5_000)

/** The simulator's own file: the address that proves its identity, and the location of its key. */
const decodeFile = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ seat: Schema.String, keyFile: Schema.String }))
)

interface Simulator {
  readonly home: string
  readonly idleMillis: number
  readonly startMillis: number
  readonly left: () => number
  /** Pid, address and key of the current simulator; 0 and empty before the first start. */
  pid: number
  url: string
  key: string
}

/** Starts or adopts the simulator of a folder and keeps it running until the scope closes. */
const start = (options: EmbeddedVenueOptions): Effect.Effect<EmbeddedVenue, EmbeddedVenueError, Scope.Scope> =>
  Effect.gen(function* () {
    const home = yield* Effect.try({
      try: () => {
        Fs.mkdirSync(options.dataDirectory, { recursive: true, mode: 0o700 })
        return Fs.realpathSync(options.dataDirectory)
      },
      catch: () => fail("The folder of the simulated venue can not be made in the data directory.")
    })
    const { idleMillis = usualIdleMillis, startMillis = usualStartMillis, left = () => Infinity } = options
    const simulator: Simulator = { home, idleMillis, startMillis, left, pid: 0, url: "", key: "" }
    // The finaliser is added before the start, so that a failed or interrupted start leaves no simulator behind.
    yield* Effect.addFinalizer(() => shutdown(simulator))
    if (!(yield* adopt(simulator))) yield* launch(simulator)
    const supervisor = yield* Effect.forkScoped(supervise(simulator))
    return {
      connection: { url: simulator.url, key: Redacted.make(simulator.key), ca: null },
      pid: Effect.sync(() => simulator.pid),
      stop: Effect.andThen(Fiber.interrupt(supervisor), shutdown(simulator))
    }
  })

export const EmbeddedVenue = { start }

const fail = (sentence: string) => new EmbeddedVenueError({ sentence })

/**
 * Finds the process that holds the folder's seat, a socket that the system frees when its holder dies. Reads the folder's key
 * too, because only a holder that proves itself by this key is the simulator.
 */
const seated = (simulator: Simulator): Effect.Effect<Seated> =>
  Effect.suspend(() => {
    const file = decodeFile(readText(join(simulator.home, "venue.json")))
    if (file._tag === "None") return Effect.succeed("nobody" as const)
    simulator.key = readText(file.value.keyFile)?.trim() ?? ""
    return requestSeat(file.value.seat, simulator.key)
  })

/** The error for a seat that another program holds, or whose holder does not respond. */
const strange = ({ home, startMillis }: Simulator, holder: "stranger" | "silent"): EmbeddedVenueError => {
  const file = decodeFile(readText(join(home, "venue.json")))
  const name = file._tag === "None" ? "" : file.value.seat.replace("\0", "@")
  const whose = `the socket ${name} of the simulated venue in ${home}`
  const remedy = "end it (ss -xlp shows which it is), or use another data directory."
  return fail(
    holder === "stranger"
      ? `Another program holds ${whose}, and does not prove itself by the key there: ${remedy}`
      : `Whoever holds ${whose} has not identified itself within ${Math.ceil(startMillis / 1_000)} s: wait if it reads large books, else ${remedy}`
  )
}

/**
 * Adopts a living simulator of this folder that proves itself; ends one of another version, or one that does not respond
 * correctly. True if adopted.
 */
const adopt = Effect.fn("EmbeddedVenue.adopt")(function* (simulator: Simulator) {
  const holder = yield* Effect.repeat(seated(simulator), {
    schedule: Schedule.max([Schedule.during(simulator.startMillis), Schedule.spaced("50 millis")]),
    while: (found) => found === "silent"
  })
  if (holder === "nobody") return false
  if (typeof holder === "string") return yield* strange(simulator, holder)
  simulator.pid = holder.pid
  const connection = { url: holder.url, key: Redacted.make(simulator.key), ca: null }
  const fits = holder.version === seatVersion && (simulator.url === "" || simulator.url === holder.url)
  if (fits && (yield* Effect.isSuccess(queryVenue(connection, "/venue/v1/clock", { timeoutMillis: 2_000 })))) {
    simulator.url = holder.url
    yield* Effect.logInfo("the service adopted the running simulated venue", { pid: holder.pid, url: holder.url })
    return true
  }
  yield* Effect.logInfo("the service ends a simulated venue that it can't use", { ...holder })
  yield* shutdown(simulator)
  return false
})

/** Starts the simulator, on its previous port if it had one, and waits until it listens. */
const launch = Effect.fn("EmbeddedVenue.launch")(function* (simulator: Simulator) {
  const { home, idleMillis, startMillis, url } = simulator
  const port = url === "" ? "0" : new URL(url).port
  const logFile = join(home, "venue.log")
  const child = yield* Effect.try({
    try: () =>
      spawnServer(
        process.execPath,
        [program, "--data-dir", home, "--port", port, "--idle-millis", String(idleMillis)],
        { logFile, environment: {} }
      ),
    catch: () => fail("The simulated venue can not be started.")
  })
  simulator.pid = child.pid ?? 0
  yield* Effect.timeoutOrElse(listening(simulator, child, logFile), {
    duration: startMillis,
    orElse: () =>
      // A child that does not start may not react to an orderly signal either. Its handle ensures that SIGKILL reaches this
      // process and no other.
      Effect.andThen(
        Effect.sync(() => void child.kill("SIGKILL")),
        Effect.andThen(
          until(() => !isRunning(simulator.pid)).pipe(Effect.timeoutOption("1 second")),
          Effect.suspend(() => {
            simulator.pid = 0
            return fail(
              `The simulated venue does not start: it has neither come up nor ended within ${Math.ceil(startMillis / 1_000)} s. Its log is ${logFile}.`
            )
          })
        )
      )
  })
})

/** Completes when the child is the simulator of its folder, or has ended. */
const listening = (simulator: Simulator, child: ChildProcess, logFile: string) =>
  Effect.gen(function* () {
    const { url } = simulator
    for (;;) {
      const ended = child.pid === undefined || child.exitCode !== null || child.signalCode !== null
      const holder = yield* seated(simulator)
      if (typeof holder !== "string" && (url === "" || holder.url === url)) {
        simulator.pid = holder.pid
        simulator.url = holder.url
        return
      }
      if (ended) {
        simulator.pid = 0 // The pid is cleared, because the system may give it to another process, which must get no signal.
        const lastLine = (readText(logFile) ?? "").trim().split("\n").at(-1) ?? ""
        return yield* fail(`The simulated venue does not start: ${lastLine === "" ? "its log is empty." : lastLine}`)
      }
      yield* Effect.sleep("15 millis")
    }
  })

/** Watches the simulator and restarts it on the same port whenever it dies. */
const supervise = (simulator: Simulator) =>
  Effect.gen(function* () {
    yield* until(() => !isRunning(simulator.pid), "100 millis")
    yield* Effect.logWarning("the simulated venue ended unexpectedly; the service restarts it", { pid: simulator.pid })
    yield* adopt(simulator).pipe(
      Effect.flatMap((adopted) => (adopted ? Effect.void : launch(simulator))),
      Effect.tapError((error) => Effect.logError(error.message)),
      Effect.retry(restartRetries)
    )
    yield* Effect.logInfo("the simulated venue runs again", { pid: simulator.pid, url: simulator.url })
  }).pipe(Effect.forever)

/** Stops the simulator: first by an orderly signal, then by SIGKILL, each with a time limit. */
const shutdown = (simulator: Simulator): Effect.Effect<void> =>
  endProcess({
    pid: () => simulator.pid,
    signals: [
      ["SIGTERM", 5_000],
      ["SIGKILL", 1_000]
    ],
    left: simulator.left
  })

const until = (holds: () => boolean, pause: Duration.Input = "15 millis"): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (!holds()) yield* Effect.sleep(pause)
  })
