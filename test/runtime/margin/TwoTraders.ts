/**
 * Two clients that trade two perpetuals only with each other, by the service's own gates and turns, against the exchange of the
 * simulated venue. Calls, answers and events wait until the test delivers them. Staff do nothing.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { firstRefusal } from "../../../src/machines/shared/Gates.ts"
import { type Facts, noFacts } from "../../../src/machines/market/Facts.ts"
import { defaultMarketTerms } from "../../../src/machines/market/marketTerms.ts"
import { isWorking } from "../../../src/machines/order/Order.ts"
import type { OrderBody } from "../../../src/machines/order/OrderBody.ts"
import { orderGates } from "../../../src/machines/order/orderGates.ts"
import { orderMarket, orderOnMarket } from "../../../src/machines/order/orderOnMarket.ts"
import type { VenueRequest } from "../../../src/machines/venue/venueCalls.ts"
import { ownerOfRef } from "../../../src/machines/venue/venueRefs.ts"
import { moneyOutRefusal } from "../../../src/machines/withdrawal/moneyOut.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { TurnHeld } from "../../../src/runtime/engine/mailbox/TurnHeld.ts"
import { accountIn } from "../../../src/runtime/services/account/accountNow.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import { judgeRisk } from "../../../src/runtime/services/margin/riskDecisions.ts"
import { newOrder } from "../../../src/runtime/services/trading/order/newOrder.ts"
import { cancelOrder, ordersInTurn, placeOrder } from "../../../src/runtime/services/trading/order/orderDecisions.ts"
import { clientInTurn, judgedOrder } from "../../../src/runtime/services/trading/order/orderFacts.ts"
import { orderHandler } from "../../../src/runtime/services/trading/order/orderEvents.ts"
import type { OrderMarkets } from "../../../src/runtime/services/trading/order/orderMarkets.ts"
import { outOfSyncOrders } from "../../../src/runtime/services/venue/OutOfSync.ts"
import { armAttachment, protectInTurn } from "../../../src/runtime/services/trading/order/protection.ts"
import type { DefiniteOutcome } from "../../../src/runtime/services/venue/VenueHandler.ts"
import { freeMoney } from "../../../src/runtime/services/money/withdrawal/withdrawalDecisions.ts"
import type { TableName, Tables } from "../../../src/runtime/tables/Catalogue.ts"
import { Exchange } from "../../../simulator/venue/core/Exchange.ts"
import { type Market, unitsOf } from "../../../simulator/venue/core/Market.ts"
import type { Order } from "../../../simulator/venue/core/Order.ts"
import { wireFill, wireOrder } from "../../../simulator/venue/core/wire.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { market as listed } from "../../support/ScriptedVenue.ts"
import { gold, marketsAt, perp } from "../order/leverageTurns.ts"
import { parts, view } from "../rfq/rfqTurns.ts"
import { Trader } from "./Trader.ts"

const by = { role: "TRADE", keyLabel: "t", requestId: "t", actor: "partner:ACM" }
const venueMarket = (symbol: string, assetClass: "crypto" | "metal"): Market => ({
  symbol,
  family: "PERP",
  base: symbol.slice(0, 3),
  assetClass,
  displayName: symbol,
  tickDecimals: 1,
  lotDecimals: 4,
  minQty: 1,
  maxQty: 100_000_000,
  minNotional: 0n,
  bandBps: 1_000
})
const atVenue = [venueMarket(perp, "crypto"), venueMarket(gold, "metal")]
const listing = new Map([
  [perp, listed(perp, { minNotional: "0" })],
  [gold, listed(gold, { minNotional: "0", assetClass: "metal" })]
])

/** The gate of verification is skipped. */
const moneyGates = orderGates.filter(({ gate }) => gate !== "verification")

export type Wish = Pick<OrderBody, "symbol" | "side" | "type" | "qty"> & Partial<OrderBody>

/** Figures of one client, micro-USDC. */
export interface Standing {
  /** The equity at the present marks. */
  readonly equity: bigint
  readonly writtenOff: bigint
  /**
   * The total cost of the steps beyond the equity, up to the last rest of service and venue, together with the possible
   * cost of the last step. Working orders count as filled at each step; a stop that fires within the step counts as
   * filled at its full bound.
   */
  readonly beyond: bigint
  /** The value of all that reduce-only orders have closed, at the marks of that moment. */
  readonly closed: bigint
}

export class TwoTraders {
  readonly traders: ReadonlyArray<Trader>
  private readonly exchange: Exchange
  private readonly calls: Array<Tables["venueCalls"]> = []
  private readonly answers: Array<DefiniteOutcome> = []
  private readonly marks = new Map<string, string>()
  private readonly instruments = marketsAt({}).instruments
  private terms = defaultMarketTerms
  protected readonly clock = { now: 1_000_000 }
  private ids = 0

  constructor(cash: ReadonlyArray<bigint>) {
    this.traders = cash.map((each, at) => new Trader(at + 1, each))
    this.exchange = new Exchange(
      atVenue,
      (event) => {
        const trader = this.traders[event.order.accountId - 1] ?? assert.fail("nobody's order")
        const market = atVenue.find(({ symbol }) => symbol === event.order.symbol) ?? assert.fail("no market")
        const order = wireOrder(market, trader.row.uid, event.order)
        const common = { account: trader.row.uid, sequence: ++this.ids, order }
        if (event.kind === "order") trader.events.push({ type: "order", ...common })
        else {
          const fill = wireFill(market, trader.row.uid, event.order.ref, event.fill, this.clock.now)
          trader.events.push({ type: "fill", ...common, fill })
        }
      },
      this.clock
    )
    for (const { row } of this.traders) this.exchange.open(row.id, row.uid)
  }

  protected get facts(): Facts {
    const marks = [...this.marks].map(([symbol, price]) => {
      const mark = { price: new MoneyDecimal(price), places: 1, at: this.clock.now, current: true }
      return [symbol, mark] as const
    })
    return {
      ...noFacts,
      takenAt: this.clock.now,
      marks: new Map(marks),
      instruments: this.instruments,
      terms: this.terms
    }
  }

  private get markets(): OrderMarkets {
    return {
      terms: this.terms,
      connected: () => true,
      haltOf: () => null,
      find: (symbol) => orderMarket(symbol, { market: (each) => listing.get(each) ?? null, isStaking: () => false }),
      quoted: (symbol) => {
        const book = this.exchange.listings.get(symbol)?.book
        const text = (ticks: number | null | undefined) => (ticks == null ? null : (ticks / 10).toFixed(1))
        const mark = this.marks.get(symbol) ?? null
        return { last: mark, mark, index: mark, bestBid: text(book?.best("BUY")), bestAsk: text(book?.best("SELL")) }
      }
    }
  }

  protected turn(trader: Trader, decide: (turn: Turn) => void): void {
    for (;;) {
      const { state } = trader
      const turn: Turn = {
        now: this.clock.now,
        state,
        facts: this.facts,
        draft: new CommitBuilder(),
        by,
        nextId: () => ++this.ids
      }
      try {
        decide(turn)
        protectInTurn({ turn, of: instanceOf(trader.row, view), recall: trader.recall })
        judgeRisk(turn, { directory: parts.directory, markets: this.markets })
      } catch (error) {
        if (!(error instanceof TurnHeld)) throw error
        Effect.runSync(error.released)
        continue
      }
      if (turn.draft.isEmpty) return
      const commit = turn.draft.build({ subject: state.subject, expected: state.token }, null)
      trader.keep(commit.rows)
      this.calls.push(...(commit.rows.venueCalls ?? []))
      state.adopt(commit)
      this.committed(commit.rows)
      return
    }
  }

  protected committed(_rows: Partial<Record<TableName, ReadonlyArray<object>>>): void {}

  /** The turns that follow from a mark in a market, from a start, or after a second. */
  protected judged(_cause: { readonly mark: string } | "start" | "second"): void {
    for (const trader of this.traders) this.turn(trader, () => {})
  }

  /** Moves the mark of a market and runs the turns that follow at once. */
  mark(symbol: string, price: string): void {
    this.marks.set(symbol, price)
    this.exchange.move(symbol, "MARK", ticks(price))
    this.judged({ mark: symbol })
  }

  /** A mark jumps. The venue's trades of that moment are booked before any call reaches the venue. */
  jump(symbol: string, price: string): void {
    this.step(() => this.mark(symbol, price))
  }

  /** The mark moves by small steps, and the service and the venue come to rest after each. */
  drift(symbol: string, prices: ReadonlyArray<string>): void {
    for (const price of prices) {
      this.jump(symbol, price)
      this.settle()
    }
  }

  /** Funding of one hour, at a rate in basis points of the value at the mark: longs pay shorts. */
  fund(symbol: string, bps: number): void {
    this.step(() => {
      for (const trader of this.traders) {
        const qty = trader.state.all("positions").find((row) => row.symbol === symbol)?.netQty ?? "0"
        const paid = new MoneyDecimal(qty).mul(this.markOf(symbol)).mul(bps * 100)
        this.turn(trader, ({ state, draft }) => {
          for (const held of state.all("balances")) {
            draft.put("balances", { ...held, cash: held.cash - BigInt(paid.ceil().toFixed(0)) })
          }
        })
      }
    })
  }

  /** Staff categorize a client, which moves its margins. */
  categorize(at: number, categorization: "RETAIL" | "PROFESSIONAL"): void {
    const trader = this.traders[at] ?? assert.fail("no trader")
    this.step(() =>
      this.turn(trader, ({ state, draft }) => {
        const client = state.one("clients") ?? assert.fail("no client")
        draft.put("clients", { ...client, categorization })
      })
    )
  }

  /** The service starts again with another leverage profile. */
  profile(metal: number): void {
    const { leverage } = defaultMarketTerms
    this.step(() => {
      this.terms = { ...defaultMarketTerms, leverage: { ...leverage, retail: { ...leverage.retail, metal } } }
      this.judged("start")
    })
  }

  /** One step of the figures. The orders that work at that moment may fill before the service sees it. */
  private step(move: () => void): void {
    this.closeStep()
    for (const trader of this.traders) trader.paidBefore = this.paidBy(trader)
    move()
    while (this.deliver("event"));
    for (const trader of this.traders) {
      const more = this.lacking(trader) + trader.writtenOff() - trader.paidBefore
      trader.open = more > 0n ? more : 0n
    }
  }

  /** Counts the cost of a step once the venue has the cancels that followed from it. */
  private closeStep(): void {
    for (const trader of this.traders) {
      const paid = this.paidBy(trader) - trader.paidBefore
      trader.beyond += paid < trader.open ? (paid > 0n ? paid : 0n) : trader.open
      trader.open = 0n
      trader.paidBefore = this.paidBy(trader)
    }
  }

  /** The money that the house has paid for a client, and the money that it still has to pay. */
  private paidBy(trader: Trader): bigint {
    const { closeOutEquity } = accountIn(trader.state, this.facts).risk
    return trader.writtenOff() + (closeOutEquity < 0n ? -closeOutEquity : 0n)
  }

  /** The equity that the account lacks if its orders fill at their worst prices, micro-USDC. */
  private lacking(trader: Trader): bigint {
    let lacks = -accountIn(trader.state, this.facts).risk.closeOutEquity
    for (const { symbol, context } of trader.orders().filter(isWorking)) {
      const { side, qty, filledQty, venuePrice, boundBps, trigger, triggeredAt } = context
      const mark = Number(this.marks.get(symbol))
      const waits = trigger !== null && triggeredAt === null && boundBps !== null
      const away = side === "BUY" ? Number(venuePrice) - mark : mark - Number(venuePrice)
      const lost = waits ? (mark * boundBps) / 10_000 : Math.max(away, 0)
      const commission = (Math.max(Number(venuePrice), mark) * defaultMarketTerms.commissionBps.PERP) / 10_000
      lacks += BigInt(Math.ceil((lost + commission) * (Number(qty) - Number(filledQty)) * 1e6))
    }
    return lacks > 0n ? lacks : 0n
  }

  markOf(symbol: string): string {
    return this.marks.get(symbol) ?? assert.fail(`${symbol} has no mark`)
  }

  /** Places an order as a partner's request would. False: a gate refused it. */
  place(at: number, wish: Wish): boolean {
    const trader = this.traders[at] ?? assert.fail("no trader")
    let placed = false
    this.turn(trader, (turn) => {
      const none = {
        price: null,
        tif: "GTC",
        reduceOnly: false,
        trigger: null,
        attach: null,
        ocoGroup: null,
        leverage: null
      } as const
      const found = this.markets.find(wish.symbol)
      if (!found.ok) return assert.fail(wish.symbol)
      const asked = orderOnMarket({ ...none, ...wish }, found.value)
      if (!asked.ok) return assert.fail(asked.sentence)
      const whole = { order: asked.order, market: found.value, grid: asked.grid }
      const client = turn.state.one("clients") ?? assert.fail("no client")
      const now = clientInTurn(turn, { client, partnerState: "ACTIVE" })
      const { figures, facts } = judgedOrder(now, whole, this.markets, { previews: false, fired: false })
      placed = firstRefusal(moneyGates, facts) === null
      if (!placed) return
      const order = newOrder({ requested: whole, figures, terms: this.markets.terms })
      assert.isTrue(order.venuePrice !== null || order.boundBps !== null, "it is sent without a bound")
      const of = instanceOf(client, view)
      armAttachment(turn, of, placeOrder({ turn, of }, client, order))
    })
    return placed
  }

  /** Cancels one of its working orders. */
  cancel(at: number, nth: number): void {
    const trader = this.traders[at] ?? assert.fail("no trader")
    this.turn(trader, (turn) => {
      const rows = ordersInTurn(turn).filter(
        ({ state, context }) => state !== "PENDING_CANCEL" && context.origin === "CLIENT"
      )
      const row = rows[nth % Math.max(rows.length, 1)]
      if (row !== undefined) cancelOrder({ turn, of: instanceOf(trader.row, view) }, row, null)
    })
  }

  /** Chooses a leverage, by force. A close-out refuses it. */
  choose(at: number, symbol: string, leverage: number): void {
    const trader = this.traders[at] ?? assert.fail("no trader")
    this.turn(trader, (turn) => {
      const { id: clientId, partnerId } = trader.row
      if (accountIn(turn.state, turn.facts).recorded === "CLOSE_OUT") return
      turn.draft.put("leverages", { clientId, partnerId, symbol, leverage, updatedAt: turn.now })
    })
  }

  /** The position of a client, signed. */
  netQty(at: number, symbol: string): string {
    const rows = this.traders[at]?.state.all("positions") ?? []
    return rows.find((row) => row.symbol === symbol)?.netQty ?? "0"
  }

  /** Takes money out by the rule of withdrawals and loans: this share of the free money, in percent. */
  takeOut(at: number, percent: number): void {
    const trader = this.traders[at] ?? assert.fail("no trader")
    this.turn(trader, (turn) => {
      const now = accountIn(turn.state, turn.facts)
      const amount = (now.risk.free * BigInt(percent)) / 100n
      const held = turn.state.get("balances", `${trader.row.id},USDC`) ?? turn.state.all("balances")[0]
      if (amount <= 0n || held === undefined) return
      if (moneyOutRefusal({ ...freeMoney(now, "USDC"), restrictions: [], paused: false }, amount) !== null) return
      turn.draft.put("balances", { ...held, cash: held.cash - amount })
    })
  }

  /** Earlier losses leave a client with this margin level, in percent. */
  level(at: number, percent: number): void {
    const trader = this.traders[at] ?? assert.fail("no trader")
    this.turn(trader, (turn) => {
      const { closeOutEquity, marginBase } = accountIn(turn.state, turn.facts).risk
      const wanted = (marginBase * BigInt(percent) + 99n) / 100n
      for (const held of turn.state.all("balances")) {
        turn.draft.put("balances", { ...held, cash: held.cash + wanted - closeOutEquity })
      }
    })
  }

  /** Delivers one call, answer or event. False: none waits. */
  deliver(which: "call" | "answer" | "event"): boolean {
    if (which === "call") {
      const call = this.calls.shift()
      if (call !== undefined) this.answers.push(this.execute(call))
      return call !== undefined
    }
    if (which === "answer") {
      const outcome = this.answers.shift()
      if (outcome !== undefined) {
        const { trader, id } = this.ownerOf(outcome.ref)
        this.turn(trader, (turn) => {
          turn.draft.endCall(outcome.ref)
          this.handlerOf(trader).ended(turn, { id, outcome, call: null })
        })
      }
      return outcome !== undefined
    }
    const trader = this.traders.find(({ events }) => events.length > 0)
    const fact = trader?.events.shift()
    if (trader === undefined || fact === undefined) return false
    if (fact.type !== "order" && fact.type !== "fill") return true
    const id = ownerOfRef(fact.order.ref ?? "")?.id ?? 0
    if (fact.type === "fill" && fact.order.reduceOnly) {
      trader.closed += valueAt(fact.fill.qty, this.markOf(fact.order.symbol))
    }
    this.turn(trader, (turn) => void this.handlerOf(trader).reported(turn, { id, at: this.clock.now, fact }))
    return true
  }

  settle(): void {
    for (let steps = 0; this.deliver("event") || this.deliver("call") || this.deliver("answer"); steps++) {
      assert.isBelow(steps, 20_000, "it does not come to rest")
    }
    this.closeStep()
  }

  /** Time passes. The monitor judges both clients each second, so that close-outs continue. */
  wait(seconds: number): void {
    for (let second = 0; second < seconds; second++) {
      this.clock.now += 1_000
      this.judged("second")
      this.settle()
    }
  }

  /** The number of the venue's trades. */
  get trades(): number {
    return this.exchange.ids.trade
  }

  /** The state of each order of a client, its filled quantity, and the reason for its end. */
  ordersOf(at: number): ReadonlyArray<string> {
    return (this.traders[at]?.orders() ?? []).map(({ state, context: { filledQty, note } }) =>
      [state, filledQty, ...(note === null ? [] : [note])].join(", ")
    )
  }

  /** The bounds of the client's waiting orders in a market, basis points. */
  boundsOf(at: number, symbol: string): ReadonlyArray<number | null> {
    const waiting = (this.traders[at]?.orders() ?? []).filter((row) => row.state === "PENDING_TRIGGER")
    return waiting.filter((row) => row.symbol === symbol).map(({ context }) => context.boundBps)
  }

  standings(): ReadonlyArray<Standing> {
    return this.traders.map((trader) => ({
      equity: accountIn(trader.state, this.facts).risk.closeOutEquity,
      writtenOff: trader.writtenOff(),
      beyond: trader.beyond + trader.open,
      closed: trader.closed
    }))
  }

  private ownerOf(ref: string): { readonly trader: Trader; readonly id: number } {
    const id = ownerOfRef(ref)?.id ?? 0
    return { trader: this.traders[(this.owners.get(id) ?? 0) - 1] ?? assert.fail(ref), id }
  }

  private readonly owners = new Map<number, number>()

  private handlerOf(trader: Trader) {
    return orderHandler({ directory: parts.directory, recall: trader.recall, unsettled: outOfSyncOrders() })
  }

  private execute({ ref, call, request, clientId }: Tables["venueCalls"]): DefiniteOutcome {
    this.owners.set(ownerOfRef(ref)?.id ?? 0, clientId)
    const [order, reason] = this.act(ref, call, request, clientId)
    const market = atVenue.find(({ symbol }) => symbol === order?.symbol)
    const uid = this.traders[clientId - 1]?.row.uid ?? ""
    const wired = order === undefined || market === undefined ? null : wireOrder(market, uid, order)
    const outcome = reason === null ? "EXECUTED" : "REFUSED"
    return { ref, outcome, reason, at: this.clock.now, order: wired, rfq: null, contract: null, swap: null }
  }

  private act(
    ref: string,
    call: string,
    request: object,
    accountId: number
  ): readonly [Order | undefined, string | null] {
    if (call === "amendOrder") {
      const { target, qty, boundBps } = request as VenueRequest<"amendOrder">
      const order = this.exchange.orders.get(target)
      if (order === undefined) return [order, "unknown order"]
      return [order, this.exchange.amend(order, unitsOf(qty, 4) ?? assert.fail(qty), boundBps)]
    }
    if (call !== "placeOrder") {
      const order = this.exchange.orders.get((request as VenueRequest<"cancelOrder">).target)
      return [order, order !== undefined && this.exchange.cancel(order) ? null : "order has ended"]
    }
    const { symbol, side, price, boundBps, qty, tif, reduceOnly, trigger, group } =
      request as VenueRequest<"placeOrder">
    const asked = {
      ref,
      accountId,
      symbol,
      side,
      price: price === null ? null : ticks(price),
      quantity: unitsOf(qty, 4) ?? assert.fail(qty),
      tif,
      reduceOnly,
      trigger: trigger === null ? null : { ...trigger, price: ticks(trigger.price) },
      group
    }
    const order = this.exchange.place(boundBps === undefined ? asked : { ...asked, boundBps })
    return [order, order.state === "REJECTED" ? order.reason : null]
  }
}

const valueAt = (qty: string, mark: string): bigint =>
  BigInt(new MoneyDecimal(qty).mul(mark).mul(1e6).ceil().toFixed(0))

const ticks = (price: string): number => unitsOf(price, 1) ?? assert.fail(`${price} is off the grid`)
