/**
 * A life for statements: a client trades, lends and holds knock-out contracts over months, by the service's own turns.
 * Their commits are recorded for a database; the expected content of the statements is computed beside them by
 * definition (A2-69 to A2-73).
 */
import { defaultMarketTerms } from "../../../src/machines/market/marketTerms.ts"
import { contractInput } from "../../../src/machines/contract/contractSamples.ts"
import { openRfqInput } from "../../../src/machines/rfq/rfqSamples.ts"
import { formatAmount } from "../../../src/machines/shared/Money.ts"
import type { SwapEvent } from "../../../src/machines/swap/Swap.ts"
import { advance, start } from "../../../src/runtime/effects/advance.ts"
import { applyEffects } from "../../../src/runtime/effects/Interpreter.ts"
import { firstRow } from "../../../src/runtime/effects/machineRow.ts"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { stepSwap, takeSwap } from "../../../src/runtime/services/trading/swap/swapDecisions.ts"
import { NaiveAccount, textOf } from "../../fixtures/naiveAccount.ts"
import {
  type NaiveContract,
  naiveEquity,
  type NaiveStanding,
  NaiveSwaps,
  type NaiveLoan
} from "../../fixtures/naiveStatements.ts"
import type { NaiveMove } from "../../fixtures/naiveTax.ts"
import { Fraction, fraction, usdcOf } from "../../fixtures/naiveTrading.ts"
import { stakingMarket } from "../../support/ScriptedVenue.ts"
import { gold, perp } from "../order/leverageTurns.ts"
import { spot, traderOf, TradingWorld } from "../order/TradingWorld.ts"
import { clients } from "../rfq/rfqTurns.ts"

export const dayMillis = 86_400_000
export const knockOut = "BTC-USDC-KO"
const unmarked: Readonly<Record<string, number>> = { [perp]: 1, [gold]: 2, [knockOut]: 3 }
export type Held = "USDC" | "BTC"
const rewardBps = 1_000

class HeardStore extends MemoryStore {
  readonly commits: Array<Commit> = []
  override apply(commit: Commit) {
    const outcome = super.apply(commit)
    this.commits.push(commit)
    return outcome
  }
}

export type CostKind = "PERP" | "SPOT" | "BARRIER" | "SHARE" | "FEE" | "FUNDING" | "SPREAD"

export class StatedLife {
  readonly createdAt: number
  now: number
  readonly world: TradingWorld
  readonly naive: NaiveAccount
  readonly loans = new NaiveSwaps()
  readonly contracts = new Map<number, NaiveContract>()
  /** The client's acquisitions and disposals of bitcoin. */
  readonly moves: Array<NaiveMove> = []
  /** Costs that the client paid, micro-USDC. */
  readonly costs: Array<{ readonly at: number; readonly kind: CostKind; readonly amount: bigint }> = []
  /** Gains of equity without payments, and charges. */
  readonly gains: Array<{ readonly at: number; readonly amount: bigint }> = []
  readonly traded: Array<{ readonly at: number; readonly amount: bigint }> = []
  readonly executions: Array<{ readonly at: number; readonly consideration: string }> = []
  /** The account's state after each step. */
  readonly standings: Array<NaiveStanding> = []
  readonly dailyMarks = new Map<number, ReadonlyMap<string, string>>()
  private readonly store = new HeardStore()
  private readonly delisted: Array<{ readonly at: number; readonly asset: Held; readonly amount: bigint }> = []
  private payments = 0

  constructor(createdAt: number) {
    this.createdAt = createdAt
    this.now = createdAt
    this.world = new TradingWorld({ store: this.store, clock: () => this.now, spotStep: "0.000001" })
    this.naive = new NaiveAccount(
      defaultMarketTerms.riskTiers.map(({ from, maxLeverage }) => ({ from: usdcOf(from), maxLeverage }))
    )
    for (const [symbol, price] of [
      [perp, "60000.0"],
      [gold, "4000.0"],
      [spot, "60000.0"],
      [knockOut, "60000.0"]
    ] as const)
      this.mark(symbol, price)
    this.deposit("USDC", 900_000_000_001n)
  }

  get commits(): ReadonlyArray<Commit> {
    return this.store.commits
  }

  /** Lets time pass; at each midnight in between the marks are stored. */
  pass(millis: number): void {
    const before = this.now
    this.now += millis
    for (let day = (Math.floor(before / dayMillis) + 1) * dayMillis; day <= this.now; day += dayMillis) {
      // Some markets had no price at some midnights.
      const marks = [...this.naive.marks].filter(([symbol]) => (day / dayMillis) % 5 !== unmarked[symbol])
      this.dailyMarks.set(day, new Map(marks))
    }
  }

  mark(symbol: string, price: string): void {
    this.world.mark(symbol, price)
    this.naive.marks.set(symbol, price)
  }

  /** Micro-USDC at the present mark, rounded down. */
  private worth(asset: Held, minor: bigint): bigint {
    return asset === "USDC" ? minor : new Fraction(minor, 10n ** 8n).times(this.naive.mark(spot)).floor(6)
  }

  private executed(asset: Held, amount: bigint): void {
    const text = formatAmount(amount < 0n ? -amount : amount, asset)
    this.executions.push({ at: this.now, consideration: amount < 0n ? `-${text}` : text })
  }
  private cost(kind: CostKind, amount: bigint): void {
    this.costs.push({ at: this.now, kind, amount })
  }
  private gain(amount: bigint): void {
    this.gains.push({ at: this.now, amount })
  }
  private move(kind: NaiveMove["kind"], qty: bigint, money: bigint): void {
    if (qty > 0n) this.moves.push({ kind, at: this.now, qty, money })
  }

  /** Copies the whole state after each step. */
  private stand(): void {
    const { naive, loans, contracts } = this
    this.standings.push({
      at: this.now,
      cash: { ...naive.cash },
      reserved: { ...naive.reserved },
      positions: new Map(
        [perp, gold].flatMap((symbol) => {
          const { qty, average } = naive.positionOf(symbol)
          return qty.sign === 0 ? [] : [[symbol, { qty, average }] as const]
        })
      ),
      contracts: new Map(contracts),
      loans: loans.standing
    })
  }

  deposit(currency: Held, amount: bigint): void {
    this.world.deposit(currency, formatAmount(amount, currency))
    this.naive.deposit(currency, amount)
    if (currency === "BTC") this.move("ACQUIRED", amount, this.worth("BTC", amount))
    this.stand()
  }

  withdraw(currency: Held, amount: bigint): void {
    if (amount <= 0n || (this.naive.cash[currency] ?? 0n) < amount) return
    const posting = {
      entry: "PARTNER_COLLATERAL_OUT",
      key: `out:${this.now}:${this.commits.length}`,
      currency
    } as const
    this.world.turn((turn) =>
      applyEffects(turn, traderOf, [
        { type: "ledger.post", ...posting, amount: `-${formatAmount(amount, currency)}`, reason: null, refs: {} }
      ])
    )
    this.earn(currency, -amount)
    if (currency === "BTC") this.move("LEFT", amount, 0n)
    this.stand()
  }

  private earn(currency: Held, amount: bigint): void {
    this.naive.cash[currency] = (this.naive.cash[currency] ?? 0n) + amount
  }

  fund(symbol: string, amount: bigint): void {
    if (amount === 0n) return
    const refs = { symbol, settledAt: this.now, qty: "1.0000" }
    const posting = { entry: "FUNDING", key: `funding:${this.now}:${this.commits.length}`, currency: "USDC" } as const
    const text = `${amount < 0n ? "-" : ""}${formatAmount(amount < 0n ? -amount : amount, "USDC")}`
    this.world.turn((turn) =>
      applyEffects(turn, traderOf, [{ type: "ledger.post", ...posting, amount: text, reason: null, refs }])
    )
    this.earn("USDC", amount)
    this.cost("FUNDING", -amount)
    this.gain(amount)
    this.stand()
  }

  /** Places a limit order; a later step trades a part of it. */
  place(symbol: string, side: "BUY" | "SELL", qty: string, price: string): void {
    const asked = { symbol, side, qty, price, trigger: null, reduceOnly: false }
    const rest = { type: "LIMIT", tif: "GTC", attach: null, ocoGroup: null, leverage: null } as const
    const bestAsk = this.world.best(symbol, "BUY")
    const { id, figures } = this.world.place({ ...asked, ...rest })
    if (id !== null) this.naive.place(id, asked, bestAsk, figures.bound.limit)
    this.stand()
  }

  fill(id: number, qty: string, price: string): void {
    const order = this.naive.orders.get(id)
    const isPerp = order?.spot === null
    const total = (currency: Held) => (this.naive.cash[currency] ?? 0n) + (this.naive.reserved[currency] ?? 0n)
    const before = { usdc: total("USDC"), btc: total("BTC"), ...this.naive.totals }
    this.world.fill(id, qty, price)
    this.naive.fill(id, qty, price)
    const traded = fraction(qty).times(fraction(price)).floor(6)
    this.traded.push({ at: this.now, amount: traded })
    const commission = this.naive.totals.commission - before.commission
    const settled = total("USDC") - before.usdc + commission
    this.executed("USDC", isPerp ? traded : settled < 0n ? -settled : settled)
    this.cost(isPerp ? "PERP" : "SPOT", commission)
    this.gain(-commission)
    if (isPerp) this.gain(this.naive.totals.pnl - before.pnl)
    else if (order?.side === "BUY") this.move("ACQUIRED", total("BTC") - before.btc, before.usdc - total("USDC"))
    else this.move("DISPOSED", before.btc - total("BTC"), total("USDC") - before.usdc)
    this.stand()
  }

  end(id: number): void {
    this.world.end(id)
    this.naive.end(id)
    this.stand()
  }

  /** Takes an offer, or the venue refuses the take. */
  lend(asset: Held, notional: bigint, reward: bigint, fee: bigint, isTaken: boolean): void {
    if ((this.naive.cash[asset] ?? 0n) < notional + fee) return
    const offer = { id: 5, symbol: `${asset}-SWAP`, rateBps: 400, tenorDays: 7 } as never
    let id = 0
    this.world.turn((turn) => {
      const asked = { offer, market: stakingMarket(`${asset}-SWAP`), asset, qty: "1" }
      const figures = { qty: "1", notional, reward, fee }
      id = takeSwap({ turn, of: traderOf }, clients, { take: asked, figures, commissionRewardBps: rewardBps }).id
    })
    this.earn(asset, -notional - fee)
    this.naive.reserved[asset] = (this.naive.reserved[asset] ?? 0n) + notional + fee
    this.stand()
    this.pass(1_000)
    this.naive.reserved[asset] = (this.naive.reserved[asset] ?? 0n) - notional - fee
    if (!isTaken) {
      this.step(id, { type: "REFUSED", at: this.now, reason: "no" })
      this.earn(asset, notional + fee)
      return this.stand()
    }
    const terms = {
      notional: formatAmount(notional, asset),
      reward: formatAmount(reward, asset),
      rateBps: 400,
      tenorDays: 7
    }
    const ids = { contractId: 100 + id, tradeId: id }
    this.step(id, { type: "TOOK", at: this.now, ...ids, ...terms, openedTs: this.now - 500, maturityTs: this.now })
    this.loans.take(id, { asset, notional, reward })
    const feeWorth = asset === "USDC" ? fee : new Fraction(fee, 10n ** 8n).times(this.naive.mark(spot)).ceil(6)
    this.cost("FEE", feeWorth)
    if (asset === "USDC") this.gain(-fee)
    else this.move("LEFT", fee, 0n)
    this.executed(asset, notional + fee)
    this.traded.push({ at: this.now, amount: this.worth(asset, notional) })
    this.stand()
  }

  private step(id: number, event: SwapEvent): void {
    this.world.turn((turn) => {
      const row = this.store.rows("swaps").find((each) => each.id === id)
      if (row === undefined || stepSwap({ turn, of: traderOf }, row, event) === null)
        throw new Error(`swap ${id}: ${event.type}`)
    })
  }

  /** The writer pays; the venue's time of the payment may be a day older. */
  pay(loan: NaiveLoan, amount: bigint, late: number): void {
    const { id, asset } = loan
    this.step(id, {
      type: "PAID",
      at: this.now - late,
      paymentId: ++this.payments,
      amount: formatAmount(amount, asset),
      final: false
    })
    const { principal } = this.loans.pay(loan, amount)
    this.earn(asset, amount)
    if (asset === "USDC") this.gain(amount - principal)
    else this.move("ACQUIRED", amount - principal, this.worth("BTC", amount - principal))
    this.executed(asset, amount)
    this.charge(loan)
    this.stand()
  }

  /** Books the service's share, if the swap has ended. */
  private charge(loan: NaiveLoan): void {
    const due = this.loans.charge(loan, rewardBps)
    if (due === 0n) return
    const { asset } = loan
    this.earn(asset, -due)
    const worth = -this.worth(asset, -due)
    this.cost("SHARE", asset === "USDC" ? due : worth)
    if (asset === "USDC") this.gain(-due)
    else this.move("LEFT", due, 0n)
  }

  fallShort(loan: NaiveLoan): void {
    this.step(loan.id, { type: "OVERDUE", at: this.now })
    loan.state = "DEFAULTED"
    this.stand()
  }

  writeOff(loan: NaiveLoan, amount: bigint): void {
    if (amount <= 0n) return
    this.step(loan.id, { type: "WRITE_OFF", at: this.now, amount: formatAmount(amount, loan.asset), reason: "gone" })
    this.loans.writeOff(loan, amount)
    this.executed(loan.asset, 0n)
    this.charge(loan)
    this.stand()
  }

  delist(loan: NaiveLoan): void {
    this.step(loan.id, { type: "DELISTED", at: this.now })
    this.loans.end(loan)
    const before = loan.charged
    this.charge(loan)
    this.delisted.push({ at: this.now, asset: loan.asset, amount: loan.charged - before })
    this.stand()
  }

  /** The charge of a swap that ended without a payment, minor units. */
  delistedShare({ from, to }: { readonly from: number; readonly to: number }, asset: Held): bigint {
    const own = this.delisted.filter((each) => each.asset === asset && each.at >= from && each.at < to)
    return own.reduce((sum, { amount }) => sum + amount, 0n)
  }

  /** Opens a contract at a spread from the mark. */
  open(side: "BUY" | "SELL", qty: string, spread: number): void {
    const shown = this.naive.mark(knockOut)
    const entry = textOf(shown.plus(new Fraction(BigInt(spread), 10n)), 1)
    const notional = fraction(qty).times(fraction(entry)).floor(6)
    const commission = notional / 5_000n + 1n
    const premium = notional / 20n + 1n
    let id = 0
    this.world.turn((turn) => {
      const rfqId = turn.nextId("rfq")
      id = turn.nextId("barrierContract")
      const owned = { partnerId: clients.partnerId, clientId: clients.id, symbol: knockOut, currency: "USDC" }
      const asked = {
        ...openRfqInput,
        rfqId,
        side,
        markAtRequest: textOf(shown, 1),
        createdAt: turn.now,
        updatedAt: turn.now
      }
      const { row } = firstRow("rfqs", asked, {
        id: rfqId,
        ...owned,
        amount: premium,
        createdAt: turn.now,
        closeContractId: null
      })
      turn.draft.put("rfqs", row)
      const money = { premium, commission, notional }
      const texts = Object.fromEntries(
        Object.entries(money).map(([name, minor]) => [name, formatAmount(minor, "USDC")])
      )
      const input = {
        ...contractInput,
        ...texts,
        contractId: id,
        rfqId,
        side,
        qty,
        entry,
        potentialProfit: null,
        takeProfit: null,
        openedAt: turn.now
      }
      const columns = { id, ...owned, rfqId, amount: premium, commission, openedAt: turn.now }
      start(turn, "barrierContracts", { input, columns, of: traderOf })
    })
    this.contracts.set(id, { side, qty: fraction(qty), entry: fraction(entry), premium })
    const paid = fraction(entry)
      .minus(shown)
      .times(fraction(qty))
      .times(fraction(side === "BUY" ? 1 : -1))
    this.earn("USDC", -commission)
    this.cost("BARRIER", commission)
    this.cost("SPREAD", paid.sign > 0 ? paid.ceil(6) : 0n)
    this.gain(-commission)
    this.executed("USDC", notional)
    this.traded.push({ at: this.now, amount: notional })
    this.stand()
  }

  /** Ends a contract with this result. */
  settle(id: number, pnl: bigint): void {
    const text = `${pnl < 0n ? "-" : ""}${formatAmount(pnl < 0n ? -pnl : pnl, "USDC")}`
    this.world.turn((turn) => {
      const row = this.store.rows("barrierContracts").find((each) => each.id === id)
      if (row === undefined) throw new Error(`no contract ${id}`)
      const event = { type: "EXPIRED", at: this.now, settlePrice: "60000.0", pnl: text, reason: null } as const
      advance(turn, "barrierContracts", row, event, { of: traderOf })
    })
    this.contracts.delete(id)
    this.earn("USDC", pnl)
    this.gain(pnl)
    this.executed("USDC", pnl)
    this.stand()
  }

  /** The account's state before a moment. */
  standingAt(moment: number): NaiveStanding | null {
    return this.standings.findLast(({ at }) => at < moment) ?? null
  }

  /** The number of holdings before a moment without a mark at the last midnight not after it. */
  unvaluedAt(moment: number): number {
    const { positions, contracts } = this.standingAt(moment) ?? { positions: new Map(), contracts: new Map() }
    const marks = this.dailyMarks.get(Math.floor(moment / dayMillis) * dayMillis)
    const unvalued = [...positions.keys()].filter((symbol) => marks?.has(symbol) !== true)
    return unvalued.length + (marks?.has(knockOut) === true ? 0 : contracts.size)
  }

  /** The equity of F4 before a moment, at the marks of the last midnight not after it. */
  equityAt(moment: number): bigint {
    const standing = this.standingAt(moment)
    const marks = this.dailyMarks.get(Math.floor(moment / dayMillis) * dayMillis) ?? new Map<string, string>()
    return standing === null ? 0n : naiveEquity(standing, marks, knockOut)
  }
}
