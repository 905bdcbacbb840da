/**
 * Measures the funding of very many holders. The venue stamps an interval, and the service books the payment of each
 * account while another partner reads and reports. The reference is plain SQL with a transaction for each holder. The
 * clock is moved to shortly before a stamp, and the stamp then happens by itself. Afterwards the books are compared
 * with the venue's by account: position, and the sum of all funding.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { setTimeout as pause } from "node:timers/promises"
import type { Client } from "pg"
import { fundingIntervalMillis, nextStamp } from "../../simulator/venue/core/Funding.ts"
import { verifyBooks } from "../../src/runtime/ledger/verify.ts"
import type { PacedResult } from "../contracts/protocol.ts"
import { operator, until } from "../operator.ts"
import { cpuMicros, serverCpuMicros, usedBetween } from "../processFacts.ts"
import { makeReferenceDatabase, onDatabase } from "../reference/database.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { postmasterPid, type RunningService } from "../service.ts"
import { storeClients } from "../storedClients.ts"
import { withBooks } from "../venueBooks.ts"
import { venueSeat } from "../venueSeat.ts"
import {
  besideOthers,
  endMarginWorld,
  makeMarginWorld,
  type MarginWorld,
  type MarginWorldPlan,
  startWorld,
  symbol
} from "./MarginWorld.ts"
import { bookPlainFunding } from "./plainFunding.ts"

export interface FundingPlan extends Omit<MarginWorldPlan, "prepare"> {
  readonly holders: number
  readonly stamps: number
  /** Holders that plain SQL books in one round; zero: plain SQL is left out. */
  readonly plain: number
}

export interface StampFindings {
  /** From the stamp at the venue until this service has stored its last posting. */
  readonly seconds: number
  /** Seconds for the first and for the last tenth of the holders. */
  readonly firstTenth: number
  readonly lastTenth: number
  /** Microseconds of processor time per holder. */
  readonly program: number
  readonly database: number
  readonly venue: number
  readonly beside: PacedResult
}

export interface FundingFindings {
  readonly holders: number
  readonly stamps: ReadonlyArray<StampFindings>
  /** Holders per second. */
  readonly rate: Spread
  readonly plain: { readonly rate: Spread; readonly concurrency: number } | null
}

const rate = "0.0001"
/** The payment to each holder of the plain SQL reference, micro-USDC. */
const plainAmount = -1_200_000n
const qty = "0.2"
/** Entry prices of longs and of shorts. Their profit covers the margin, so that no holder needs cash. */
const entries = { long: "50000.0", short: "70000.0" } as const
/** The clock is moved to this time before a stamp, and the second partner's callers start at the same time, ms. */
const early = 15_000
const calm = 5_000
const concurrencies = [8, 16] as const
const plainRounds = 3

class Stamps {
  private readonly world: MarginWorld
  private readonly plan: FundingPlan
  private readonly referenceUrl: string | null
  private readonly holders: ReadonlyArray<number>

  constructor(world: MarginWorld, plan: FundingPlan, referenceUrl: string | null) {
    this.world = world
    this.plan = plan
    this.referenceUrl = referenceUrl
    this.holders = world.crowds[0] ?? []
  }

  async run(): Promise<FundingFindings> {
    const { plan } = this
    const service = await startWorld(plan.dataDirectory)
    const stamps: Array<StampFindings> = []
    let plain: FundingFindings["plain"]
    try {
      await operator(service, "POST", "/sim/venue/funding", { symbol, rate })
      for (let n = 1; n <= plan.stamps; n++) {
        stamps.push(await this.stamp(service, n))
        plan.progress(`stamp ${n}: ${this.holders.length} holders in ${stamps.at(-1)?.seconds.toFixed(1)} s`)
      }
      plain = this.referenceUrl === null ? null : await this.measurePlain(this.referenceUrl)
      await checkBooks(service)
    } finally {
      await service.stop()
    }
    await this.checkVenue()
    const holders = this.holders.length
    return { holders, stamps, rate: spreadOf(stamps.map(({ seconds }) => holders / seconds)), plain }
  }

  private async stamp(service: RunningService, n: number): Promise<StampFindings> {
    const { dataDirectory } = this.plan
    const settledAt = await beforeStamp(service)
    const venuePid = (await venueSeat(dataDirectory)).pid
    const postmaster = postmasterPid(dataDirectory)
    const look = () => ({
      app: cpuMicros(service.pid),
      venue: cpuMicros(venuePid),
      server: serverCpuMicros(postmaster)
    })
    // The second partner's callers run around the stamp only: quiet seconds would improve their latencies.
    await pause(Math.max(0, settledAt - (await clockOf(service)) - 1_000))
    const { found, beside } = await besideOthers(this.world, service, `stamp${n}`, () =>
      onDatabase(service.databaseUrl, async (client) => {
        const after = await lastTransaction(client)
        const before = look()
        const at = await this.timesOfTenths(client, after)
        // Business time advances at the speed of wall time.
        const offset = (await clockOf(service)) - Date.now()
        return { before, after: look(), tenths: at.map((wall) => (wall + offset - settledAt) / 1_000) }
      })
    )
    const { before, after, tenths } = found
    const each = (micros: number) => micros / this.holders.length
    return {
      seconds: tenths.at(-1) ?? 0,
      firstTenth: tenths[0] ?? 0,
      lastTenth: (tenths.at(-1) ?? 0) - (tenths.at(-2) ?? 0),
      program: each(after.app - before.app),
      database: each(usedBetween(before.server, after.server)),
      venue: each(after.venue - before.venue),
      beside
    }
  }

  /** Wall times at which the postings of each tenth of the holders were first found. */
  private async timesOfTenths(client: Client, after: number): Promise<ReadonlyArray<number>> {
    const times: Array<number> = []
    for (let tenth = 1; tenth <= 10; tenth++) {
      const wanted = Math.ceil((this.holders.length * tenth) / 10)
      await until(`${wanted} holders have their funding`, async () => (await fundedAfter(client, after)) >= wanted, 100)
      times.push(Date.now())
    }
    return times
  }

  private async measurePlain(databaseUrl: string): Promise<FundingFindings["plain"]> {
    const { progress, plain } = this.plan
    const clientIds = await onDatabase(databaseUrl, async (client) => {
      const { rows } = await client.query<{ readonly id: string }>("SELECT id FROM clients ORDER BY id DESC LIMIT $1", [
        plain
      ])
      return rows.map(({ id }) => Number(id))
    })
    let settledAt = fundingIntervalMillis
    const once = (concurrency: number, ids: ReadonlyArray<number>) => {
      settledAt += fundingIntervalMillis
      const stamp = { databaseUrl, concurrency, clientIds: ids, symbol, settledAt, amount: plainAmount }
      return bookPlainFunding(stamp)
    }
    let best = { concurrency: 0, rate: 0 }
    for (const concurrency of concurrencies) {
      const found = await once(concurrency, clientIds.slice(0, clientIds.length / 4))
      progress(`funding by plain SQL, ${concurrency} connections: ${found.toFixed(0)} holders a second`)
      if (found > best.rate) best = { concurrency, rate: found }
    }
    const rates: Array<number> = []
    for (let round = 0; round < plainRounds; round++) rates.push(await once(best.concurrency, clientIds))
    return { rate: spreadOf(rates), concurrency: best.concurrency }
  }

  /** Compares position and sum of all funding of each holder, here and at the venue. The service has ended by then. */
  private async checkVenue(): Promise<void> {
    const { dataDirectory, stamps } = this.plan
    const service = await startWorld(dataDirectory)
    const ours = await onDatabase(service.databaseUrl, async (client) => {
      const { rows } = await client.query<{
        readonly uid: string
        readonly net: string
        readonly paid: string
        readonly n: string
      }>(
        `SELECT c.uid, p.net_qty AS net, f.paid, f.n
           FROM positions p JOIN clients c ON c.id = p.client_id
           JOIN (SELECT o.client_id, sum(o.amount) AS paid, count(*) AS n
                   FROM ledger_transactions t JOIN postings o USING (tx_id)
                  WHERE t.type = 'FUNDING' AND o.client_id IS NOT NULL GROUP BY o.client_id) f ON f.client_id = c.id
          WHERE c.id = ANY($1)`,
        [this.holders]
      )
      return rows
    })
    await service.stop()
    const wrong = await withBooks(dataDirectory, (state) => {
      const idOf = new Map(state.accounts.map(({ id, name }) => [name.slice(name.indexOf(":") + 1), id]))
      const lots = new Map(state.accounts.map(({ id, positions }) => [id, positions[0]?.[1] ?? 0]))
      const paid = new Map<number, bigint>()
      for (const [id, , amount, kind] of state.balances)
        if (kind === "funding") paid.set(id, (paid.get(id) ?? 0n) + BigInt(amount))
      const apart = ours.filter(({ uid, net, paid: here, n }) => {
        const id = idOf.get(uid) ?? 0
        return Number(net) * 10_000 !== lots.get(id) || BigInt(here) !== paid.get(id) || Number(n) !== stamps
      })
      return [null, apart.length]
    })
    if (ours.length !== this.holders.length || wrong > 0)
      throw new Error(
        `${ours.length} of ${this.holders.length} holders have their funding, ${wrong} not as the venue says`
      )
  }
}

/** Moves the clock to shortly before the next stamp. Returns the time of the stamp. */
const beforeStamp = async (service: RunningService): Promise<number> => {
  const now = await clockOf(service)
  const settledAt = nextStamp(now + early)
  await operator(service, "POST", "/sim/clock", { advanceMillis: settledAt - early - now })
  await pause(calm)
  return settledAt
}

const clockOf = async (service: RunningService): Promise<number> => {
  const text = await operator(service, "GET", "/sim/clock")
  return (JSON.parse(text) as { readonly data: { readonly now: number } }).data.now
}

const numberOf = async (client: Client, query: string, values: ReadonlyArray<unknown> = []): Promise<number> =>
  Number((await client.query<{ readonly n: string }>(query, [...values])).rows[0]?.n)

const lastTransaction = (client: Client) =>
  numberOf(client, "SELECT coalesce(max(tx_id), 0) AS n FROM ledger_transactions")

const fundedAfter = (client: Client, after: number) =>
  numberOf(client, "SELECT count(*) AS n FROM ledger_transactions WHERE tx_id > $1 AND type = 'FUNDING'", [after])

const checkBooks = async (service: RunningService): Promise<void> => {
  const layer = PgClient.layer({ url: Redacted.make(service.databaseUrl), maxConnections: 2 })
  const { checks } = await Effect.runPromise(Effect.provide(verifyBooks, layer, { local: true }))
  for (const { ok, name, detail } of checks) if (!ok) throw new Error(`The books do not balance: ${name}: ${detail}`)
}

export const measureFunding = async (plan: FundingPlan): Promise<FundingFindings> => {
  let referenceUrl: string | null = null
  const prepare = async (service: RunningService, pattern: number): Promise<void> => {
    if (plan.plain === 0) return
    referenceUrl = await makeReferenceDatabase(service.databaseUrl, "reference_funding")
    const ids = await storeClients(referenceUrl, pattern, plan.plain)
    await onDatabase(referenceUrl, (client) =>
      client.query(
        `INSERT INTO balances (client_id, currency, partner_id, cash, reserved, deposited)
         SELECT id, 'USDC', partner_id, 0, 0, 0 FROM clients WHERE id = ANY($1)`,
        [ids]
      )
    )
  }
  const long = { symbol, netQty: qty, price: entries.long }
  const short = { symbol, netQty: `-${qty}`, price: entries.short }
  const held = (n: number) => [n % 2 === 0 ? long : short]
  const world = await makeMarginWorld({ ...plan, prepare }, [{ count: plan.holders, cash: null, held }])
  try {
    return await new Stamps(world, plan, referenceUrl).run()
  } finally {
    await endMarginWorld(world)
  }
}
