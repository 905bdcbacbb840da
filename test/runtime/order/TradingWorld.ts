/**
 * One client that trades two perpetuals and a spot market, by the service's own turns. Their commits are stored as the
 * database would store them, and the client can be read again from there. The test sets the venue's reports.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type MarginPicture, marginPictureOf } from "../../../src/machines/margin/marginPicture.ts"
import { noRecentMarket, type RecentMarket } from "../../../src/machines/market/Facts.ts"
import { defaultMarketTerms } from "../../../src/machines/market/marketTerms.ts"
import { isWorking } from "../../../src/machines/order/Order.ts"
import type { OrderBody } from "../../../src/machines/order/OrderBody.ts"
import { orderMarket, orderOnMarket } from "../../../src/machines/order/orderOnMarket.ts"
import type { PreTrade } from "../../../src/machines/order/preTrade.ts"
import { formatAmount, minorOf, MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import type { TimerName } from "../../../src/machines/timerNames.ts"
import type { OwnMoney } from "../../../src/machines/reconciliation/money.ts"
import type { AccountFact, VenueFunding } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueFill, VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import type { VenueTime } from "../../../src/machines/venue/timeChecks.ts"
import { applyEffects } from "../../../src/runtime/effects/Interpreter.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { accountIn } from "../../../src/runtime/services/account/accountNow.ts"
import { accountSummary } from "../../../src/runtime/services/account/accountSummary.ts"
import { balancesIn, fundingOf, overviewIn } from "../../../src/runtime/services/account/StandingPortfolio.ts"
import { instanceOf, usdcBalance } from "../../../src/runtime/services/account/clientState.ts"
import { bookFunding, fundingTimers } from "../../../src/runtime/services/trading/funding/fundingBooking.ts"
import { chooseLeverage } from "../../../src/runtime/services/trading/order/leverageDecisions.ts"
import { newOrder } from "../../../src/runtime/services/trading/order/newOrder.ts"
import { placeOrder } from "../../../src/runtime/services/trading/order/orderDecisions.ts"
import { clientInTurn, judgedOrder } from "../../../src/runtime/services/trading/order/orderFacts.ts"
import {
  onVenueTrade,
  onOrderReport,
  orderHandler,
  type WholeOrder
} from "../../../src/runtime/services/trading/order/orderEvents.ts"
import type { OrderMarkets } from "../../../src/runtime/services/trading/order/orderMarkets.ts"
import { unnamedVerdict } from "../../../src/runtime/services/trading/order/unnamedVerdict.ts"
import { outOfSyncOrders } from "../../../src/runtime/services/venue/OutOfSync.ts"
import { misfitReads } from "../../../src/runtime/services/venue/MisfitReads.ts"
import { misfitTimers } from "../../../src/runtime/services/venue/misfits.ts"
import { Recall } from "../../../src/runtime/services/account/Recall.ts"
import type { Verdict } from "../../../src/runtime/services/venue/verdict.ts"
import type { TableName } from "../../../src/runtime/tables/Catalogue.ts"
import type { Condition } from "../../../src/runtime/store/paging.ts"
import { contractsNow } from "../../fixtures/contracts.ts"
import { market } from "../../support/ScriptedVenue.ts"
import { takeTurn } from "../../support/takeTurn.ts"
import { reportOf, venueOrder } from "../../support/venueOrders.ts"
import { clients, parts, view } from "../rfq/rfqTurns.ts"
import { gold, marketsAt, perp } from "./leverageTurns.ts"

export const spot = "BTC-USDC"
const by = { role: "TRADE", keyLabel: "t", requestId: "t", actor: "partner:ACM" }
const client = { ...clients, categorization: "RETAIL" as const }
export const traderOf = instanceOf(client, view)
const of = traderOf
const subject = "client:1"

const listedWith = (spotStep: string) =>
  new Map([
    [perp, market(perp)],
    [gold, market(gold, { assetClass: "metal" })],
    [spot, market(spot, { family: "SPOT", qtyStep: spotStep, minQty: spotStep })]
  ])

interface TradingOptions {
  readonly store?: MemoryStore
  readonly clock?: () => number
  /** The quantity step of the spot market: a fine one makes amounts that are no whole micro-USDC. */
  readonly spotStep?: string
  /** The judgement of risk at the end of each turn, as in the engine. */
  readonly judge?: (turn: Turn) => void
}

/** Service and venue have the same time. */
const oneClock: VenueTime = { latest: Infinity, lag: 0, pastLag: 0, lead: 0, pastLead: 0, behindUntil: -Infinity }

/** The distance of the best prices from the mark. */
const halfSpread = 10

export class TradingWorld {
  readonly store: MemoryStore
  /** The clock; null: each turn has another time. */
  private readonly clock: (() => number) | null
  private readonly listed: ReturnType<typeof listedWith>
  private readonly judge: (turn: Turn) => void
  private state = new SubjectState(subject, { token: null, rows: [] })
  private readonly marks = new Map<string, string>()
  private readonly instruments = marketsAt({}).instruments
  private recall: Recall
  readonly unsettled = outOfSyncOrders()
  private ids = 0
  private trades = 0
  /** The amounts of executed trades in the venue's own books. */
  private readonly flows = new Map<string, MoneyDecimal>()

  constructor({ store = new MemoryStore(), clock, spotStep = "0.0001", judge = () => {} }: TradingOptions = {}) {
    this.store = store
    this.judge = judge
    this.listed = listedWith(spotStep)
    this.clock = clock ?? null
    this.recall = this.recalling()
    this.turn((turn) => {
      turn.draft.put("partners", { ...view.row, epoch: 1 })
      turn.draft.put("clients", client)
    })
  }

  /** Ends the process; another one reads the client's rows. */
  restart(): void {
    this.state = new SubjectState(subject, this.store.image(subject))
    this.recall = this.recalling()
  }

  private recalling(): Recall {
    const named = (column: string) => column.replaceAll(/_[a-z]/g, (two) => two.charAt(1).toUpperCase())
    const rows = (table: TableName): ReadonlyArray<object> => this.store.rows(table)
    return new Recall({
      among: (table: TableName, ids: ReadonlyArray<number>) =>
        Effect.succeed(rows(table).filter((row) => ids.includes((row as { readonly id: number }).id))),
      page: (table: TableName, asked: ReadonlyArray<Condition>) =>
        Effect.succeed(
          rows(table).filter((row) =>
            asked.every(({ column, value, comparison }) => {
              const held = (row as Record<string, unknown>)[named(column)]
              return comparison === ">=" ? Number(held) >= Number(value) : held === value
            })
          )
        )
    } as unknown as RowReads["Service"])
  }

  /** The recent marks that the process knows. */
  recent: RecentMarket = noRecentMarket

  private get facts() {
    const marks = Object.fromEntries([...this.marks].map(([symbol, price]) => [symbol, { price }]))
    // One listing object, so that the account's cached figures stay valid.
    return { ...marketsAt(marks), instruments: this.instruments, recent: this.recent, venueTime: oneClock }
  }

  turn(decide: (turn: Turn) => void): void {
    const { store, state } = this
    const nextId = () => ++this.ids
    const given = () => ({ now: this.clock?.() ?? contractsNow + this.ids, facts: this.facts, by, nextId })
    takeTurn({ store, state, subject, given }, (turn) => {
      decide(turn)
      this.judge(turn)
    })
  }

  mark(symbol: string, price: string): void {
    this.marks.set(symbol, price)
  }

  deposit(currency: "USDC" | "BTC", amount: string): void {
    const key = `deposit:${this.ids}`
    this.turn((turn) =>
      applyEffects(turn, of, [{ type: "ledger.post", entry: "DEPOSIT", key, currency, amount, reason: null, refs: {} }])
    )
  }

  /** Sets the cash to this amount. */
  turnToCash(amount: string): void {
    const left = minorOf(amount, "USDC") - this.balance("USDC").cash
    const key = `manual:${this.ids}`
    const posting = { entry: "MANUAL", key, currency: "USDC", reason: null, refs: {} } as const
    this.turn((turn) =>
      applyEffects(turn, of, [{ type: "ledger.post", ...posting, amount: formatAmount(left, "USDC") }])
    )
  }

  chooseLeverage(symbol: string, leverage: number): void {
    this.turn((turn) => {
      assert.isTrue(chooseLeverage({ turn, of }, client, { symbol, leverage, force: true }).ok)
    })
  }

  /** The best price on the other side of the book for an order. */
  best(symbol: string, side: "BUY" | "SELL"): string {
    return new MoneyDecimal(this.marks.get(symbol) ?? 0).plus(side === "BUY" ? halfSpread : -halfSpread).toFixed(1)
  }

  private readonly markets: OrderMarkets = {
    terms: defaultMarketTerms,
    connected: () => true,
    find: (symbol) =>
      orderMarket(symbol, { market: (wanted) => this.listed.get(wanted) ?? null, isStaking: () => false }),
    haltOf: () => null,
    quoted: (symbol) => {
      const mark = this.marks.get(symbol) ?? null
      return { last: mark, mark, index: mark, bestBid: this.best(symbol, "SELL"), bestAsk: this.best(symbol, "BUY") }
    }
  }

  /** The figures by which placing is decided, and the order's id if margin or balance suffice. */
  place(body: OrderBody): { readonly figures: PreTrade; readonly id: number | null } {
    let answer: { figures: PreTrade; id: number | null } | null = null
    this.turn((turn) => {
      const found = this.markets.find(body.symbol)
      if (!found.ok) return assert.fail(body.symbol)
      const asked = orderOnMarket(body, found.value)
      if (!asked.ok || asked.grid !== null) return assert.fail(JSON.stringify(asked))
      const order = { order: asked.order, market: found.value, grid: null }
      const at = clientInTurn(turn, { client, partnerState: "ACTIVE" })
      const { figures } = judgedOrder(at, order, this.markets, { previews: false, fired: false })
      answer = { figures, id: null }
      if (figures.sentence !== null) return
      const { terms } = this.markets
      const wanted = newOrder({ requested: order, figures, terms })
      answer.id = placeOrder({ turn, of }, client, wanted).id
    })
    return answer ?? assert.fail("nothing was judged")
  }

  private say(
    id: number,
    fact: (order: VenueOrder, sequence: number) => AccountFact,
    change: Partial<VenueOrder>
  ): void {
    const order = venueOrder(client.uid, `O-${id}`, { id: 900 + id, ...change })
    const handler = orderHandler({ directory: parts.directory, recall: this.recall, unsettled: this.unsettled })
    this.turn((turn) => {
      assert.isTrue(handler.reported(turn, { id, at: contractsNow, fact: fact(order, this.ids) }))
    })
  }

  /** Executes a part of an order at the venue. */
  fill(id: number, qty: string, price: string): void {
    const { symbol, context } = this.order(id)
    const { side } = context
    const filled = new MoneyDecimal(context.filledQty).plus(qty)
    const tradeId = ++this.trades
    const signed = new MoneyDecimal(qty).mul(side === "BUY" ? 1 : -1)
    this.flow("USDC", signed.mul(price).negated())
    if (symbol === spot) this.flow("BTC", signed)
    const at = this.clock?.() ?? contractsNow
    const traded = { tradeId, orderId: 900 + id, ref: `O-${id}`, account: client.uid, symbol, side, price, qty, at }
    const fill = { ...traded, liquidity: "TAKER", reason: null } as const
    const state = filled.gte(context.qty) ? "FILLED" : "WORKING"
    this.say(id, (order, sequence) => ({ type: "fill", account: client.uid, sequence, fill, order }), {
      symbol,
      side,
      qty: context.qty,
      filledQty: filled.toFixed(),
      state
    })
  }

  /** Reports a stamp of the venue. Returns whether it had an effect. */
  funding(said: VenueFunding, isWhole = true): boolean {
    let taken = false
    this.turn((turn) => {
      taken = bookFunding({ turn, of, recall: this.recall, unsettled: this.unsettled }, said, isWhole)
    })
    return taken
  }

  /** Fires the timers of funding. */
  fireFunding(): void {
    const timers = fundingTimers({ directory: parts.directory, unsettled: this.unsettled })
    for (const { name } of this.store.rows("timers")) {
      const [handler, id] = name.split(":")
      if (handler !== "funding.held") continue
      this.turn((turn) => {
        turn.draft.clearTimer(subject, name as TimerName)
        timers["funding.held"](turn, turn.now, id ?? null)
      })
    }
  }

  /** The venue answers for an order with trades at the given times. A trade without an id is the newest. */
  found(
    id: number,
    trades: ReadonlyArray<Pick<VenueFill, "qty" | "price" | "at"> & { readonly tradeId?: number }>
  ): void {
    const row = this.store.rows("orders").find((order) => order.id === id) ?? assert.fail(`no order ${id}`)
    const { symbol, context } = row
    const { side } = context
    const of_ = { orderId: 900 + id, ref: `O-${id}`, account: client.uid, symbol, side }
    const fills = trades.map((trade) => {
      const tradeId = trade.tradeId ?? ++this.trades
      this.flow("USDC", new MoneyDecimal(trade.qty).mul(trade.price).mul(side === "BUY" ? -1 : 1))
      return { ...of_, ...trade, tradeId, liquidity: "TAKER", reason: null } as const
    })
    const filledQty = fills.reduce((sum, fill) => sum.plus(fill.qty), new MoneyDecimal(context.filledQty)).toFixed()
    const order = reportOf(context, 900 + id, { filledQty })
    this.unsettled.take()
    assert.isNull(this.read(id, order, fills))
    this.unsettled.settled(id)
  }

  /** Applies the venue's answer for an order and its trades, valid or not. Returns the part that is left for another commit. */
  read(id: number, order: VenueOrder, fills: ReadonlyArray<VenueFill>): ReadonlyArray<WholeOrder> | null {
    const handler = { directory: parts.directory, recall: this.recall, unsettled: this.unsettled }
    let left: ReadonlyArray<WholeOrder> | null = null
    this.turn((turn) => {
      left = onOrderReport(turn, handler, [{ orderId: id, order, fills, wasOver: false, isTimed: false }])
    })
    return left
  }

  /** An event of the venue that names no order of ours. It is applied if it fits. Returns the verdict on it. */
  venueDid(fact: AccountFact): Verdict {
    const at = { directory: parts.directory, recall: this.recall, unsettled: this.unsettled }
    let verdict: Verdict = null
    this.turn((turn) => {
      verdict = unnamedVerdict({ turn, ...at }, fact)
      if (verdict === null) onVenueTrade(turn, at, fact, { at: turn.now, isWhole: true })
    })
    return verdict
  }

  /** Fires the timers of misfits: their objects are read. */
  fireMisfits(): void {
    const timers = misfitTimers(misfitReads(this.unsettled))
    for (const { name } of this.store.rows("timers")) {
      const [handler, id] = name.split(":")
      if (handler === "venue.misfit") this.turn((turn) => timers["venue.misfit"](turn, turn.now, id ?? null))
    }
  }

  private flow(asset: string, amount: MoneyDecimal): void {
    this.flows.set(asset, amount.plus(this.flows.get(asset) ?? 0))
  }

  /** The client's money in the ledger and at the venue. */
  get money() {
    const own: OwnMoney = { balances: this.state.all("balances"), totals: this.state.one("accountTotals") }
    const money = [...this.flows].map(([asset, amount]) => ({
      kind: "trades" as const,
      asset,
      amount: amount.toFixed()
    }))
    return { own, money }
  }

  /** Ends an order at the venue. */
  end(id: number): void {
    const { symbol, context } = this.order(id)
    const { side, qty, filledQty } = context
    this.say(id, (order, sequence) => ({ type: "order", account: client.uid, sequence, order }), {
      symbol,
      side,
      qty,
      filledQty,
      state: "CANCELLED"
    })
  }

  order(id: number) {
    return this.state.get("orders", String(id)) ?? assert.fail(`order ${id} does not work`)
  }

  get working(): ReadonlyArray<number> {
    return this.state
      .all("orders")
      .filter(isWorking)
      .map(({ id }) => id)
  }

  get lots() {
    return this.state.all("spotLots").filter(({ qty }) => qty > 0n)
  }

  balance(currency: string) {
    const row = this.state.all("balances").find((each) => each.currency === currency)
    return { cash: row?.cash ?? 0n, reserved: row?.reserved ?? 0n }
  }

  get positions() {
    return this.state.all("positions")
  }

  get picture(): MarginPicture {
    const { state, facts } = this
    const line = usdcBalance(state)
    return marginPictureOf({
      clientId: 1,
      categorization: client.categorization,
      cash: line?.cash ?? 0n,
      reserved: line?.reserved ?? 0n,
      barriers: 0,
      openOrders: state.all("orders").length,
      instruments: facts.instruments,
      risk: accountIn(state, facts).risk
    })
  }

  get summary() {
    return accountSummary(client.createdAt, this.state.one("accountTotals"), fundingOf(this.state.all("balances")))
  }

  get overview() {
    return overviewIn(this.state, this.facts)
  }

  get balances() {
    return balancesIn(this.state, this.facts)
  }
}
