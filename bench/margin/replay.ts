/**
 * Replays a path: a walk of thirty correlated markets over very many accounts. Each account that the index names is
 * judged on exact figures, as its turn would do it, and the consequences are applied: a recorded state, a notified loss
 * or a close-out. A look is one such judgement. The number of ends that only needed new ranges in the index is counted
 * separately.
 */
import { accountRisk } from "../../src/machines/margin/accountRisk.ts"
import { lossStep } from "../../src/machines/margin/lossSteps.ts"
import { type Facts, type Mark, noFacts } from "../../src/machines/market/Facts.ts"
import { defaultMarketTerms } from "../../src/machines/market/marketTerms.ts"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"
import type { WatchedAccount } from "../../src/runtime/services/margin/RiskIndex.ts"
import { AccountBook, leverageOf, marketCount, markText, normal, symbolOf } from "./accountBook.ts"

export interface ReplayPlan {
  readonly accounts: number
  readonly ticks: number
  readonly progress: (line: string) => void
}

export interface ReplayFindings {
  readonly accounts: number
  readonly positions: number
  readonly ticks: number
  /** Judgements of accounts. */
  readonly looks: number
  /** Accounts that only got new ranges in the index. */
  readonly shares: number
  /** Changes of a recorded risk state, and notified losses without such a change. */
  readonly changes: number
  readonly notified: number
  /** Judgements without a consequence. */
  readonly inVain: number
}

const seed = 20
/** The standard deviation of a tick in each market; a third of its variance is common to all markets. */
const deviation = 0.0003
const common = 1 / 3

class Replay {
  private readonly book = new AccountBook(seed)
  private readonly accounts = new Map<number, WatchedAccount>()
  private readonly counts = { looks: 0, changes: 0, notified: 0, inVain: 0 }
  private readonly plan: ReplayPlan
  private facts: Facts = noFacts

  constructor(plan: ReplayPlan) {
    this.plan = plan
  }

  run(): ReplayFindings {
    const { accounts, ticks, progress } = this.plan
    const { index } = this.book
    for (let id = 1; id <= accounts; id++) this.put(this.book.draw(id, 1))
    this.tick(0)
    // Accounts that begin on a line are judged before the count begins.
    this.look()
    const positions = index.positions
    const before = index.counts.shares
    Object.assign(this.counts, { looks: 0, changes: 0, notified: 0, inVain: 0 })
    for (let tick = 0; tick < ticks; tick++) {
      this.tick(deviation)
      this.look()
    }
    // Each judgement puts its account into the index once, which also counts as a share.
    const shares = index.counts.shares - before - this.counts.looks
    progress(`${ticks} ticks: ${this.counts.looks} looks, ${this.counts.changes} changes of state, ${shares} shares`)
    return { accounts, positions, ticks, shares, ...this.counts }
  }

  private tick(by: number): void {
    const { marks, random, index } = this.book
    const all = normal(random) * Math.sqrt(common)
    const shown = new Map<string, Mark>()
    for (let market = 0; market < marketCount; market++) {
      const move = by * (all + normal(random) * Math.sqrt(1 - common))
      const text = markText((marks[market] as number) * (1 + move))
      marks[market] = Number(text)
      shown.set(symbolOf(market), { price: new MoneyDecimal(text), places: 4, at: 0, current: true })
    }
    this.facts = { ...noFacts, takenAt: 0, marks: shown }
    for (let market = 0; market < marketCount; market++)
      index.mark(symbolOf(market), { price: marks[market] as number, live: true })
  }

  private look(): void {
    for (const { clientId } of this.book.index.takeDue(Infinity))
      this.judge(this.accounts.get(clientId) as WatchedAccount)
  }

  /** Records the consequence of a judgement. An account in a close-out loses all its positions. */
  private judge(account: WatchedAccount): void {
    this.counts.looks++
    const risk = accountRisk(
      {
        cashOf: () => account.cash,
        contracts: [],
        accepts: [],
        perpetuals: account.positions.map((held) => ({
          symbol: held.symbol,
          position: { ...held, netCost: "0", realizedPnl: 0n },
          orders: [],
          terms: {
            leverage: leverageOf(held, account.categorization),
            tiers: defaultMarketTerms.riskTiers,
            slippageBps: defaultMarketTerms.slippageBps,
            cap: leverageOf(held, account.categorization),
            commissionBps: defaultMarketTerms.commissionBps.PERP
          }
        }))
      },
      this.facts
    )
    let notified = 0
    const positions = account.positions.map((held, at) => {
      const unrealizedPnl = risk.perps[at]?.unrealizedPnl ?? 0n
      const step = lossStep({ ...held, unrealizedPnl, leverage: leverageOf(held, account.categorization) })
      if (step > held.notified) notified++
      return { ...held, notified: Math.max(step, held.notified) }
    })
    const moved = risk.riskState !== account.recorded
    if (moved) this.counts.changes++
    this.counts.notified += notified
    if (!moved && notified === 0) this.counts.inVain++
    const closed = risk.riskState === "CLOSE_OUT"
    this.put({ ...account, recorded: risk.riskState, positions: closed ? [] : positions })
  }

  private put(account: WatchedAccount): void {
    this.accounts.set(account.clientId, account)
    this.book.index.put(account)
  }
}

export const measureReplay = (plan: ReplayPlan): ReplayFindings => new Replay(plan).run()
