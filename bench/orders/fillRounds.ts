/**
 * Measures the booking of trades. One price move executes the resting orders of many clients, and the service books the
 * venue's events, from the move until the last trade is stored. A wave of purchases opens or increases positions, a
 * wave of sales reduces them and realizes results. The reference is plain SQL, which books the same number of trades of
 * the same orders, one statement per trade. After each wave the books are compared with the venue.
 */
import type { Client } from "pg"
import { checkAgreement } from "../agreement.ts"
import { Child } from "../child.ts"
import { until } from "../operator.ts"
import { cpuMicros, serverCpuMicros, usedBetween } from "../processFacts.ts"
import { makeReferenceDatabase, onDatabase } from "../reference/database.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { type Written, writtenEach, writtenTo } from "../written.ts"
import {
  connections,
  countedOrders,
  holdMark,
  markPrice,
  type OrderWorld,
  patienceMillis,
  processesOf,
  symbol,
  type Traders
} from "./OrderWorld.ts"
import { contextOf } from "./orderRow.ts"
import type { PlainFillQuestion, PlainFillResult } from "./protocol.ts"

type Custody = PlainFillQuestion["custody"]

export interface FillRow {
  readonly rate: Spread
  /** Microseconds of processor time per trade; null for the program and the venue of plain SQL. */
  readonly program: Spread | null
  readonly venue: Spread | null
  readonly database: Spread
  readonly tableBytes: Spread
  readonly logBytes: Spread
}

export interface FillFindings {
  readonly custody: Custody
  readonly service: FillRow
  /** Plain SQL at its fastest number of connections. */
  readonly plain: FillRow & { readonly concurrency: number }
  /** Trades in one wave. */
  readonly trades: number
}

interface Wave {
  readonly millis: number
  readonly trades: number
  readonly program: number
  readonly venue: number
  readonly database: number
  readonly written: Written
}

/** A purchase rests below the mark and is filled when the price falls, a sale rests above it. */
const waves = [
  { side: "BUY", limit: "59000.0", through: "58900" },
  { side: "SELL", limit: "61000.0", through: "61100" }
] as const
type WaveTerms = (typeof waves)[number]
const qty = "0.0010"
const checkEveryMillis = 10
const sweep = [4, 8, 16] as const

class Fills {
  private readonly world: OrderWorld
  private readonly custody: Custody
  private readonly traders: Traders
  private readonly plain = new Child<PlainFillQuestion, PlainFillResult>("orders/plainFills.ts")
  private plainUrl = ""
  private readonly trades: number

  constructor(world: OrderWorld, custody: Custody) {
    this.world = world
    this.custody = custody
    this.traders = custody === "PARTNER" ? world.custodian : world.broker
    this.trades = this.traders.clientIds.length * world.plan.filledEach
  }

  async run(): Promise<FillFindings> {
    const { plan, service } = this.world
    try {
      this.plainUrl = await makeReferenceDatabase(service.databaseUrl, "reference_fills")
      const concurrency = await this.bestPlain()
      const found = { service: [], plain: [] } as Record<"service" | "plain", Array<Wave>>
      for (let round = 0; round <= plan.rounds; round++) {
        const ours: Array<Wave> = []
        for (const wave of waves) ours.push(await this.serviceWave(wave))
        const theirs = await this.plainRound(concurrency)
        plan.progress(
          `trades, ${this.custody}, ${round === 0 ? "warm-up" : `round ${round}`}: service ${rateOf(ours)}/s, plain SQL ${rateOf(theirs)}/s`
        )
        if (round === 0) continue
        found.service.push(sumOf(ours))
        found.plain.push(sumOf(theirs))
      }
      return {
        custody: this.custody,
        service: rowOf(found.service, true),
        plain: { ...rowOf(found.plain, false), concurrency },
        trades: this.trades
      }
    } finally {
      await this.plain.stop()
    }
  }

  /** Places the orders of all clients at one limit, not measured, then moves the price through the limit. */
  private async serviceWave({ side, limit, through }: WaveTerms): Promise<Wave> {
    const { service, load } = this.world
    const { partner, clientIds } = this.traders
    await holdMark(service, symbol, markPrice)
    const order = { symbol, side, qty, price: limit }
    const window = { port: service.port, ca: service.ca, partnerKey: partner.partnerKey, connections }
    const placed = await load.ask({
      kind: "place",
      ...window,
      clientIds,
      order,
      count: this.trades,
      millis: patienceMillis
    })
    if (placed.errors > 0) throw new Error(`${placed.errors} orders failed, the first one with: ${placed.firstError}`)
    await checkAgreement(service)
    const booked = await tradesIn(service.databaseUrl)
    // One connection polls, and reads the new trades only, so that the polls cost little of the measured time.
    const wave = await onDatabase(service.databaseUrl, async (client) => {
      const after = await lastTrade(client)
      return this.measured(service.databaseUrl, async () => {
        await holdMark(service, symbol, through)
        const allAreIn = async () => (await tradesAfter(client, after)) === this.trades
        await until(`${this.trades} more trades are booked`, allAreIn, checkEveryMillis)
      })
    })
    await checkAgreement(service)
    const { ACKED = 0, fills } = await countedOrders(service.databaseUrl)
    if (ACKED !== 0 || fills !== booked + this.trades)
      throw new Error(`${fills} trades are booked and ${ACKED} orders work, not ${booked + this.trades} and none`)
    return wave
  }

  private async measured(databaseUrl: string, work: () => Promise<void>): Promise<Wave> {
    const { app, venue, postmaster } = processesOf(this.world)
    const look = () => ({ app: cpuMicros(app), venue: cpuMicros(venue), server: serverCpuMicros(postmaster) })
    const written = await writtenTo(databaseUrl)
    const before = look()
    const began = performance.now()
    await work()
    const millis = performance.now() - began
    const after = look()
    return {
      millis,
      trades: this.trades,
      program: (after.app - before.app) / this.trades,
      venue: (after.venue - before.venue) / this.trades,
      database: usedBetween(before.server, after.server) / this.trades,
      written: writtenEach(written, await writtenTo(databaseUrl), this.trades)
    }
  }

  /** Finds the number of connections at which plain SQL is fastest on this machine. */
  private async bestPlain(): Promise<number> {
    let best = { concurrency: 0, rate: -1 }
    for (const concurrency of sweep) {
      const rate = Number(rateOf(await this.plainRound(concurrency)))
      this.world.plan.progress(`trades by plain SQL, ${concurrency} connections: ${rate}/s`)
      if (rate > best.rate) best = { concurrency, rate }
    }
    return best.concurrency
  }

  private async plainRound(concurrency: number): Promise<ReadonlyArray<Wave>> {
    const databaseUrl = this.plainUrl
    const made: Array<Wave> = []
    for (const { side, limit } of waves) {
      await storeOrders(databaseUrl, this.traders.clientIds, this.world.plan.filledEach, { side, price: limit })
      const before = await tradesIn(databaseUrl)
      let took = 0
      const wave = await this.measured(databaseUrl, async () => {
        const { custody } = this
        const { booked, millis } = await this.plain.ask({ databaseUrl, concurrency, custody, price: limit })
        if (booked !== this.trades) throw new Error(`plain SQL has booked ${booked} trades, not ${this.trades}`)
        took = millis
      })
      await checkPlain(databaseUrl, before + this.trades)
      made.push({ ...wave, millis: took })
    }
    return made
  }
}

const tradesIn = (databaseUrl: string): Promise<number> =>
  onDatabase(databaseUrl, (client) => numberOf(client, "SELECT count(*) AS n FROM fills"))

const numberOf = async (client: Client, query: string, values: ReadonlyArray<unknown> = []): Promise<number> =>
  Number((await client.query<{ readonly n: string }>(query, [...values])).rows[0]?.n)

const lastTrade = (client: Client) => numberOf(client, "SELECT coalesce(max(id), 0) AS n FROM fills")

const tradesAfter = (client: Client, id: number) =>
  numberOf(client, "SELECT count(*) AS n FROM fills WHERE id > $1", [id])

/** Stores working orders in the form of a reference, this number for each client. */
const storeOrders = (
  databaseUrl: string,
  clientIds: ReadonlyArray<number>,
  each: number,
  { side, price }: { readonly side: "BUY" | "SELL"; readonly price: string }
): Promise<void> =>
  onDatabase(databaseUrl, async (client) => {
    const at = Date.now()
    const pattern = contextOf({ symbol, side, qty, price, orderId: 0, clientId: 0, account: "", at })
    await client.query(
      `INSERT INTO orders (id, partner_id, client_id, state, version, context, symbol, currency, amount, parent_order_id, created_at)
       SELECT last + row_number() OVER (ORDER BY k, c.id), c.partner_id, c.id, 'ACKED', '1',
              ($2::jsonb || jsonb_build_object('orderId', last + row_number() OVER (ORDER BY k, c.id), 'clientId', c.id, 'account', c.uid))::json,
              $3, 'USDC', 0, NULL, $4
         FROM clients c, generate_series(1, $5::bigint) AS k, (SELECT coalesce(max(id), 0) AS last FROM orders) AS l
        WHERE c.id = ANY($1)`,
      [clientIds, JSON.stringify(pattern), symbol, at, each]
    )
  })

const plainChecks: ReadonlyArray<readonly [string, string]> = [
  ["a transaction does not sum to zero", "SELECT tx_id FROM postings GROUP BY tx_id HAVING sum(amount) <> 0 LIMIT 1"],
  [
    "a client's balance is not the sum of its postings",
    `SELECT b.client_id FROM balances b LEFT JOIN (SELECT client_id, sum(amount) AS cash FROM postings GROUP BY client_id) s
       USING (client_id) WHERE b.cash <> coalesce(s.cash, 0) LIMIT 1`
  ],
  [
    "a position is not the sum of its trades",
    `SELECT p.id FROM positions p JOIN (SELECT client_id, symbol, sum(CASE side WHEN 'BUY' THEN 1 ELSE -1 END * qty::numeric) AS net
       FROM fills GROUP BY client_id, symbol) f USING (client_id, symbol) WHERE p.net_qty::numeric <> f.net LIMIT 1`
  ],
  ["an order is not filled", "SELECT id FROM orders WHERE state <> 'FILLED' LIMIT 1"]
]

const checkPlain = async (databaseUrl: string, trades: number): Promise<void> => {
  await onDatabase(databaseUrl, async (client) => {
    for (const [sentence, query] of plainChecks) {
      const { rows } = await client.query(query)
      if (rows.length > 0) throw new Error(`The books of plain SQL do not balance: ${sentence}.`)
    }
  })
  const found = await tradesIn(databaseUrl)
  if (found !== trades) throw new Error(`plain SQL has ${found} trades, not ${trades}`)
}

const mean = (each: ReadonlyArray<Wave>, of: (wave: Wave) => number): number =>
  each.reduce((sum, wave) => sum + of(wave), 0) / Math.max(1, each.length)

/** The sum of a round's waves. */
const sumOf = (each: ReadonlyArray<Wave>): Wave => ({
  millis: mean(each, ({ millis }) => millis) * each.length,
  trades: mean(each, ({ trades }) => trades) * each.length,
  program: mean(each, ({ program }) => program),
  venue: mean(each, ({ venue }) => venue),
  database: mean(each, ({ database }) => database),
  written: {
    tableBytes: mean(each, ({ written }) => written.tableBytes),
    logBytes: mean(each, ({ written }) => written.logBytes)
  }
})

const perSecond = ({ millis, trades }: Wave): number => (trades / Math.max(1, millis)) * 1_000
const rateOf = (each: ReadonlyArray<Wave>): string => perSecond(sumOf(each)).toFixed(0)

const rowOf = (rounds: ReadonlyArray<Wave>, withPrograms: boolean): FillRow => ({
  rate: spreadOf(rounds.map(perSecond)),
  program: withPrograms ? spreadOf(rounds.map(({ program }) => program)) : null,
  venue: withPrograms ? spreadOf(rounds.map(({ venue }) => venue)) : null,
  database: spreadOf(rounds.map(({ database }) => database)),
  tableBytes: spreadOf(rounds.map(({ written }) => written.tableBytes)),
  logBytes: spreadOf(rounds.map(({ written }) => written.logBytes))
})

export const measureFills = async (world: OrderWorld): Promise<ReadonlyArray<FillFindings>> => [
  await new Fills(world, "PARTNER").run(),
  await new Fills(world, "BROKER").run()
]
