/**
 * Measures very many open contracts: the memory of each, the duration of a start, the cost of a tick that ends no contract, and
 * one price move that ends all contracts while another partner reads and reports.
 */
import { setTimeout as pause } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { Client } from "pg"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"
import { LevelIndex } from "../../src/runtime/services/margin/LevelIndex.ts"
import { Child } from "../child.ts"
import type { Slice, SliceResult } from "../load/protocol.ts"
import { onDatabase } from "../reference/database.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import type { RunningService } from "../service.ts"
import { heldBytes } from "./heapOf.ts"
import { metricOf, operator, until } from "../operator.ts"
import {
  checkHouse,
  contractsBy,
  fundHouse,
  holdPrice,
  type House,
  type HousePlan,
  makeHouse,
  prices,
  startHouse,
  symbol
} from "./house.ts"
import { storeRequests, storeVenueContracts, venueBytesEach } from "./preparedContracts.ts"
import type { PacedResult } from "./protocol.ts"

export interface MassEndPlan extends HousePlan {
  readonly rounds: number
  readonly sliceMillis: number
  readonly warmMillis: number
  readonly tickingMillis: number
}

export interface MassEndFindings {
  readonly contracts: number
  readonly clients: number
  /** Contracts a second that the service opened from the venue's events, each with its commission. */
  readonly openedRate: number
  /** Ms to ready, without the contracts and with them. */
  readonly starts: { readonly without: Spread; readonly with: Spread }
  /** Bytes per open contract: in the service before its clients are in memory, with all of them, and in the venue. */
  readonly memory: { readonly idle: number; readonly resident: number; readonly venue: number }
  readonly ticks: TickFindings
  /** Acknowledged collateral reports a second at 64 connections. */
  readonly reports: Spread
  readonly end: EndFindings
}

interface TickFindings {
  readonly millis: number
  readonly commits: number
  /** The number of clients that were loaded into memory, because a turn loads its client. */
  readonly turns: number
  /** The most levels that one tick visited. */
  readonly looked: number
  readonly marks: number
}

interface EndFindings {
  /** From the command that sets the price until every end is committed. */
  readonly seconds: number
  readonly rate: number
  readonly beside: PacedResult
}

const reporters = 64
const paced = { readsPerSecond: 100, reportsPerSecond: 50 } as const
const ticks = { fast: 100, usual: 250 } as const

/** Reads each client once, so that the service loads all of them into memory. */
const readAll = async (house: House, service: RunningService, load: Child<Slice, SliceResult>): Promise<void> => {
  const { port, ca } = service
  const { partnerKey } = house.partner
  const read = {
    kind: "readOnce",
    clientIds: house.clientIds,
    connections: reporters,
    millis: 600_000,
    tag: ""
  } as const
  const { acknowledged, firstError } = await load.ask({ port, ca, partnerKey, ...read })
  if (acknowledged !== house.clientIds.length) throw new Error(`not every client was read: ${firstError}`)
}

interface Held {
  readonly idle: number
  readonly resident: number
}

const measureHeld = async (house: House, service: RunningService, load: Child<Slice, SliceResult>): Promise<Held> => {
  const idle = await heldBytes(service.pid)
  await readAll(house, service, load)
  return { idle, resident: await heldBytes(service.pid) }
}

const measureStarts = async ({ plan }: House, rounds: number): Promise<Spread> => {
  const times: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const service = await startHouse(plan.dataDirectory)
    await service.stop()
    times.push(service.readyMillis)
  }
  return spreadOf(times)
}

/** Waits until the service has opened every contract of the venue's events. Returns contracts a second. */
const openAll = async ({ plan, clientIds }: House): Promise<number> => {
  const service = await startHouse(plan.dataDirectory)
  try {
    const began = performance.now()
    const wanted = clientIds.length * plan.contractsEach + 1
    await until("every contract is open", async () => (await contractsBy(service)).get("OPEN") === wanted, 250)
    const rate = (wanted * 1_000) / (performance.now() - began)
    plan.progress(`${wanted} contracts taken over from the venue, ${rate.toFixed(0)} a second`)
    await checkHouse(service, { open: wanted, ended: 0 })
    plan.progress("the books hold them")
    return rate
  } finally {
    await service.stop()
  }
}

const levelsOf = async (service: RunningService): Promise<LevelIndex> => {
  const index = new LevelIndex()
  const rows = await onDatabase(service.databaseUrl, async (client) => {
    const found = await client.query<{ readonly id: string; readonly client_id: string; readonly context: Terms }>(
      "SELECT id, client_id, context FROM barrier_contracts WHERE state = 'OPEN'"
    )
    return found.rows
  })
  for (const { id, client_id: clientId, context } of rows)
    index.add({ ...context, contractId: Number(id), clientId: Number(clientId) })
  return index
}
type Terms = Omit<Parameters<LevelIndex["add"]>[0], "contractId" | "clientId">

const markOf = async (service: RunningService): Promise<string | null> => {
  const { data } = JSON.parse(await operator(service, "GET", "/sim/venue")) as {
    readonly data: { readonly markets: ReadonlyArray<{ readonly symbol: string; readonly mark: string | null }> }
  }
  return data.markets.find((market) => market.symbol === symbol)?.mark ?? null
}

/** Measures ticks of every market that cross no level. An index of the same levels also gets the published marks. */
const measureTicks = async (service: RunningService, millis: number): Promise<TickFindings> => {
  await operator(service, "POST", "/sim/venue/clear", {})
  await operator(service, "POST", "/sim/venue/set", { knobs: `tickMillis: ${ticks.fast}\n` })
  await pause(2_000)
  const index = await levelsOf(service)
  const figures = async () => [
    await metricOf(service, "brokerage_commits_total"),
    await metricOf(service, "brokerage_mailboxes")
  ]
  const [commits = 0, mailboxes = 0] = await figures()
  let looked = 0
  let near = 0
  const marks = new Set<string>()
  for (const ends = performance.now() + millis; performance.now() < ends; await pause(ticks.fast)) {
    const mark = await markOf(service)
    if (mark === null || marks.has(mark)) continue
    marks.add(mark)
    looked = Math.max(
      looked,
      index.tick(symbol, new MoneyDecimal(mark), () => void near++)
    )
  }
  const [commitsAfter = 0, mailboxesAfter = 0] = await figures()
  await operator(service, "POST", "/sim/venue/set", { knobs: `tickMillis: ${ticks.usual}\n` })
  await holdPrice(service, prices.entry)
  if (near > 0) throw new Error("a level was near to a mark of ticks that were to cross none")
  return { millis, commits: commitsAfter - commits, turns: mailboxesAfter - mailboxes, looked, marks: marks.size }
}

const measureReports = async (
  house: House,
  service: RunningService,
  load: Child<Slice, SliceResult>,
  plan: MassEndPlan
) => {
  const { partnerKey, clientIds } = house.other
  const rates: Array<number> = []
  for (let round = 0; round <= Math.min(3, plan.rounds); round++) {
    const millis = round === 0 ? plan.warmMillis : plan.sliceMillis
    const slice = { kind: "collateral", connections: reporters, millis, tag: `c${round}` } as const
    const { errors, firstError, rate } = await load.ask({
      port: service.port,
      ca: service.ca,
      partnerKey,
      clientIds,
      ...slice
    })
    if (errors > 0) throw new Error(`${errors} reports failed, the first one with: ${firstError}`)
    if (round > 0) rates.push(rate)
  }
  return spreadOf(rates)
}

/** Moves the price through every barrier at once. */
const measureEnd = async (house: House, service: RunningService): Promise<EndFindings> => {
  const { other, load, plan } = house
  const contracts = house.clientIds.length * plan.contractsEach + 1
  const { port, ca } = service
  const { partnerKey, clientIds } = other
  await load.ask({ kind: "begin", port, ca, partnerKey, clientIds, tag: "beside", ...paced })
  await pause(1_000)
  const began = performance.now()
  await holdPrice(service, prices.beyondAll)
  // The number of open contracts is a cheap query on one connection. It falls to zero when all ends are committed.
  await onDatabase(service.databaseUrl, (client) =>
    until("every contract has ended", async () => !(await hasOpen(client)), 50)
  )
  const seconds = (performance.now() - began) / 1_000
  const beside = await load.ask({ kind: "end" })
  return { seconds, rate: contracts / seconds, beside }
}

const hasOpen = async (client: Client): Promise<boolean> => {
  const { rows } = await client.query<{ readonly open: boolean }>(
    "SELECT EXISTS (SELECT 1 FROM barrier_contracts WHERE state = 'OPEN') AS open"
  )
  return rows[0]?.open === true
}

const garbageCollector = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc") as () => void
}

export const measureMassEnd = async (plan: MassEndPlan): Promise<MassEndFindings> => {
  const house = await makeHouse(plan)
  const load = new Child<Slice, SliceResult>("load/main.ts")
  let service: RunningService | null = null
  try {
    const contracts = plan.clients * plan.contractsEach + 1
    const without = await measureStarts(house, plan.rounds)
    service = await startHouse(plan.dataDirectory)
    const empty = await measureHeld(house, service, load)
    await fundHouse(house, service)
    plan.progress("every client has cash")
    const copied = { traderId: house.traderId, clientIds: house.clientIds, each: plan.contractsEach }
    const uids = await storeRequests(service.databaseUrl, copied)
    await service.stop()
    await storeVenueContracts(plan.dataDirectory, uids, plan.contractsEach)
    plan.progress("requests and the venue's contracts are stored")
    const openedRate = await openAll(house)
    const withThem = await measureStarts(house, plan.rounds)
    const venue = await venueBytesEach(plan.dataDirectory, garbageCollector())
    service = await startHouse(plan.dataDirectory)
    const after = await measureHeld(house, service, load)
    await service.stop()
    const memory = {
      idle: (after.idle - empty.idle) / contracts,
      resident: (after.resident - empty.resident) / contracts,
      venue
    }
    plan.progress(
      `bytes of a contract: ${Object.values(memory)
        .map((bytes) => bytes.toFixed(0))
        .join(", ")}`
    )
    service = await startHouse(plan.dataDirectory)
    const found = await measureTicks(service, plan.tickingMillis)
    plan.progress(
      `${found.marks} ticks: ${found.commits} commits, ${found.turns} turns, ${found.looked} levels looked at`
    )
    const reports = await measureReports(house, service, load, plan)
    const end = await measureEnd(house, service)
    plan.progress(`${contracts} contracts ended in ${end.seconds.toFixed(1)} s, ${end.rate.toFixed(0)} a second`)
    await checkHouse(service, { open: 0, ended: contracts })
    const starts = { without, with: withThem }
    return {
      contracts,
      clients: plan.clients,
      openedRate,
      starts,
      memory,
      ticks: found,
      reports,
      end
    }
  } finally {
    await load.stop()
    await house.load.stop()
    await house.receiver.stop()
    await service?.stop().catch(() => undefined)
  }
}
