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
import type { AccountFact } from "../../../src/machines/venue/VenueEvent.ts"
import { ownerOfRef } from "../../../src/machines/venue/venueRefs.ts"
import { moneyOutRefusal } from "../../../src/machines/withdrawal/moneyOut.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { TurnHeld } from "../../../src/runtime/engine/mailbox/TurnHeld.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { accountIn } from "../../../src/runtime/services/account/accountNow.ts"
import { instanceOf } from "../../../src/runtime/services/client/clientState.ts"
import { judgeRisk } from "../../../src/runtime/services/margin/riskDecisions.ts"
import { newOrder } from "../../../src/runtime/services/order/newOrder.ts"
import { cancelOrder, ordersInTurn, placeOrder } from "../../../src/runtime/services/order/orderDecisions.ts"
import { clientInTurn, judgedOrder } from "../../../src/runtime/services/order/orderFacts.ts"
import { orderHandler } from "../../../src/runtime/services/order/orderHears.ts"
import type { OrderMarkets } from "../../../src/runtime/services/order/orderMarkets.ts"
import { unsettledOrders } from "../../../src/runtime/services/order/Unsettled.ts"
import { protectInTurn } from "../../../src/runtime/services/order/protection.ts"
import { Recall } from "../../../src/runtime/services/shared/Recall.ts"
import type { DefiniteOutcome } from "../../../src/runtime/services/venue/VenueHandler.ts"
import { freeMoney } from "../../../src/runtime/services/withdrawal/withdrawalDecisions.ts"
import type { TableName, Tables } from "../../../src/runtime/store/Catalogue.ts"
import type { ClientRow } from "../../../src/runtime/store/tables/client.ts"
import { Exchange } from "../../../simulator/venue/core/Exchange.ts"
import { type Market, unitsOf } from "../../../simulator/venue/core/Market.ts"
import type { Order } from "../../../simulator/venue/core/Order.ts"
import { wireFill, wireOrder } from "../../../simulator/venue/core/wire.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { market as listed } from "../../support/ScriptedVenue.ts"
import { balance } from "../engine/fixtures.ts"
import { gold, marketsAt, perp } from "../order/leverageTurns.ts"
import { clients, parts, view } from "../rfq/rfqTurns.ts"

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

/** Amounts of one client, micro-USDC. */
export interface Standing {
  /** At the marks. */
  readonly equity: bigint
  readonly writtenOff: bigint
  /** The losses that jumps took beyond the equity. The orders that work at a jump count as filled. */
  readonly beyond: bigint
  /** The value of all that reduce-only orders have closed, at the marks of that moment. */
  readonly closed: bigint
}

class Trader {
  readonly row: ClientRow
  readonly state: SubjectState
  readonly events: Array<AccountFact> = []
  private readonly stored = new Map<TableName, Map<number, object>>()
  readonly recall: Recall
  beyond = 0n
  closed = 0n

  constructor(id: number, cash: bigint) {
    this.row = { ...clients, id, uid: `ACM-0000000${id}`, categorization: "RETAIL" }
    const rows = [
      { table: "clients" as const, row: this.row },
      { table: "balances" as const, row: balance(id, cash) }
    ]
    this.state = new SubjectState(`client:${id}`, { token: 1, rows })
    this.recall = new Recall({
      among: (table: TableName, ids: ReadonlyArray<number>) =>
        Effect.succeed(ids.flatMap((each) => this.stored.get(table)?.get(each) ?? [])),
      page: () => Effect.succeed([])
    } as unknown as RowReads["Service"])
  }

  keep(rows: Readonly<Partial<Record<TableName, ReadonlyArray<object>>>>): void {
    for (const table of ["orders", "attachments", "closeOuts"] as const) {
      const known = this.stored.get(table) ?? new Map<number, object>()
      this.stored.set(table, known)
      for (const row of rows[table] ?? []) known.set((row as { readonly id: number }).id, row)
    }
  }

  /** All orders of the run, oldest first. */
  orders(): ReadonlyArray<Tables["orders"]> {
    return [...(this.stored.get("orders")?.values() ?? [])] as unknown as ReadonlyArray<Tables["orders"]>
  }

  writtenOff(): bigint {
    const rows = [...(this.stored.get("closeOuts")?.values() ?? [])] as unknown as ReadonlyArray<Tables["closeOuts"]>
    return rows.reduce((sum, { context }) => sum + BigInt(context.writtenOff.replace(".", "")), 0n)
  }
}

export class TwoTraders {
  readonly traders: ReadonlyArray<Trader>
  private readonly exchange: Exchange
  private readonly calls: Array<Tables["venueCalls"]> = []
  private readonly answers: Array<DefiniteOutcome> = []
  private readonly marks = new Map<string, string>()
  private readonly instruments = marketsAt({}).instruments
  private readonly clock = { now: 1_000_000 }
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

  private get facts(): Facts {
    const marks = [...this.marks].map(([symbol, price]) => {
      const mark = { price: new MoneyDecimal(price), places: 1, at: this.clock.now, current: true }
      return [symbol, mark] as const
    })
    return {
      ...noFacts,
      takenAt: this.clock.now,
      marks: new Map(marks),
      instruments: this.instruments,
      terms: defaultMarketTerms
    }
  }

  private readonly markets: OrderMarkets = {
    terms: defaultMarketTerms,
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

  private turn(trader: Trader, decide: (turn: Turn) => void): void {
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
      return
    }
  }

  /** Moves the mark of a market and runs the turns that follow at once. */
  mark(symbol: string, price: string): void {
    this.marks.set(symbol, price)
    this.exchange.move(symbol, "MARK", ticks(price))
    for (const trader of this.traders) this.turn(trader, () => {})
  }

  /** A mark jumps. The venue's trades of that moment are booked before any call reaches the venue. */
  jump(symbol: string, price: string): void {
    const before = this.standings()
    this.mark(symbol, price)
    while (this.deliver("event"));
    for (const [at, trader] of this.traders.entries()) {
      const { equity, writtenOff } = before[at] ?? assert.fail("no trader")
      const more = this.lacking(trader) + trader.writtenOff() - writtenOff + (equity < 0n ? equity : 0n)
      if (more > 0n) trader.beyond += more
    }
  }

  /** What the account lacks if its orders fill at their worst prices, micro-USDC. */
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
      const order = newOrder({ asked: whole, figures, terms: this.markets.terms })
      assert.isTrue(order.venuePrice !== null || order.boundBps !== null, "it is sent without a bound")
      placeOrder({ turn, of: instanceOf(client, view) }, client, order)
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
    this.turn(trader, (turn) => void this.handlerOf(trader).said(turn, { id, at: this.clock.now, fact }))
    return true
  }

  settle(): void {
    for (let steps = 0; this.deliver("event") || this.deliver("call") || this.deliver("answer"); steps++) {
      assert.isBelow(steps, 20_000, "it does not come to rest")
    }
  }

  /** Time passes. The monitor judges both clients each second, so that close-outs continue. */
  wait(seconds: number): void {
    for (let second = 0; second < seconds; second++) {
      this.clock.now += 1_000
      for (const trader of this.traders) this.turn(trader, () => {})
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

  standings(): ReadonlyArray<Standing> {
    return this.traders.map((trader) => ({
      equity: accountIn(trader.state, this.facts).risk.closeOutEquity,
      writtenOff: trader.writtenOff(),
      beyond: trader.beyond,
      closed: trader.closed
    }))
  }

  private ownerOf(ref: string): { readonly trader: Trader; readonly id: number } {
    const id = ownerOfRef(ref)?.id ?? 0
    return { trader: this.traders[(this.owners.get(id) ?? 0) - 1] ?? assert.fail(ref), id }
  }

  private readonly owners = new Map<number, number>()

  private handlerOf(trader: Trader) {
    return orderHandler({ directory: parts.directory, recall: trader.recall, unsettled: unsettledOrders() })
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
