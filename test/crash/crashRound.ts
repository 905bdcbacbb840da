/**
 * One round of a crash run: load, a blow, recovery, retries with the same keys, and then the partner's books against
 * the service's (architecture, Proof; SC-PLT-04, SC-PLT-05).
 */
import { Clock, Effect, Fiber, Schema } from "effect"
import { type AuditReport, auditPartner } from "../../simulator/partner/PartnerAudit.ts"
import { pausePoints } from "../../src/runtime/engine/PausePoints.ts"
import type { CrashWorld } from "./CrashWorld.ts"
import { killPostmaster, pausePostgres, readyPostmaster } from "./postmaster.ts"
import type { Exited } from "./ServiceProcess.ts"

const killPoints = pausePoints.map((point) => `at:${point}` as const)

/** What is done to the system. `outage-*` take the database away for a while, `at:*` kill the service at a pause point. */
export const blows = ["service", "database", "both", ...killPoints, "sigterm", "outage-killed", "outage-paused", "takeover"] as const
export type Blow = (typeof blows)[number]

export interface RoundOptions {
  readonly outageMillis: number
}

export interface RoundReport {
  readonly blow: Blow
  /** Acknowledged in this round before the blow, and under way when it fell. */
  readonly before: number
  readonly underWay: number
  /** From the blow to the first acknowledgement that the recovered system gave. */
  readonly recoveryMillis: number
  /** From the start of the new process to its ready line; null when the service was not restarted. */
  readonly readyMillis: number | null
  /** 503 answers of this round, and those without Retry-After. */
  readonly unavailable: number
  readonly unavailableWithoutRetryAfter: number
  readonly audit: AuditReport
  /** Everything that must not be, as sentences; empty is what is hoped for. */
  readonly faults: ReadonlyArray<string>
}

/** Bounds of what is waited for; nothing here takes as long in a healthy system. */
const patience = "90 seconds"
const stopLimitMillis = 15_000

/** What a blow tells: when it fell, when the system could answer again, what is wrong already. */
interface Struck {
  readonly at: number
  readonly backAt: number
  readonly underWay: number
  readonly readyMillis: number | null
  readonly faults: ReadonlyArray<string>
}

export const crashRound = Effect.fnUntraced(function* (world: CrashWorld, blow: Blow, options: RoundOptions): Effect.fn.Return<RoundReport> {
  const { bot, random } = world
  const faults: Array<string> = []
  const start = { acknowledged: bot.acknowledged, ...bot.tally, contradictions: bot.journal.contradictions.length }
  bot.addClients(random.between(3, 8))
  const point = killPoints.find((each) => each === blow)?.slice("at:".length)
  if (point !== undefined) faults.push(...(yield* restartToDieAt(world, point)))
  const load = yield* Effect.forkChild(bot.work)
  const warm = start.acknowledged + random.between(50, 300)
  if (point === undefined) {
    yield* until("the load to flow", () => bot.acknowledged >= warm)
    yield* Effect.sleep(random.between(0, 40))
  }
  const struck = yield* strike(world, blow, options)
  faults.push(...struck.faults)
  const firstAfter = () => bot.journal.entries.findLast(({ at }) => at >= struck.backAt) !== undefined
  yield* until("the first acknowledgement after the recovery", firstAfter)
  const recoveredAt = bot.journal.entries.find(({ at }) => at >= struck.backAt)?.at ?? struck.backAt
  const enough = bot.acknowledged + random.between(50, 120)
  yield* until("the load to flow again", () => bot.acknowledged >= enough)
  bot.stopPlanning()
  const ended = yield* Effect.timeoutOption(Fiber.join(load), patience)
  if (ended._tag === "None") faults.push(`${bot.open.size} requests were still not acknowledged after all retries.`)
  yield* Fiber.interrupt(load)
  const audit = yield* bounded("the audit", auditPartner({ ...world, journal: bot.journal }))
  faults.push(...audit.lost, ...audit.doubled, ...audit.wrong, ...bot.journal.contradictions.slice(start.contradictions))
  faults.push(...(yield* bounded("ledger verify", ledgerFaults(world))))
  const unavailableWithoutRetryAfter = bot.tally.unavailableWithoutRetryAfter - start.unavailableWithoutRetryAfter
  if (unavailableWithoutRetryAfter > 0) faults.push(`${unavailableWithoutRetryAfter} answers 503 came without Retry-After.`)
  const serverErrors = bot.tally.serverErrors - start.serverErrors
  if (serverErrors > 0) faults.push(`${serverErrors} answers were server errors other than 502 and 503.`)
  const unavailable = bot.tally.unavailable - start.unavailable
  if (blow === "outage-killed" && unavailable === 0) faults.push("No request was answered 503 while the database was away.")
  return {
    ...{ blow, audit, faults, unavailable, unavailableWithoutRetryAfter },
    before: bot.journal.entries.slice(start.acknowledged).filter(({ at }) => at < struck.at).length,
    underWay: struck.underWay,
    recoveryMillis: recoveredAt - struck.at,
    readyMillis: struck.readyMillis
  }
})

const strike = (world: CrashWorld, blow: Blow, options: RoundOptions): Effect.Effect<Struck> => {
  switch (blow) {
    case "service":
    case "both":
      return killService(world, blow === "both")
    case "database":
      return outage(world, Effect.flatMap(Effect.sync(() => killPostmaster(world.cluster)), (pid) => readyAgain(world, pid)))
    case "outage-killed":
      return outage(world, Effect.flatMap(keepKilling(world, options.outageMillis), (pid) => readyAgain(world, pid)))
    case "outage-paused":
      return outage(world, pauseFor(world, options.outageMillis))
    case "sigterm":
      return terminate(world)
    case "takeover":
      return takeOver(world)
    default:
      return Effect.flatMap(expectKilled(world), (at) => restarted(world, at, world.bot.open.size, []))
  }
}

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

const expectKilled = (world: CrashWorld): Effect.Effect<number> =>
  Effect.gen(function* () {
    const { signal } = yield* bounded("the service to kill itself", world.service().exited)
    if (signal !== "SIGKILL") return yield* Effect.die(new Error(`the service ended by ${signal}, not at its pause point`))
    return yield* Clock.currentTimeMillis
  })

const terminate = (world: CrashWorld): Effect.Effect<Struck> =>
  Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis
    const underWay = world.bot.open.size
    world.service().signal("SIGTERM")
    const exited = yield* bounded("the service to stop", world.service().exited)
    const took = (yield* Clock.currentTimeMillis) - at
    return yield* restarted(world, at, underWay, [
      ...stopFaults(exited),
      ...(took > stopLimitMillis ? [`The service took ${took} ms to stop after SIGTERM.`] : [])
    ])
  })

const stopFaults = ({ code, signal }: Exited): ReadonlyArray<string> =>
  code === 0 ? [] : [`The service ended with ${code ?? signal} after SIGTERM, not with 0.`]

const restarted = (world: CrashWorld, at: number, underWay: number, faults: ReadonlyArray<string>): Effect.Effect<Struck> =>
  Effect.gen(function* () {
    const { readyMillis } = yield* world.start()
    return { at, underWay, readyMillis, faults, backAt: yield* Clock.currentTimeMillis }
  })

/** A newer service on the same database: the older one has to notice and end by itself, not with 0. */
const takeOver = (world: CrashWorld): Effect.Effect<Struck> =>
  Effect.gen(function* () {
    const older = world.service()
    const at = yield* Clock.currentTimeMillis
    const struck = yield* restarted(world, at, world.bot.open.size, [])
    const { code } = yield* bounded("the older service to end by itself", older.exited)
    return code === null || code === 0 ? { ...struck, faults: [`The older service ended with ${code}, which says nothing.`] } : struck
  })

const outage = (world: CrashWorld, blowAndBack: Effect.Effect<void>): Effect.Effect<Struck> =>
  Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis
    const underWay = world.bot.open.size
    const { pid } = world.service()
    yield* blowAndBack
    const faults = world.service().hasExited() ? [`The service ${pid} did not survive the loss of its database.`] : []
    return { at, underWay, readyMillis: null, faults, backAt: yield* Clock.currentTimeMillis }
  })

/** Ready, and not the one that was just killed (it may still be dying). */
const readyAgain = (world: CrashWorld, killed: number | null): Effect.Effect<void> =>
  until("the database to be restarted", () => {
    const pid = readyPostmaster(world.cluster)
    return pid !== null && pid !== killed
  })

/** The supervisor starts the server again and again, and each one dies. The last pid. */
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

/** An orderly restart of a service that will kill itself at the point after some passes. */
const restartToDieAt = (world: CrashWorld, point: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    world.service().signal("SIGTERM")
    const exited = yield* bounded("the service to stop", world.service().exited)
    yield* world.start({ killAt: { point, times: world.random.between(3, 60) } })
    return stopFaults(exited)
  })

const LedgerProof = Schema.Struct({
  ok: Schema.Boolean,
  checks: Schema.Array(Schema.Struct({ name: Schema.String, ok: Schema.Boolean, detail: Schema.NullOr(Schema.String) }))
})

const ledgerFaults = (world: CrashWorld): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(world.operatorRead("/ledger/verify"), (data) => {
    const { ok, checks } = Schema.decodeUnknownSync(LedgerProof)(data)
    const broken = checks.filter((check) => !check.ok).map(({ name, detail }) => `ledger verify: ${name}: ${detail}.`)
    return ok === (broken.length === 0) && checks.length > 0 ? broken : ["ledger verify contradicts itself.", ...broken]
  })

const until = (what: string, holds: () => boolean): Effect.Effect<void> =>
  bounded(
    what,
    Effect.gen(function* () {
      while (!holds()) yield* Effect.sleep(5)
    })
  )

const bounded = <A>(what: string, effect: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.timeoutOrElse(effect, { duration: patience, orElse: () => Effect.die(new Error(`waited in vain for ${what}`)) })
