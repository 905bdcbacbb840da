/**
 * The faults of a crash run: the attacks on the running system, and its recovery (architecture, Proof: crash runs with
 * kill -9 of service and database; SC-PLT-04, SC-PLT-05).
 */
import { Clock, Effect, Fiber } from "effect"
import { pausePoints } from "../../src/runtime/engine/PausePoints.ts"
import type { CrashWorld } from "./CrashWorld.ts"
import { bounded, until, untilFound } from "./patience.ts"
import { killPostmaster, pausePostgres, readyPostmaster } from "./postmaster.ts"
import type { Exited } from "./ServiceProcess.ts"
import { venuePid } from "./venueSeat.ts"

const killPoints = pausePoints.map((point) => `at:${point}` as const)

/** `outage-*` make the database unavailable for a while; `at:*` kill the service exactly at a pause point. */
export const blows = [
  "service",
  "database",
  "both",
  "venue",
  ...killPoints,
  "sigterm",
  "outage-killed",
  "outage-paused",
  "takeover"
] as const
export type Blow = (typeof blows)[number]

export interface StrikeOptions {
  readonly outageMillis: number
}

/** The time of the fault, the time from which the system could answer again, and the faults found so far. */
export interface Struck {
  readonly at: number
  /** The time at which the fault ended: an outage lasts, a kill does not. */
  readonly overAt: number
  readonly backAt: number
  readonly underWay: number
  /** From the start of the new process to its ready line; null if the service was not restarted. */
  readonly readyMillis: number | null
  readonly faults: ReadonlyArray<string>
}

const stopLimitMillis = 15_000
/**
 * The time within which a service without its database must answer 503 instead of letting callers wait: the journal
 * waits 10 s for a silent server, and then 3 s for the batch's outcome on a new connection.
 */
export const sayLimitMillis = 15_000

/** The pause point of an `at:` fault; null for any other fault. */
export const killPointOf = (blow: Blow): string | null =>
  killPoints.find((each) => each === blow)?.slice("at:".length) ?? null

/** Performs the fault, and waits until the system has recovered or the next request is all that its recovery needs. */
export const strike = (world: CrashWorld, blow: Blow, options: StrikeOptions): Effect.Effect<Struck> => {
  switch (blow) {
    case "service":
    case "both":
      return killService(world, blow === "both")
    case "database":
      return outage(
        world,
        0,
        Effect.flatMap(
          Effect.sync(() => killPostmaster(world.cluster)),
          (pid) => readyAgain(world, pid)
        )
      )
    case "outage-killed":
      return outage(
        world,
        options.outageMillis,
        Effect.flatMap(keepKilling(world, options.outageMillis), (pid) => readyAgain(world, pid))
      )
    case "outage-paused":
      return outage(world, options.outageMillis, pauseFor(world, options.outageMillis))
    case "venue":
      return loseVenue(world)
    case "sigterm":
      return terminate(world)
    case "takeover":
      return takeOver(world)
    default:
      return Effect.flatMap(expectKilled(world), (at) => restarted(world, at, world.bot.open.size, []))
  }
}

const passStatuses = (world: CrashWorld): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(world.operatorRead("/screening/passes"), (data) =>
    (data as { readonly passes: ReadonlyArray<{ readonly status: string }> }).passes.map(({ status }) => status)
  )

/**
 * Waits for the background screening of all stored clients after the first start (F26), so that a kill at the next pass
 * of a point hits the intended request.
 */
export const screenedOnce = (world: CrashWorld): Effect.Effect<void> =>
  Effect.gen(function* () {
    if ((yield* passStatuses(world)).length > 0) return
    world.service().signal("SIGTERM")
    yield* bounded("the service to stop", world.service().exited)
    yield* world.start()
    yield* untilFound(
      "the stored clients to be screened",
      Effect.map(passStatuses(world), (statuses) => statuses.includes("DONE"))
    )
  })

/** Restarts the service in order, so that it kills itself at the point after some passes. Returns the faults. */
export const restartToDieAt = (
  world: CrashWorld,
  point: string,
  times = world.random.between(3, 60)
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    world.service().signal("SIGTERM")
    const exited = yield* bounded("the service to stop", world.service().exited)
    yield* world.start({ killAt: { point, times } })
    return stopFaults(exited)
  })

const killService = (world: CrashWorld, database: boolean): Effect.Effect<Struck> =>
  Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis
    const underWay = world.bot.open.size
    const serviceFirst = world.random.chance(0.5)
    if (serviceFirst) world.service().signal("SIGKILL")
    if (database) killPostmaster(world.cluster)
    if (!serviceFirst) world.service().signal("SIGKILL")
    yield* bounded("the service to end", world.service().exited)
    return yield* restarted(world, at, underWay, [])
  })

/** The service continues without its venue, and restarts it. */
const loseVenue = (world: CrashWorld): Effect.Effect<Struck> =>
  Effect.gen(function* () {
    const pid = Effect.promise(() => venuePid(world.dataDir).catch(() => null))
    yield* untilFound(
      "the venue to be up",
      Effect.map(pid, (found) => found !== null)
    )
    const killed = yield* pid
    const at = yield* Clock.currentTimeMillis
    const underWay = world.bot.open.size
    if (killed !== null) process.kill(killed, "SIGKILL")
    yield* untilFound(
      "the venue to be started again",
      Effect.map(pid, (found) => found !== null && found !== killed)
    )
    const faults = world.service().hasExited() ? ["The service did not survive the loss of its venue."] : []
    return { at, overAt: at, underWay, readyMillis: null, faults, backAt: yield* Clock.currentTimeMillis }
  })

const expectKilled = (world: CrashWorld): Effect.Effect<number> =>
  Effect.gen(function* () {
    const { signal } = yield* bounded("the service to kill itself", world.service().exited)
    if (signal !== "SIGKILL")
      return yield* Effect.die(new Error(`the service ended by ${signal}, not at its pause point`))
    return yield* Clock.currentTimeMillis
  })

const terminate = (world: CrashWorld): Effect.Effect<Struck> =>
  Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis
    const underWay = world.bot.open.size
    world.service().signal("SIGTERM")
    const exited = yield* bounded("the service to stop", world.service().exited)
    const took = (yield* Clock.currentTimeMillis) - at
    const late = took > stopLimitMillis ? [`The service took ${took} ms to stop after SIGTERM.`] : []
    return yield* restarted(world, at, underWay, [...stopFaults(exited), ...late])
  })

const stopFaults = ({ code, signal }: Exited): ReadonlyArray<string> =>
  code === 0 ? [] : [`The service ended with ${code ?? signal} after SIGTERM, not with 0.`]

const restarted = (
  world: CrashWorld,
  at: number,
  underWay: number,
  faults: ReadonlyArray<string>
): Effect.Effect<Struck> =>
  Effect.gen(function* () {
    const { readyMillis } = yield* world.start()
    return { at, overAt: at, underWay, readyMillis, faults, backAt: yield* Clock.currentTimeMillis }
  })

/**
 * Starts a newer service on the same database. The older one must detect this and end by itself, with a status other
 * than 0.
 */
const takeOver = (world: CrashWorld): Effect.Effect<Struck> =>
  Effect.gen(function* () {
    const older = world.service()
    const at = yield* Clock.currentTimeMillis
    const struck = yield* restarted(world, at, world.bot.open.size, [])
    const { code } = yield* bounded("the older service to end by itself", older.exited)
    return code === null || code === 0
      ? { ...struck, faults: [`The older service ended with ${code}, which says nothing.`] }
      : struck
  })

const outage = (world: CrashWorld, awayMillis: number, blowAndBack: Effect.Effect<void>): Effect.Effect<Struck> =>
  Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis
    const underWay = world.bot.open.size
    const unavailable = world.bot.tally.unavailable
    const health = new Set<number>()
    const watcher = yield* Effect.forkChild(watchHealth(world, health))
    yield* blowAndBack
    yield* Fiber.interrupt(watcher)
    const faults: Array<string> = []
    if (world.service().hasExited()) faults.push("The service did not survive the loss of its database.")
    if (awayMillis >= sayLimitMillis) {
      if (world.bot.tally.unavailable === unavailable)
        faults.push("No request was answered 503 while the database was away.")
      if (!health.has(503)) faults.push("/healthz never said 503 while the database was away.")
    }
    return { at, overAt: at + awayMillis, underWay, readyMillis: null, faults, backAt: yield* Clock.currentTimeMillis }
  })

const watchHealth = (world: CrashWorld, seen: Set<number>): Effect.Effect<never> =>
  world.client
    .send({ method: "GET", path: "/healthz" })
    .pipe(
      Effect.match({ onSuccess: ({ status }) => void seen.add(status), onFailure: () => undefined }),
      Effect.andThen(Effect.sleep(250)),
      Effect.forever
    )

/** Waits for a ready service other than the killed one, which may still be ending. */
export const readyAgain = (world: Pick<CrashWorld, "cluster">, killed: number | null): Effect.Effect<void> =>
  until("the database to be restarted", () => {
    const pid = readyPostmaster(world.cluster)
    return pid !== null && pid !== killed
  })

/** Kills every server that the supervisor starts. Returns the last pid. */
const keepKilling = (world: CrashWorld, millis: number): Effect.Effect<number | null> =>
  Effect.gen(function* () {
    const end = (yield* Clock.currentTimeMillis) + millis
    let last: number | null = null
    while ((yield* Clock.currentTimeMillis) < end) {
      last = killPostmaster(world.cluster) ?? last
      yield* Effect.sleep(20)
    }
    return last
  })

const pauseFor = (world: CrashWorld, millis: number): Effect.Effect<void> =>
  Effect.acquireUseRelease(
    Effect.sync(() => pausePostgres(world.cluster)),
    () => Effect.sleep(millis),
    (resume) => Effect.sync(resume)
  )
