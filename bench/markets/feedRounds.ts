/**
 * Measures the market feed: tickers and books at 256 connections, beside the service's client reads and a server of
 * prepared buffers; connections to the venue with 256 readers and with one; reports while every market ticks twenty
 * times a second and while none ticks.
 */
import { readFileSync } from "node:fs"
import { Agent } from "node:https"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Child } from "../child.ts"
import type { Slice, SliceResult } from "../load/protocol.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { type RunningService, startService } from "../service.ts"
import { textOf } from "../textOf.ts"
import { type BenchPartner, createPartner, onboardClients } from "../setup.ts"
import type { PathSlice, PreparedQuestion } from "./feedProtocol.ts"

export interface FeedPlan {
  readonly dataDirectory: string
  readonly clients: number
  readonly rounds: number
  readonly sliceMillis: number
  readonly warmMillis: number
  readonly progress: (line: string) => void
}

export interface ReadSide {
  readonly rate: Spread
  readonly p99: Spread
}

export interface FeedFindings {
  readonly market: ReadSide
  readonly clients: ReadSide
  readonly prepared: ReadSide
  /** Subscriptions that the venue counts, with this number of readers at the service. */
  readonly subscriptions: { readonly one: number; readonly many: number }
  /** p99 of reports, ms. */
  readonly ticking: Spread
  readonly still: Spread
  /** Commits handed to the database in two seconds of ticks without requests. */
  readonly commits: number
}

const readers = 256
const reporters = 64
/** Ms between two ticks: fast is twenty a second, and `none` is so long that no tick falls into a slice. */
const ticks = { fast: 50, usual: 250, none: 3_600_000 } as const
const paths = [
  "/ticker?symbol=BTC-USDC-PERP",
  "/orderbook?symbol=BTC-USDC-PERP",
  "/ticker?symbol=ETH-USDC-PERP",
  "/orderbook?symbol=ETH-USDC-PERP"
].map((path) => `/partner/v1${path}`)

interface World {
  readonly service: RunningService
  readonly partner: BenchPartner
  readonly clientIds: ReadonlyArray<number>
  readonly agent: Agent
  readonly reading: Child<PathSlice, SliceResult>
  readonly clientLoad: Child<Slice, SliceResult>
  readonly prepared: Child<PreparedQuestion, { readonly port: number }>
  slices: number
}

const ask = ({ service, agent }: World, path: string, key: string): Promise<string> =>
  textOf(service, agent, { method: "GET", path, key })

const operator = ({ service, agent }: World, method: "GET" | "POST", path: string, body?: object) =>
  textOf(service, agent, { method, path: `/operator/v1${path}`, key: service.operatorKey, body })

const setTicks = (world: World, tickMillis: number) =>
  operator(world, "POST", "/sim/venue/set", { knobs: `tickMillis: ${tickMillis}\n` })

const subscriptionsOf = async (world: World): Promise<number> =>
  (JSON.parse(await operator(world, "GET", "/sim/venue")) as { data: { readers: { subscriptions: number } } }).data
    .readers.subscriptions

const commitsOf = async (world: World): Promise<number> =>
  Number(/^brokerage_commits_total (\d+)/m.exec(await operator(world, "GET", "/metrics"))?.[1])

const sound = (result: SliceResult): SliceResult => {
  if (result.errors > 0) throw new Error(`${result.errors} requests failed, the first one with: ${result.firstError}`)
  return result
}

const readSlice = async (world: World, port: number, millis: number, connections = readers): Promise<SliceResult> => {
  const { service, partner } = world
  return sound(
    await world.reading.ask({ port, ca: service.ca, partnerKey: partner.partnerKey, paths, connections, millis })
  )
}

const clientSlice = async (world: World, kind: "read" | "collateral", connections: number, millis: number) => {
  const { service, partner, clientIds } = world
  return sound(
    await world.clientLoad.ask({
      port: service.port,
      ca: service.ca,
      partnerKey: partner.partnerKey,
      kind,
      clientIds,
      connections,
      millis,
      tag: `f${++world.slices}`
    })
  )
}

const sideOf = (slices: ReadonlyArray<SliceResult>): ReadSide => ({
  rate: spreadOf(slices.map(({ rate }) => rate)),
  p99: spreadOf(slices.map(({ p99Millis }) => p99Millis))
})

const startPrepared = async (world: World, plan: FeedPlan): Promise<number> => {
  const bodies = await Promise.all(
    paths.map(async (path) => ({ path, body: await ask(world, path, world.partner.partnerKey) }))
  )
  const file = (name: string) => readFileSync(join(plan.dataDirectory, "tls", name), "utf8")
  const { partnerKey } = world.partner
  return (await world.prepared.ask({ certificate: file("server.pem"), key: file("server.key"), partnerKey, bodies }))
    .port
}

const measureReads = async (world: World, plan: FeedPlan) => {
  const port = await startPrepared(world, plan)
  const slices: Record<"market" | "clients" | "prepared", Array<SliceResult>> = {
    market: [],
    clients: [],
    prepared: []
  }
  for (let round = 0; round <= plan.rounds; round++) {
    const millis = round === 0 ? plan.warmMillis : plan.sliceMillis
    const market = await readSlice(world, world.service.port, millis)
    const clients = await clientSlice(world, "read", readers, millis)
    const prepared = await readSlice(world, port, millis)
    if (round === 0) continue
    slices.market.push(market)
    slices.clients.push(clients)
    slices.prepared.push(prepared)
    plan.progress(
      `reads: market ${market.rate.toFixed(0)}/s, clients ${clients.rate.toFixed(0)}/s, prepared ${prepared.rate.toFixed(0)}/s`
    )
  }
  return { market: sideOf(slices.market), clients: sideOf(slices.clients), prepared: sideOf(slices.prepared) }
}

const measureSubscriptions = async (world: World, millis: number) => {
  const during = async (connections: number): Promise<number> => {
    const slice = readSlice(world, world.service.port, millis, connections)
    await pause(millis / 2)
    const found = await subscriptionsOf(world)
    await slice
    return found
  }
  return { one: await during(1), many: await during(readers) }
}

const measureTicks = async (world: World, plan: FeedPlan) => {
  const p99: Record<"fast" | "none", Array<number>> = { fast: [], none: [] }
  for (let round = 0; round <= plan.rounds; round++) {
    for (const pace of ["none", "fast"] as const) {
      await setTicks(world, ticks[pace])
      const millis = round === 0 ? plan.warmMillis : plan.sliceMillis
      const { p99Millis } = await clientSlice(world, "collateral", reporters, millis)
      if (round > 0) p99[pace].push(p99Millis)
      plan.progress(`reports, ticks ${pace}: p99 ${p99Millis.toFixed(1)} ms`)
    }
  }
  await pause(1_000)
  const before = await commitsOf(world)
  await pause(2_000)
  const commits = (await commitsOf(world)) - before
  await setTicks(world, ticks.usual)
  return { ticking: spreadOf(p99.fast), still: spreadOf(p99.none), commits }
}

/** Waits until the feed has the markets that are read. */
const ready = async (world: World): Promise<void> => {
  for (let tries = 0; tries < 100; tries++) {
    try {
      for (const path of paths) await ask(world, path, world.partner.partnerKey)
      return
    } catch (error) {
      if (tries === 99) throw error
      await pause(100)
    }
  }
}

export const measureFeed = async (plan: FeedPlan): Promise<FeedFindings> => {
  const service = await startService(plan.dataDirectory)
  const partner = await createPartner(service, "FEED")
  const world: World = {
    service,
    partner,
    clientIds: (await onboardClients(service, partner, plan.clients, "feed")).clientIds,
    agent: new Agent({ ca: service.ca, keepAlive: true }),
    reading: new Child("markets/feedLoad.ts"),
    clientLoad: new Child("load/main.ts"),
    prepared: new Child("markets/preparedServer.ts"),
    slices: 0
  }
  try {
    await ready(world)
    const reads = await measureReads(world, plan)
    const subscriptions = await measureSubscriptions(world, plan.warmMillis)
    return { ...reads, subscriptions, ...(await measureTicks(world, plan)) }
  } finally {
    world.agent.destroy()
    for (const child of [world.reading, world.clientLoad, world.prepared]) await child.stop()
    await service.stop()
  }
}
