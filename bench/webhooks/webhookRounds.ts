/**
 * The webhook part of the benchmark: the rate at which a backlog drains; the time of an event from its commit to a
 * healthy receiver while a hanging and a dead receiver have their own backlogs; and the cost of deliveries for
 * concurrent money writes. graphile-worker posts the same bodies to the same receivers on the same PostgreSQL server,
 * in alternating slices.
 */
import { mkdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Child } from "../child.ts"
import { percentile, type Slice, type SliceResult } from "../load/protocol.ts"
import { onDatabase } from "../reference/database.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { type RunningService, startService } from "../service.ts"
import {
  type BenchPartner,
  createPartner,
  deleteWebhook,
  onboardClients,
  putWebhook,
  reportCollateral
} from "../setup.ts"
import type { Arrivals, PeerAnswer, PeerQuestion, ReceiverAnswer, ReceiverQuestion } from "./protocol.ts"

export interface Latency {
  readonly p50Millis: number
  readonly p99Millis: number
  readonly maxMillis: number
  /** Events that had not arrived when the wait ended. */
  readonly missing: number
}

export interface WebhookFindings {
  readonly backlog: number
  /** Deliveries per second while a backlog drains. */
  readonly drain: { readonly service: Spread; readonly peer: Spread }
  /** Beside a hanging and a dead receiver with `stuck` events each. */
  readonly latency: {
    readonly service: Latency
    readonly peer: Latency
    readonly stuck: number
    readonly perSecond: number
  }
  /** Money writes per second at 64 connections: without an endpoint, and while each write causes a delivery. */
  readonly writes: { readonly quiet: Spread; readonly delivering: Spread }
}

export interface WebhookPlan {
  readonly dataDirectory: string
  readonly clients: number
  readonly rounds: number
  readonly burstMillis: number
  readonly backlog: number
  readonly trickleMillis: number
  readonly progress: (line: string) => void
}

const perSecond = 50
const stuck = 40
/** The service's limit on deliveries in flight per partner (A3-34); graphile-worker gets the same limit per receiver. */
const perReceiver = 4
const waitLimitMillis = 60_000

type Receiver = Child<ReceiverQuestion, ReceiverAnswer>
type Peer = Child<PeerQuestion, PeerAnswer>

const portOf = (answer: ReceiverAnswer): number => (answer as { readonly port: number }).port

/** A port on which no server listens. */
const deadPort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => resolve(port))
    })
  })

/** Polls until `count` deliveries have arrived, or until no more arrive. Returns all arrivals. */
const arrivalsOf = async (receiver: Receiver, count: number): Promise<Arrivals> => {
  const from = performance.now()
  let last = (await receiver.ask({ kind: "arrivals" })) as Arrivals
  while (last.count < count && performance.now() - from < waitLimitMillis) {
    await pause(100)
    last = (await receiver.ask({ kind: "arrivals" })) as Arrivals
  }
  return last
}

/** Arrivals per second from `from` to the last arrival. */
const rateAfter = ({ at }: Arrivals, from: number): number => {
  const later = at.filter((time) => time >= from)
  const end = later.at(-1) ?? from
  return end === from ? 0 : (later.length / (end - from)) * 1_000
}

const latencyOf = ({ latencies, count }: Arrivals, expected: number): Latency => ({
  p50Millis: percentile(latencies, 0.5),
  p99Millis: percentile(latencies, 0.99),
  maxMillis: latencies.at(-1) ?? 0,
  missing: expected - count
})

interface World {
  readonly plan: WebhookPlan
  readonly service: RunningService
  readonly load: Child<Slice, SliceResult>
  readonly receiver: Receiver
  readonly peer: Peer
  readonly healthy: BenchPartner & { readonly clientIds: ReadonlyArray<number> }
  readonly ports: { readonly healthy: number; readonly hanging: number; readonly dead: number }
}

const urlOf = (port: number): string => `https://127.0.0.1:${port}/hooks`

const burst = async (world: World, millis: number, tag: string): Promise<SliceResult> => {
  const { load, service, healthy } = world
  const result = await load.ask({
    port: service.port,
    ca: service.ca,
    partnerKey: healthy.partnerKey,
    kind: "collateral",
    clientIds: healthy.clientIds,
    connections: 64,
    millis,
    tag
  })
  if (result.errors > 0) throw new Error(`${result.errors} requests failed: ${result.firstError}`)
  return result
}

/** Sends a burst of reports, each with its delivery. The rate is that of the deliveries that remain after the burst. */
const drainService = async (world: World, round: number) => {
  const { receiver, plan } = world
  await receiver.ask({ kind: "reset" })
  const sent = await burst(world, plan.burstMillis, `burst${round}`)
  const from = Date.now()
  const arrivals = await arrivalsOf(receiver, sent.acknowledged)
  if (arrivals.count !== sent.acknowledged) {
    throw new Error(`${sent.acknowledged} events were committed, ${arrivals.count} arrived`)
  }
  return { rate: rateAfter(arrivals, from), writes: sent.rate, events: sent.acknowledged }
}

const drainPeer = async ({ peer, receiver, plan, ports }: World): Promise<number> => {
  await receiver.ask({ kind: "reset" })
  await peer.ask({ kind: "queue", url: urlOf(ports.healthy), count: plan.backlog })
  await peer.ask({ kind: "run", concurrency: perReceiver })
  const arrivals = await arrivalsOf(receiver, plan.backlog)
  await peer.ask({ kind: "rest" })
  if (arrivals.count !== plan.backlog) throw new Error(`${plan.backlog} jobs were queued, ${arrivals.count} arrived`)
  return rateAfter(arrivals, arrivals.at[0] ?? 0)
}

/** Sends a steady trickle of events to the healthy receiver, while the other two receivers have waiting events. */
const trickleService = async (world: World, others: ReadonlyArray<BenchPartner & { readonly clientId: number }>) => {
  const { service, receiver, plan, healthy } = world
  await receiver.ask({ kind: "reset" })
  for (const other of others)
    for (let n = 0; n < stuck; n++) await reportCollateral(service, other, other.clientId, `stuck-${n}`)
  const until = performance.now() + plan.trickleMillis
  let sent = 0
  while (performance.now() < until) {
    const clientId = healthy.clientIds[sent % healthy.clientIds.length] as number
    await reportCollateral(service, healthy, clientId, `trickle-${sent++}`)
    await pause(1_000 / perSecond)
  }
  return latencyOf(await arrivalsOf(receiver, sent), sent)
}

const tricklePeer = async ({ peer, receiver, plan, ports }: World): Promise<Latency> => {
  await receiver.ask({ kind: "reset" })
  await peer.ask({ kind: "queue", url: urlOf(ports.hanging), count: stuck })
  await peer.ask({ kind: "queue", url: urlOf(ports.dead), count: stuck })
  await peer.ask({ kind: "run", concurrency: 3 * perReceiver })
  const queued = await peer.ask({ kind: "trickle", url: urlOf(ports.healthy), perSecond, millis: plan.trickleMillis })
  return latencyOf(await arrivalsOf(receiver, queued), queued)
}

/** Runs the whole webhook part on a data directory of its own. */
export const measureWebhooks = async (plan: WebhookPlan): Promise<WebhookFindings> => {
  mkdirSync(plan.dataDirectory, { recursive: true })
  const service = await startService(plan.dataDirectory, "", ["--allow-webhook-host", "127.0.0.1"])
  const receiver: Receiver = new Child("webhooks/receiver.ts")
  const hangs: Receiver = new Child("webhooks/receiver.ts")
  const peer: Peer = new Child("webhooks/graphile.ts")
  const load = new Child<Slice, SliceResult>("load/main.ts")
  try {
    const tls = join(plan.dataDirectory, "tls")
    const cert = readFileSync(join(tls, "server.pem"), "utf8")
    const key = readFileSync(join(tls, "server.key"), "utf8")
    const ports = {
      healthy: portOf(await receiver.ask({ kind: "listen", cert, key, mode: "healthy" })),
      hanging: portOf(await hangs.ask({ kind: "listen", cert, key, mode: "hanging" })),
      dead: await deadPort()
    }
    const partner = await createPartner(service, "HOOKS")
    const { clientIds } = await onboardClients(service, partner, plan.clients, "hooks")
    const healthy = { ...partner, clientIds }
    const world: World = { plan, service, load, receiver, peer, healthy, ports }
    await onDatabase(service.databaseUrl, (client) => client.query("CREATE DATABASE graphile_worker"))
    const address = new URL(service.databaseUrl)
    address.pathname = "/graphile_worker"
    await peer.ask({ kind: "prepare", databaseUrl: address.href, ca: service.ca })
    const quiet: Array<number> = []
    const delivering: Array<number> = []
    const drained: Array<number> = []
    const peerDrained: Array<number> = []
    let backlog = 0
    for (let round = 0; round <= plan.rounds; round++) {
      quiet.push((await burst(world, plan.burstMillis, `quiet${round}`)).rate)
      await putWebhook(service, partner, urlOf(ports.healthy))
      const drain = await drainService(world, round)
      await deleteWebhook(service, partner)
      delivering.push(drain.writes)
      drained.push(drain.rate)
      backlog = drain.events
      peerDrained.push(await drainPeer(world))
      plan.progress(
        `webhooks, ${round === 0 ? "warm-up" : `round ${round}`}: ${drain.rate.toFixed(0)}/s | graphile-worker ${(peerDrained.at(-1) ?? 0).toFixed(0)}/s | writes ${(quiet.at(-1) ?? 0).toFixed(0)}/s alone, ${drain.writes.toFixed(0)}/s delivering`
      )
    }
    await putWebhook(service, partner, urlOf(ports.healthy))
    const others: Array<BenchPartner & { readonly clientId: number }> = []
    for (const [code, port] of [
      ["HANGS", ports.hanging],
      ["DEAD", ports.dead]
    ] as const) {
      const other = await createPartner(service, code)
      const made = await onboardClients(service, other, 1, code.toLowerCase())
      await putWebhook(service, other, urlOf(port))
      others.push({ ...other, clientId: made.clientIds[0] as number })
    }
    const own = await trickleService(world, others)
    const theirs = await tricklePeer(world)
    plan.progress(
      `webhooks beside stuck receivers: p99 ${own.p99Millis} ms | graphile-worker p99 ${theirs.p99Millis} ms`
    )
    return {
      backlog,
      drain: { service: spreadOf(drained.slice(1)), peer: spreadOf(peerDrained.slice(1)) },
      latency: { service: own, peer: theirs, stuck, perSecond },
      writes: { quiet: spreadOf(quiet.slice(1)), delivering: spreadOf(delivering.slice(1)) }
    }
  } finally {
    await load.stop()
    await peer.stop()
    await receiver.stop()
    await hangs.stop()
    await service.stop()
  }
}
