/**
 * Measures the processor time of a mark: a million positions of 400,000 clients in thirty markets, whose marks walk by
 * the steps of a second while no client crosses a line. The reference is a full scan in memory over plain arrays of
 * floats. After the walk one market falls, and both must find the same accounts.
 */
import type { WatchedAccount } from "../../src/runtime/services/margin/RiskIndex.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { AccountBook, leverageOf, marketCount, marketOf, markText, normal, symbolOf } from "./accountBook.ts"
import { ScannedAccounts } from "./ScannedAccounts.ts"

export interface MarkPlan {
  readonly clients: number
  readonly rounds: number
  readonly progress: (line: string) => void
}

/** Microseconds of processor time per mark. */
export interface MarkFindings {
  readonly clients: number
  readonly positions: number
  readonly index: Spread
  /** Accounts for which a mark causes new ranges, and those of them that reached a loss step. */
  readonly shares: number
  readonly notified: number
  readonly scan: Spread
  /** Accounts that both methods found when one market fell. */
  readonly crossed: number
}

const seed = 16
/** The least ratio of an account's equity to its margin at the start. */
const least = 1.5
/**
 * Standard deviation of a second's step: about 60 % in a year. A share of the distance is reverted with each step, so
 * that no client crosses a line.
 */
const deviation = 0.0001
const back = 0.01
const marksOfRound = { index: 60_000, scan: 30 } as const
/** The market that falls at the end, and the share of its price that it loses. */
const falls = { market: 3, by: 0.25 } as const

type System = keyof typeof marksOfRound

class Marks {
  private readonly book = new AccountBook(seed)
  private readonly scanned = new ScannedAccounts()
  private readonly plan: MarkPlan
  private readonly found: Record<System, Array<number>> = { index: [], scan: [] }
  private readonly accounts = new Map<number, WatchedAccount>()
  private readonly home: Float64Array
  private readonly shares: Array<number> = []
  private readonly notified: Array<number> = []
  private losses = 0

  constructor(plan: MarkPlan) {
    this.plan = plan
    this.home = Float64Array.from(this.book.marks)
  }

  run(): MarkFindings {
    const { clients, rounds, progress } = this.plan
    this.fill()
    progress(`${this.book.index.positions} positions of ${clients} clients drawn`)
    for (let round = 0; round <= rounds; round++) this.round(round === 0)
    const crossed = this.fall()
    const [index, scan] = [spreadOf(this.found.index), spreadOf(this.found.scan)]
    progress(`a mark: index ${index.median.toFixed(2)} us, scan ${scan.median.toFixed(2)} us`)
    const positions = this.book.index.positions
    const [shares, notified] = [spreadOf(this.shares).median, spreadOf(this.notified).median]
    return { clients, positions, index, scan, shares, notified, crossed }
  }

  private fill(): void {
    for (let id = 1; id <= this.plan.clients; id++) this.put(this.book.draw(id, least))
    this.tell()
    this.scanned.begin()
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

  private round(isWarm: boolean): void {
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
      })
    }
    if (isWarm) return
    for (const system of ["index", "scan"] as const) this.found[system].push(times[system])
    this.shares.push((index.counts.shares - before.shares - this.losses) / marksOfRound.index)
    this.notified.push(this.losses / marksOfRound.index)
  }

  /** Moves the mark of one market by its next step. Returns the number of the market. */
  private move(): number {
    const { random, marks } = this.book
    const market = random.between(0, marketCount - 1)
    const [mark, home] = [marks[market] as number, this.home[market] as number]
    marks[market] = Number(markText(mark * (1 + deviation * normal(random)) + back * (home - mark)))
    return market
  }

  /** Accounts that the index names have reached a loss step, which is notified. They need no other action. */
  private tell(): void {
    const { index } = this.book
    for (const { clientId: id } of index.takeDue(Infinity)) {
      const { positions, ...account } = this.accounts.get(id) as WatchedAccount
      const after = positions.map((held) => ({
        ...held,
        notified: Math.max(held.notified, this.book.lossOf(held, account.categorization))
      }))
      if (after.every(({ notified }, at) => notified === positions[at]?.notified))
        throw new Error(`client ${id} has crossed a line`)
      this.accounts.set(id, { ...account, positions: after })
      index.put({ ...account, positions: after })
      this.losses++
    }
  }

  /**
   * Lets one market fall. Returns the number of accounts that the scan finds. The index may also name accounts exactly
   * on the line.
   */
  private fall(): number {
    const { marks, index } = this.book
    const mark = Number(markText((marks[falls.market] as number) * (1 - falls.by)))
    marks[falls.market] = mark
    index.mark(symbolOf(falls.market), { price: mark, live: true })
    const crossed = this.scanned.scan(marks)
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

/** Processor time of this process per call, for this number of calls. */
const processorMicros = (times: number, work: () => void): number => {
  const before = process.cpuUsage()
  for (let n = 0; n < times; n++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

export const measureMarks = (plan: MarkPlan): MarkFindings => new Marks(plan).run()
