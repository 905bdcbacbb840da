/**
 * An end-of-day run: TRANSACTIONS statements of very many clients with a number of trades of the day each, made by the
 * service's own job once its clock has passed midnight. The reference is a loop over clients by plain SQL. Another
 * partner's callers are measured at the same time.
 */
import type { PacedLoadQuestion, PacedResult } from "../contracts/protocol.ts"
import { Child } from "../child.ts"
import { besideOthers, tradePattern } from "../margin/MarginWorld.ts"
import { operator } from "../operator.ts"
import { cpuMicros, serverCpuMicros, usedBetween } from "../processFacts.ts"
import { makeReferenceDatabase, onDatabase } from "../reference/database.ts"
import { setTimeout as pause } from "node:timers/promises"
import { postmasterPid, type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner, onboardClients } from "../setup.ts"
import { storeClients } from "../storedClients.ts"
import { makeTrader } from "../traders.ts"
import type { PlainNightQuestion, PlainNightResult } from "./protocol.ts"
import { storeTrades } from "./preparedTrades.ts"

export interface NightPlan {
  readonly dataDirectory: string
  readonly clients: number
  /** Trades per client. */
  readonly each: number
  /** Clients of the plain SQL loop; zero: the loop is left out. */
  readonly plain: number
  readonly others: number
  readonly progress: (line: string) => void
}

export interface NightFindings {
  readonly clients: number
  readonly each: number
  /** From the moment at which the clock passes midnight until the last statement is stored. */
  readonly seconds: number
  /** Statements per second. */
  readonly rate: number
  /** Microseconds of processor time per statement. */
  readonly program: number
  readonly database: number
  readonly beside: PacedResult
  readonly plain: { readonly rate: number; readonly concurrency: number; readonly beside: PacedResult } | null
}

type Load = Child<PacedLoadQuestion, PacedResult>

const cash = "1000000.00"
const dayMillis = 86_400_000
/** The statements of an end-of-day run are due half an hour after midnight, ms. */
const afterNight = 31 * 60_000
const patienceMillis = 3 * 3_600_000
const concurrencies = [4, 8, 16] as const

interface World {
  readonly plan: NightPlan
  readonly other: BenchPartner & { readonly clientIds: ReadonlyArray<number> }
  readonly clientIds: ReadonlyArray<number>
  readonly day: { readonly from: number; readonly to: number }
  readonly referenceUrl: string
}

/** The trades lie in the service's present day, before now. */
const makeWorld = async (plan: NightPlan): Promise<World> => {
  const service = await startService(plan.dataDirectory)
  try {
    const partner = await createPartner(service, "NIGHT")
    const other = await createPartner(service, "OTHER")
    const [pattern] = (await onboardClients(service, partner, 1, "night")).clientIds as [number]
    await makeTrader(service, partner, pattern, { custody: "PARTNER", cash })
    await tradePattern(service, partner, pattern)
    const others = (await onboardClients(service, other, plan.others, "other")).clientIds
    const referenceUrl = await makeReferenceDatabase(service.databaseUrl, "reference_night")
    const clientIds = await storeClients(service.databaseUrl, pattern, plan.clients)
    const now = Date.now()
    const from = now - (now % dayMillis)
    await storeTrades(service.databaseUrl, pattern, { clientIds, each: plan.each, from, to: now })
    plan.progress(`${clientIds.length} clients with ${plan.each} trades each stored`)
    const day = { from, to: from + dayMillis }
    return { plan, other: { ...other, clientIds: others }, clientIds, day, referenceUrl }
  } finally {
    await service.stop()
  }
}

const statementsOf = (databaseUrl: string, { from }: World["day"]): Promise<number> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly n: string }>(
      "SELECT count(*) AS n FROM statements WHERE kind = 'TRANSACTIONS' AND period_from = $1",
      [from]
    )
    return Number(rows[0]?.n)
  })

type Measured = Pick<NightFindings, "seconds" | "program" | "database" | "beside">

const measureNight = async (world: World, service: RunningService, load: Load): Promise<Measured> => {
  const { plan, day } = world
  // The pattern client has a trade of its own.
  const wanted = plan.clients + 1
  const postmaster = postmasterPid(plan.dataDirectory)
  const look = () => ({ app: cpuMicros(service.pid), server: serverCpuMicros(postmaster) })
  const { found, beside } = await besideOthers({ load, other: world.other }, service, "night", async () => {
    const before = look()
    const began = performance.now()
    const advanceMillis = day.to + afterNight - Date.now()
    await operator(service, "POST", "/sim/clock", { advanceMillis })
    for (let made = 0; made < wanted; made = await statementsOf(service.databaseUrl, day)) {
      await pause(250)
      if (performance.now() - began > patienceMillis) throw new Error(`${made} of ${wanted} statements were made`)
    }
    return { before, after: look(), seconds: (performance.now() - began) / 1_000 }
  })
  const { before, after, seconds } = found
  return {
    seconds,
    program: (after.app - before.app) / plan.clients,
    database: usedBetween(before.server, after.server) / plan.clients,
    beside
  }
}

/** Checks that each client has exactly one statement with its rows. */
const checkNight = ({ databaseUrl }: RunningService, { clientIds, day, plan }: World): Promise<void> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<Readonly<Record<"clients" | "all" | "rows", string>>>(
      `SELECT count(DISTINCT client_id) AS clients, count(*) AS all, sum((context ->> 'rows')::bigint) AS rows
         FROM statements WHERE kind = 'TRANSACTIONS' AND period_from = $1 AND client_id = ANY($2)`,
      [day.from, clientIds]
    )
    const { clients, all, rows: said } = rows[0] as (typeof rows)[number]
    const wanted = [plan.clients, plan.clients, plan.clients * plan.each].join()
    if ([clients, all, said].join() !== wanted)
      throw new Error(`clients, statements and rows are ${[clients, all, said].join()}, not ${wanted}`)
  })

/** The service answers the same callers during the loop. */
const measurePlain = async (world: World, service: RunningService, load: Load): Promise<NightFindings["plain"]> => {
  const { plan, day, clientIds } = world
  if (plan.plain === 0) return null
  const child = new Child<PlainNightQuestion, PlainNightResult>("statements/plainNight.ts")
  try {
    let best: NightFindings["plain"] = null
    for (const concurrency of concurrencies) {
      const asked = { databaseUrl: service.databaseUrl, ownUrl: world.referenceUrl, concurrency, ...day }
      const { found, beside } = await besideOthers({ load, other: world.other }, service, `plain-${concurrency}`, () =>
        child.ask({ ...asked, clientIds: clientIds.slice(0, plan.plain) })
      )
      const { statements, millis } = found
      const rate = (statements * 1_000) / millis
      plan.progress(`a loop over clients, ${concurrency} connections: ${rate.toFixed(0)} statements a second`)
      if (best === null || rate > best.rate) best = { rate, concurrency, beside }
    }
    return best
  } finally {
    await child.stop()
  }
}

export const measureNights = async (plan: NightPlan): Promise<NightFindings> => {
  const world = await makeWorld(plan)
  const service = await startService(plan.dataDirectory)
  const load: Load = new Child("contracts/pacedLoad.ts")
  try {
    const plain = await measurePlain(world, service, load)
    const measured = await measureNight(world, service, load)
    await checkNight(service, world)
    plan.progress(`a night of ${plan.clients} clients in ${measured.seconds.toFixed(1)} s`)
    return { clients: plan.clients, each: plan.each, rate: plan.clients / measured.seconds, ...measured, plain }
  } finally {
    await load.stop()
    await service.stop()
  }
}
