/**
 * Processor time of a mark: a million positions of 400,000 clients in thirty markets that walk by a second's steps, nobody crossing a
 * line. Beside the index a full scan in memory, over plain arrays of floating-point figures; one that keeps sums of each
 * account and goes through the holders of the market that has moved alone; and one statement of SQL over tables of the same
 * figures. After the walk one market falls, and all of them have to find the same accounts.
 */
import { Client } from "pg"
import type { WatchedAccount } from "../../src/runtime/services/margin/RiskIndex.ts"
import { serverCpuMicros, usedBetween } from "../processFacts.ts"
import { onDatabase } from "../reference/database.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { postmasterPid, startService } from "../service.ts"
import { AccountBook, leverageOf, marketCount, marketOf, markText, normal, symbolOf } from "./accountBook.ts"
import { ScannedAccounts } from "./ScannedAccounts.ts"

export interface MarkPlan {
  readonly dataDirectory: string
  readonly clients: number
  readonly rounds: number
  readonly progress: (line: string) => void
}

/** Microseconds of processor time for each mark. */
export interface MarkFindings {
  readonly clients: number
  readonly positions: number
  readonly index: Spread
  /** Accounts that a mark shares out anew, and losses that it reaches, which is part of it. */
  readonly shares: number
  readonly told: number
  readonly scan: Spread
  readonly holders: Spread
  readonly sql: Spread
  /** Accounts that each of them found when one market fell. */
  readonly crossed: number
}

const seed = 16
/** No account is nearer to its margin than this many times. */
const least = 1.5
/** Of a second's step: about 60 % in a year; a part of the way back goes with it, so that nobody crosses a line. */
const deviation = 0.0001
const back = 0.01
const marksOfRound = { index: 60_000, scan: 30, holders: 300, sql: 2 } as const
/** The market that falls in the end, and by what. */
const falls = { market: 3, by: 0.25 } as const

type System = keyof typeof marksOfRound

class Marks {
  private readonly book = new AccountBook(seed)
  private readonly scanned = new ScannedAccounts(marketCount)
  private readonly plan: MarkPlan
  private readonly found: Record<System, Array<number>> = { index: [], scan: [], holders: [], sql: [] }
  private readonly accounts = new Map<number, WatchedAccount>()
  private readonly home: Float64Array
  private readonly shares: Array<number> = []
  private readonly told: Array<number> = []
  private losses = 0

  constructor(plan: MarkPlan) {
    this.plan = plan
    this.home = Float64Array.from(this.book.marks)
  }

  async run(): Promise<MarkFindings> {
    const { dataDirectory, clients, rounds, progress } = this.plan
    this.fill()
    progress(`${this.book.index.positions} positions of ${clients} clients drawn`)
    const service = await startService(dataDirectory)
    try {
      const postmaster = postmasterPid(dataDirectory)
      return await onDatabase(service.databaseUrl, async (client) => {
        await this.scanned.store(client)
        progress("and stored")
        for (let round = 0; round <= rounds; round++) await this.round(client, postmaster, round === 0)
        const crossed = await this.fall(client)
        const { index, scan, holders, sql } = this.found
        const spreads = {
          index: spreadOf(index),
          scan: spreadOf(scan),
          holders: spreadOf(holders),
          sql: spreadOf(sql)
        }
        progress(`a mark: ${Object.entries(spreads).map(([name, { median }]) => `${name} ${median.toFixed(2)} us`)}`)
        const positions = this.book.index.positions
        const [shares, told] = [spreadOf(this.shares).median, spreadOf(this.told).median]
        return { clients, positions, ...spreads, shares, told, crossed }
      })
    } finally {
      await service.stop()
    }
  }

  private fill(): void {
    for (let id = 1; id <= this.plan.clients; id++) this.put(this.book.draw(id, least))
    this.tell()
    this.scanned.begin(this.book.marks)
  }

  private put(account: WatchedAccount): void {
    this.accounts.set(account.clientId, account)
    this.book.index.put(account)
    this.scanned.add(
      account.clientId,
      Number(account.cash) / 1e6,
      account.positions.map((held) => ({
        market: marketOf(held.symbol),
        qty: Number(held.netQty),
        entry: Number(held.avgEntry),
        leverage: leverageOf(held, account.categorization)
      }))
    )
  }

  private async round(client: Client, postmaster: number, isWarm: boolean): Promise<void> {
    const { index } = this.book
    const before = { ...index.counts }
    this.losses = 0
    const times = {
      index: processorMicros(marksOfRound.index, () => {
        const market = this.move()
        index.mark(symbolOf(market), { price: this.book.marks[market] as number, live: true })
        if (index.waiting > 0) this.tell()
      }),
      scan: processorMicros(marksOfRound.scan, () => {
        this.mustBe(this.scanned.scan(this.book.marks), 0)
      }),
      holders: 0,
      sql: 0
    }
    const [shares, told] = [index.counts.shares - before.shares - this.losses, this.losses]
    // The sums are brought to where the marks have come, before those that count.
    for (let market = 0; market < marketCount; market++) this.scanned.moved(market, this.book.marks[market] as number)
    times.holders = processorMicros(marksOfRound.holders, () => {
      const market = this.move()
      const mark = this.book.marks[market] as number
      this.mustBe(this.scanned.moved(market, mark), 0)
    })
    for (let market = 0; market < marketCount; market++)
      index.mark(symbolOf(market), { price: this.book.marks[market] as number, live: true })
    this.tell()
    times.sql = await this.sqlMicros(client, postmaster)
    if (isWarm) return
    for (const system of ["index", "scan", "holders", "sql"] as const) this.found[system].push(times[system])
    this.shares.push(shares / marksOfRound.index)
    this.told.push(told / marksOfRound.index)
  }

  private async sqlMicros(client: Client, postmaster: number): Promise<number> {
    const before = serverCpuMicros(postmaster)
    for (let n = 0; n < marksOfRound.sql; n++) this.mustBe(await this.scanned.selectCrossed(client, this.book.marks), 0)
    return usedBetween(before, serverCpuMicros(postmaster)) / marksOfRound.sql
  }

  /** One market makes its next step; its number. */
  private move(): number {
    const { random, marks } = this.book
    const market = random.between(0, marketCount - 1)
    const [mark, home] = [marks[market] as number, this.home[market] as number]
    marks[market] = Number(markText(mark * (1 + deviation * normal(random)) + back * (home - mark)))
    return market
  }

  /** Those that the index names have lost so much that they are told; nothing else follows for them. */
  private tell(): void {
    const { index } = this.book
    for (const { clientId: id } of index.takeDue(Infinity)) {
      const { positions, ...account } = this.accounts.get(id) as WatchedAccount
      const after = positions.map((held) => ({
        ...held,
        told: Math.max(held.told, this.book.lossOf(held, account.categorization))
      }))
      if (after.every(({ told }, at) => told === positions[at]?.told))
        throw new Error(`client ${id} has crossed a line`)
      this.accounts.set(id, { ...account, positions: after })
      index.put({ ...account, positions: after })
      this.losses++
    }
  }

  /** One market falls: how many accounts all of them find, the index perhaps with some on the line besides. */
  private async fall(client: Client): Promise<number> {
    const { marks, index } = this.book
    const mark = Number(markText((marks[falls.market] as number) * (1 - falls.by)))
    marks[falls.market] = mark
    index.mark(symbolOf(falls.market), { price: mark, live: true })
    const crossed = this.scanned.scan(marks)
    this.mustBe(this.scanned.moved(falls.market, mark), crossed.length)
    this.mustBe(await this.scanned.selectCrossed(client, marks), crossed.length)
    const named = new Set(index.takeDue(Infinity).map(({ clientId }) => clientId))
    const missed = crossed.filter((id) => !named.has(id))
    if (crossed.length === 0 || missed.length > 0)
      throw new Error(`${crossed.length} accounts have crossed a line, of which the index misses ${missed.length}`)
    return crossed.length
  }

  private mustBe(found: ReadonlyArray<number>, wanted: number): void {
    if (found.length !== wanted) throw new Error(`${found.length} accounts were found across a line, not ${wanted}`)
  }
}

/** Processor time of this process for each of so many times. */
const processorMicros = (times: number, work: () => void): number => {
  const before = process.cpuUsage()
  for (let n = 0; n < times; n++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

export const measureMarks = (plan: MarkPlan): Promise<MarkFindings> => new Marks(plan).run()
