/**
 * Measures the time from a mark to the closing orders that it causes: first for single clients whose accounts are not
 * in memory, then for very many clients that one mark moves at once while another partner reads and reports. Both times
 * are the venue's own: when the price was set, and when the close-out's orders traded.
 */
import { setTimeout as pause } from "node:timers/promises"
import type { Client } from "pg"
import { checkAgreement } from "../agreement.ts"
import type { PacedResult } from "../contracts/protocol.ts"
import { percentile } from "../load/protocol.ts"
import { metricOf, until } from "../operator.ts"
import { cpuMicros, serverCpuMicros, usedBetween } from "../processFacts.ts"
import { onDatabase } from "../reference/database.ts"
import { postmasterPid, type RunningService } from "../service.ts"
import { venueSeat } from "../venueSeat.ts"
import {
  besideOthers,
  type Crowd,
  endMarginWorld,
  entry,
  holdMark,
  makeMarginWorld,
  type MarginWorld,
  type MarginWorldPlan,
  startWorld,
  symbol
} from "./MarginWorld.ts"

export interface CloseOutPlan extends MarginWorldPlan {
  /** Clients that cross the close-out line one by one; zero: the row is left out. */
  readonly singles: number
  /** Clients that cross the close-out line at one mark; zero: the row is left out. */
  readonly crowd: number
}

/** Ms from the mark at the venue to the close-out's trade there. */
export interface SingleFindings {
  readonly clients: number
  readonly p50Millis: number
  readonly p99Millis: number
  readonly maxMillis: number
  /** Clients that were loaded into memory in the meantime. */
  readonly loaded: number
}

export interface CrowdFindings {
  readonly clients: number
  /** From the mark to the first and the last close-out order at the venue. */
  readonly firstSeconds: number
  readonly lastSeconds: number
  /** From the command that sets the mark until every position is closed in this service and every episode has ended. */
  readonly settledSeconds: number
  /** Microseconds of processor time per account. */
  readonly program: number
  readonly database: number
  readonly venue: number
  readonly beside: PacedResult
}

export interface CloseOutFindings {
  readonly singles: SingleFindings | null
  readonly crowd: CrowdFindings | null
}

const qty = 0.2
const leverage = 10
/** The share of the margin below which a close-out begins. */
const closeOutPart = 0.5
const singleCash = 1_500
const crowdCash = 2_400
const ticksOfOne = 10
/** The entry prices of single clients lie two ticks apart. */
const apartTicks = 2

/** The entry price of the n-th single client, in ticks. The client with the lowest number crosses last. */
const entryTicks = (n: number): number => Number(entry) * ticksOfOne + n * apartTicks
const textOf = (ticks: number): string => (ticks / ticksOfOne).toFixed(1)

/**
 * The highest mark, in ticks, at which a client with this cash has less than half of its margin (F8: c = 0.5, one
 * position).
 */
const crossingTicks = (entryAt: number, cash: number): number => {
  const line = (qty * entryAt - cash * ticksOfOne) / (qty * (1 - closeOutPart / leverage))
  return Math.ceil(line) - 1
}

const heldAt = (price: string) => [{ symbol, netQty: String(qty), price }]
const crowdsOf = ({ singles, crowd }: CloseOutPlan): ReadonlyArray<Crowd> => [
  { count: singles, cash: `${singleCash}.00`, held: (n) => heldAt(textOf(entryTicks(n))) },
  { count: crowd, cash: `${crowdCash}.00`, held: () => heldAt(textOf(entryTicks(0))) }
]

const numberOf = async (client: Client, query: string, values: ReadonlyArray<unknown> = []): Promise<number> =>
  Number((await client.query<{ readonly n: string | null }>(query, [...values])).rows[0]?.n ?? 0)

/** The time of the first trade of a client's close-out; zero: no trade yet. */
const closedAt = (client: Client, clientId: number): Promise<number> =>
  numberOf(client, "SELECT min(ts) AS n FROM fills WHERE client_id = $1 AND closed_qty IS NOT NULL", [clientId])

/**
 * Lowers the mark until all single clients are short of margin and none is in a close-out; notices on the way are sent.
 * Restarts the service, so that no account is in memory. Each further mark then moves one more client into a close-out.
 */
const measureSingles = async (world: MarginWorld): Promise<SingleFindings> => {
  const { dataDirectory, progress } = world.plan
  const clientIds = world.crowds[0] ?? []
  const count = clientIds.length
  await warned(world, textOf(crossingTicks(entryTicks(count), singleCash) + ticksOfOne), count)
  const service = await startWorld(dataDirectory)
  try {
    await pause(3_000)
    const before = await metricOf(service, "brokerage_mailboxes")
    const latencies = await onDatabase(service.databaseUrl, async (client) => {
      const found: Array<number> = []
      for (let n = count - 1; n >= 0; n--) {
        // The venue ticks every 250 ms, so marks are set at varying offsets between two ticks.
        await pause((n * 37) % 250)
        const at = await holdMark(service, symbol, textOf(crossingTicks(entryTicks(n), singleCash)))
        const clientId = clientIds[n] as number
        let closed = 0
        await until(`client ${clientId} is closed out`, async () => (closed = await closedAt(client, clientId)) > 0, 10)
        found.push(closed - at)
      }
      return found
    })
    const loaded = (await metricOf(service, "brokerage_mailboxes")) - before
    await checkClosed(service, count)
    const ascending = latencies.toSorted((a, b) => a - b)
    const [p50Millis, p99Millis] = [percentile(ascending, 0.5), percentile(ascending, 0.99)]
    progress(`one account at a time: p50 ${p50Millis} ms, p99 ${p99Millis} ms, ${loaded} came into memory`)
    return { clients: count, p50Millis, p99Millis, maxMillis: ascending.at(-1) ?? 0, loaded }
  } finally {
    await service.stop()
  }
}

const warned = async (world: MarginWorld, price: string, count: number): Promise<void> => {
  const service = await startWorld(world.plan.dataDirectory)
  try {
    await holdMark(service, symbol, price)
    const said = "SELECT count(*) AS n FROM risk_monitors WHERE state = 'MARGIN_CALL'"
    await onDatabase(service.databaseUrl, (client) =>
      until("all of them are short of margin", async () => (await numberOf(client, said)) >= count)
    )
    await pause(2_000)
  } finally {
    await service.stop()
  }
}

/**
 * Checks that this number of episodes has begun and ended, that each position was closed by reduce-only orders, and
 * that no client has a debt.
 */
const checkClosed = async (service: RunningService, closed: number): Promise<void> => {
  await onDatabase(service.databaseUrl, async (client) => {
    const ended = "SELECT count(*) AS n FROM close_outs WHERE ended_at IS NOT NULL"
    await until("every episode has ended", async () => (await numberOf(client, ended)) === closed, 250)
    const wrong = await numberOf(
      client,
      `SELECT (SELECT count(*) FROM close_outs WHERE ended_at IS NULL) + (SELECT count(*) FROM balances WHERE cash < 0)
            + (SELECT count(*) FROM orders WHERE context ->> 'origin' = 'CLOSE_OUT' AND context ->> 'reduceOnly' <> 'true') AS n`
    )
    if (wrong > 0) throw new Error(`${wrong} episodes, balances or orders are not as they should be after a close-out`)
  })
  await checkAgreement(service)
}

const measureCrowd = async (world: MarginWorld, closedBefore: number): Promise<CrowdFindings> => {
  const { dataDirectory, progress } = world.plan
  const clientIds = world.crowds[1] ?? []
  const service = await startWorld(dataDirectory)
  try {
    const venuePid = (await venueSeat(dataDirectory)).pid
    const postmaster = postmasterPid(dataDirectory)
    const look = () => ({
      app: cpuMicros(service.pid),
      venue: cpuMicros(venuePid),
      server: serverCpuMicros(postmaster)
    })
    const mark = textOf(crossingTicks(entryTicks(0), crowdCash))
    const { found, beside } = await besideOthers(world, service, "beside", async () => {
      await pause(2_000)
      const before = look()
      const began = performance.now()
      const at = await holdMark(service, symbol, mark)
      await onDatabase(service.databaseUrl, async (client) => {
        const open = "SELECT count(*) AS n FROM close_outs WHERE ended_at IS NOT NULL"
        await until(
          "every account is closed out",
          async () => (await numberOf(client, open)) === closedBefore + clientIds.length,
          250
        )
      })
      return { at, seconds: (performance.now() - began) / 1_000, before, after: look() }
    })
    const { rows } = await onDatabase(service.databaseUrl, (client) =>
      client.query<{ readonly first: string; readonly last: string; readonly n: string }>(
        `SELECT min(ts) AS first, max(ts) AS last, count(DISTINCT client_id) AS n
           FROM fills WHERE client_id = ANY($1) AND closed_qty IS NOT NULL`,
        [clientIds]
      )
    )
    const closed = Number(rows[0]?.n)
    if (closed !== clientIds.length) throw new Error(`${closed} of ${clientIds.length} accounts were closed out`)
    await checkClosed(service, closedBefore + clientIds.length)
    const { at, seconds, before, after } = found
    const each = (micros: number) => micros / clientIds.length
    const crowd = {
      clients: clientIds.length,
      firstSeconds: (Number(rows[0]?.first) - at) / 1_000,
      lastSeconds: (Number(rows[0]?.last) - at) / 1_000,
      settledSeconds: seconds,
      program: each(after.app - before.app),
      database: each(usedBetween(before.server, after.server)),
      venue: each(after.venue - before.venue),
      beside
    }
    progress(`${crowd.clients} accounts: last order out after ${crowd.lastSeconds.toFixed(1)} s`)
    return crowd
  } finally {
    await service.stop()
  }
}

export const measureCloseOuts = async (plan: CloseOutPlan): Promise<CloseOutFindings> => {
  const world = await makeMarginWorld(plan, crowdsOf(plan))
  try {
    const singles = plan.singles > 0 ? await measureSingles(world) : null
    const crowd = plan.crowd > 0 ? await measureCrowd(world, plan.singles) : null
    return { singles, crowd }
  } finally {
    await endMarginWorld(world)
  }
}
