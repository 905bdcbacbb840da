/**
 * The difficult cases of an order's life in its client's turn (D6): trades before acknowledgements, cancels in flight,
 * trades and orders that appear after the end, the venue's own actions, and calls that never arrived.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { OrderState } from "../../../src/machines/order/OrderWire.ts"
import { perpInput } from "../../../src/machines/order/orderSamples.ts"
import type { VenueFill, VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { TurnHeld } from "../../../src/runtime/engine/mailbox/TurnHeld.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import { cancelOrder, orderInTurn, placeOrder } from "../../../src/runtime/services/trading/order/orderDecisions.ts"
import {
  onVenueTrade,
  onOrderReport,
  orderHandler,
  type WholeOrder
} from "../../../src/runtime/services/trading/order/orderEvents.ts"
import { outOfSyncOrders } from "../../../src/runtime/services/venue/OutOfSync.ts"
import { Recall } from "../../../src/runtime/services/account/Recall.ts"
import type { DefiniteOutcome } from "../../../src/runtime/services/venue/VenueHandler.ts"
import type { TableName } from "../../../src/runtime/tables/Catalogue.ts"
import { marketsAt } from "./leverageTurns.ts"
import { venueOrder } from "../../support/venueOrders.ts"
import { clients, parts, view } from "../rfq/rfqTurns.ts"

const { orderId: _id, clientId: _client, account: _account, createdAt: _at, updatedAt: _up, ...terms } = perpInput
const of = instanceOf(clients, view)
const perps = marketsAt({ "BTC-USDC-PERP": { price: "60000" } })
const [listed] = perps.instruments.values()
const spot = { ...(listed ?? assert.fail("no market")), symbol: "BTC-USDC", family: "SPOT" } as const
const facts = { ...perps, instruments: new Map([...perps.instruments, [spot.symbol, spot]]) }

/** One client with one order of 0.1 in flight. Every turn is committed, and stored as in the database. */
class Account {
  readonly unsettled = outOfSyncOrders()
  private readonly state = new SubjectState("client:1", { token: 1, rows: [{ table: "clients", row: clients }] })
  private readonly stored = new Map<TableName, Map<number, object>>()
  private readonly recall: Recall
  private ids = 0
  private now = 1_000

  constructor(change: Partial<typeof terms> = {}) {
    const rows = (table: TableName) => [...(this.stored.get(table)?.values() ?? [])]
    const named = (column: string) => column.replaceAll(/_[a-z]/g, (two) => two.charAt(1).toUpperCase())
    this.recall = new Recall({
      among: (table: TableName, ids: ReadonlyArray<number>) =>
        Effect.succeed(ids.flatMap((id) => this.stored.get(table)?.get(id) ?? [])),
      page: (table: TableName, asked: ReadonlyArray<{ readonly column: string; readonly value: unknown }>) =>
        Effect.succeed(
          rows(table).filter((row) =>
            asked.every(({ column, value }) => (row as Record<string, unknown>)[named(column)] === value)
          )
        )
    } as unknown as RowReads["Service"])
    this.turn((turn) => void placeOrder({ turn, of }, clients, { ...terms, ...change }))
  }

  /** The id of its order, the first of its turns. */
  readonly id = 1

  get order() {
    return (this.stored.get("orders")?.get(this.id) as ReturnType<typeof placeOrder> | undefined) ?? assert.fail("none")
  }
  get trades(): ReadonlyArray<number> {
    return this.rows("fills").map((row) => (row as { readonly tradeId: number }).tradeId)
  }
  get breaks(): number {
    return this.rows("reconBreaks").length
  }
  get netQty(): string {
    return (this.rows("positions")[0] as { readonly netQty: string } | undefined)?.netQty ?? "0"
  }
  rows(table: TableName): ReadonlyArray<object> {
    return [...(this.stored.get(table)?.values() ?? [])]
  }
  /** Refs of the calls in flight. */
  get calls(): ReadonlyArray<string> {
    return this.state.all("venueCalls").map(({ ref }) => ref)
  }

  turn(decide: (turn: Turn) => void): void {
    for (;;) {
      const by = { role: "SYSTEM", keyLabel: "t", requestId: "t", actor: "system:venue" }
      const turn: Turn = {
        now: ++this.now,
        state: this.state,
        facts,
        draft: new CommitBuilder(),
        by,
        nextId: () => ++this.ids
      }
      try {
        decide(turn)
      } catch (error) {
        if (!(error instanceof TurnHeld)) throw error
        Effect.runSync(error.released)
        continue
      }
      if (turn.draft.isEmpty) return
      const commit = turn.draft.build({ subject: "client:1", expected: this.state.token }, null)
      for (const table of ["orders", "fills", "positions", "reconBreaks"] as const) {
        const known = this.stored.get(table) ?? new Map<number, object>()
        for (const row of commit.rows[table] ?? []) known.set(row.id, row)
        this.stored.set(table, known)
      }
      this.state.adopt(commit)
      return
    }
  }

  private get parts() {
    return { directory: parts.directory, recall: this.recall, unsettled: this.unsettled }
  }

  /** Reports the venue's state of the order. */
  said(change: Partial<VenueOrder>): void {
    const fact = { type: "order", account: clients.uid, sequence: this.now, order: this.there(change) } as const
    this.turn((turn) => assert.isTrue(orderHandler(this.parts).reported(turn, { id: this.id, at: this.now, fact })))
  }
  filled(fill: Partial<VenueFill>, change: Partial<VenueOrder> = {}): void {
    const fact = {
      type: "fill",
      account: clients.uid,
      sequence: this.now,
      fill: this.trade(fill),
      order: this.there(change)
    } as const
    this.turn((turn) => assert.isTrue(orderHandler(this.parts).reported(turn, { id: this.id, at: this.now, fact })))
  }
  /** Places another order beside its own. Returns its id. */
  beside(change: Partial<typeof terms>): number {
    let id = 0
    this.turn((turn) => void (id = placeOrder({ turn, of }, clients, { ...terms, ...change }).id))
    return id
  }
  /** Applies the venue's answer to a query of several orders, in as many turns as necessary. */
  wholes(orders: ReadonlyArray<WholeOrder>): void {
    const left: Array<WholeOrder> = []
    this.turn((turn) => void left.splice(0, left.length, ...(onOrderReport(turn, this.parts, orders) ?? [])))
    if (left.length > 0) this.wholes(left)
  }
  /** Applies the venue's answer to a query of the out-of-sync orders. */
  whole(order: Partial<VenueOrder>, fills: ReadonlyArray<Partial<VenueFill>>): void {
    const wasOver = this.unsettled.of(this.order)?.wasOver ?? false
    const found = { order: this.there(order), fills: fills.map((fill) => this.trade(fill)), wasOver, isTimed: wasOver }
    this.turn((turn) => void onOrderReport(turn, this.parts, [{ orderId: this.id, ...found }]))
  }
  ended(ref: string, outcome: DefiniteOutcome["outcome"], order: Partial<VenueOrder> | null, reason = "busy"): void {
    const at = this.now
    const found = order === null ? null : this.there(order)
    const end = { ref, outcome, reason, at, order: found, rfq: null, contract: null, swap: null }
    this.turn((turn) => {
      turn.draft.endCall(ref)
      orderHandler(this.parts).ended(turn, { id: this.id, outcome: end, call: null })
    })
  }
  /** Returns whether the report had an effect. */
  venueDid(fact: Parameters<typeof onVenueTrade>[2], taken = true): void {
    this.turn((turn) =>
      assert.strictEqual(onVenueTrade(turn, this.parts, fact, { at: turn.now, isWhole: true }), taken)
    )
  }
  cancel(): void {
    this.turn((turn) => {
      const row = orderInTurn(turn, this.id)
      if (row !== undefined) cancelOrder({ turn, of }, row, null)
    })
  }

  there(change: Partial<VenueOrder> = {}): VenueOrder {
    return venueOrder(clients.uid, "O-1", { price: "60000", qty: "0.1", tif: "GTC", state: "WORKING", ...change })
  }
  trade(change: Partial<VenueFill> = {}): VenueFill {
    const of_ = { orderId: 900, ref: "O-1", account: clients.uid, symbol: "BTC-USDC-PERP" }
    const figures = { tradeId: 70, side: "BUY", price: "60000", qty: "0.04", liquidity: "MAKER", reason: null } as const
    return { ...of_, ...figures, at: 1, ...change }
  }
}

const assertOrder = (at: Account, state: OrderState, filledQty: string): void =>
  assert.deepStrictEqual([at.order.state, at.order.context.filledQty], [state, filledQty])

const part = { filledQty: "0.04" }
const ended = { filledQty: "0.04", state: "CANCELLED" } as const

describe("D6: while it works", () => {
  it("a trade before the acknowledgement is booked, and the acknowledgement is stale", () => {
    const at = new Account()
    at.filled({}, part)
    assertOrder(at, "PARTIAL", "0.0400")
    at.ended("O-1", "EXECUTED", part)
    assertOrder(at, "PARTIAL", "0.0400")
    assert.deepStrictEqual([at.order.context.venueOrderId, at.trades, at.netQty], [900, [70], "0.0400"])
  })

  it("an order that is further than its trades here infers none: it is queried, and they are booked once", () => {
    const at = new Account()
    at.ended("O-1", "EXECUTED", { filledQty: "0.1", state: "FILLED" })
    assertOrder(at, "ACKED", "0")
    assert.deepInclude(at.unsettled.of(at.order), { filledQty: "0.1", ended: true })
    const trades = [{}, { tradeId: 71, qty: "0.06" }]
    at.whole({ filledQty: "0.1", state: "FILLED" }, trades)
    at.whole({ filledQty: "0.1", state: "FILLED" }, trades)
    at.filled({}, { filledQty: "0.1", state: "FILLED" })
    assertOrder(at, "FILLED", "0.1000")
    assert.deepStrictEqual([at.trades, at.netQty, at.breaks], [[70, 71], "0.1000", 0])
  })

  it("F11: trades of several orders are booked in the order of the venue, in as many commits as they need", () => {
    const at = new Account({ qty: "1" })
    const other = at.beside({ side: "SELL", qty: "1" })
    const named = { ref: `O-${other}`, orderId: 901 }
    const trades = Array.from({ length: 100 }, (_, n) => ({
      tradeId: 70 + n,
      qty: "0.01",
      // Sales lie above the limit, purchases below it.
      price: String(n % 2 === 1 ? 60_000 + n : 60_000 - n)
    }))
    at.wholes([
      {
        orderId: other,
        order: at.there({ id: 901, ref: `O-${other}`, side: "SELL", qty: "1", filledQty: "0.5" }),
        fills: trades.filter((_, n) => n % 2 === 1).map((fill) => at.trade({ ...fill, ...named, side: "SELL" })),
        wasOver: false,
        isTimed: false
      },
      {
        orderId: at.id,
        order: at.there({ qty: "1", filledQty: "0.5" }),
        fills: trades.filter((_, n) => n % 2 === 0).map((fill) => at.trade(fill)),
        wasOver: false,
        isTimed: false
      }
    ])
    assert.deepStrictEqual([at.trades, at.netQty], [trades.map(({ tradeId }) => tradeId), "0.0000"])
  })

  it("trades out of order are all booked; the same one with other figures is a break and not booked", () => {
    const at = new Account()
    at.filled({ tradeId: 72, qty: "0.02" }, { filledQty: "0.06" })
    at.filled({ tradeId: 70 }, { filledQty: "0.06" })
    at.filled({ tradeId: 70 }, { filledQty: "0.06" })
    assert.deepStrictEqual([at.trades.toSorted(), at.netQty, at.breaks], [[70, 72], "0.0600", 0])
    at.filled({ tradeId: 70, price: "59000" }, { filledQty: "0.06" })
    assert.deepStrictEqual([at.trades.toSorted(), at.netQty, at.breaks], [[70, 72], "0.0600", 1])
    assertOrder(at, "PARTIAL", "0.0600")
  })

  it("IOC and FOK remainders end the order, and the venue refuses POST_ONLY", () => {
    const ioc = new Account({ tif: "IOC", venueTif: "IOC" })
    ioc.filled({}, part)
    ioc.ended("O-1", "EXECUTED", ended)
    assertOrder(ioc, "CANCELLED", "0.0400")
    const fok = new Account({ tif: "FOK", venueTif: "FOK" })
    fok.ended("O-1", "EXECUTED", { state: "CANCELLED", reason: "not filled at once" })
    assertOrder(fok, "CANCELLED", "0")
    const crossing = new Account({ tif: "POST_ONLY", venueTif: "POST_ONLY" })
    crossing.ended("O-1", "REFUSED", null, "it would trade at once")
    assertOrder(crossing, "REJECTED", "0")
    assert.strictEqual(crossing.order.context.reject, "it would trade at once")
  })
})

describe("D6: cancels", () => {
  it("a cancel that the last trade overtakes: FILLED, and the cancel's refusal changes nothing", () => {
    const at = new Account()
    at.said({})
    at.cancel()
    assertOrder(at, "PENDING_CANCEL", "0")
    at.filled({ qty: "0.1" }, { filledQty: "0.1", state: "FILLED" })
    at.ended("O-1-c1", "REFUSED", { filledQty: "0.1", state: "FILLED" }, "order has ended")
    assertOrder(at, "FILLED", "0.1000")
    assert.deepStrictEqual([at.trades, at.breaks], [[70], 0])
  })

  it("a cancel while SENT that arrives before the order is sent again once the order has arrived", () => {
    const at = new Account()
    at.cancel()
    assert.sameMembers([...at.calls], ["O-1", "O-1-c1"])
    at.ended("O-1-c1", "REFUSED", null, "unknown order")
    assertOrder(at, "PENDING_CANCEL", "0")
    at.ended("O-1", "EXECUTED", {})
    assert.deepStrictEqual([at.calls, at.order.context.cancels], [["O-1-c2"], 2])
    at.ended("O-1-c2", "EXECUTED", { state: "CANCELLED" })
    assertOrder(at, "CANCELLED", "0")
  })

  it("a cancel that never arrived is sent again; a refused one leaves the order as it was", () => {
    const at = new Account()
    at.said({})
    at.cancel()
    at.ended("O-1-c1", "VOID", null)
    assert.deepStrictEqual([at.order.state, at.calls.includes("O-1-c2")], ["PENDING_CANCEL", true])
    at.ended("O-1-c2", "REFUSED", {}, "busy")
    assertOrder(at, "ACKED", "0")
    assert.deepStrictEqual(at.calls, ["O-1"], "none is sent that nobody asks for")
  })

  const live = [
    ["ACKED", "0", null],
    ["PARTIAL", "0.0400", null],
    ["PENDING_TRIGGER", "0", { source: "MARK", price: "58000.0", direction: "AT_OR_BELOW", limitPrice: null }]
  ] as const
  // The transition table of the golden case: back to the previous live state.
  it.each(live)("MATCH-014: a refused cancel leaves an order %s", (state, filledQty, trigger) => {
    const at = new Account({ trigger })
    const there = { filledQty, state: trigger === null ? "WORKING" : "WAITING" } as const
    if (state === "PARTIAL") at.filled({}, there)
    else at.said(there)
    assertOrder(at, state, filledQty)
    at.cancel()
    assertOrder(at, "PENDING_CANCEL", filledQty)
    at.ended("O-1-c1", "REFUSED", there, "busy")
    assertOrder(at, state, filledQty)
  })

  it("an order that never arrived is cancelled if a cancel was requested, else refused", () => {
    const cancelled = new Account()
    cancelled.cancel()
    cancelled.ended("O-1", "VOID", null)
    assertOrder(cancelled, "CANCELLED", "0")
    assert.strictEqual(cancelled.order.context.note, "not found at the venue")
    const sent = new Account()
    sent.ended("O-1", "VOID", null)
    assertOrder(sent, "REJECTED", "0")
    assert.strictEqual(sent.order.context.reject, "not found at the venue")
  })
})

describe("D6: after the end", () => {
  it("a late trade of a CANCELLED order is booked with a break, and ends it FILLED when it completes it", () => {
    const at = new Account()
    at.said({ state: "CANCELLED" })
    at.filled({}, ended)
    assertOrder(at, "CANCELLED", "0.0400")
    assert.deepStrictEqual([at.netQty, at.breaks], ["0.0400", 1])
    at.filled({ tradeId: 71, qty: "0.06" }, { filledQty: "0.1", state: "FILLED" })
    assertOrder(at, "FILLED", "0.1000")
    assert.deepStrictEqual([at.trades, at.netQty], [[70, 71], "0.1000"])
  })

  it("a late trade makes a REJECTED order CANCELLED", () => {
    const at = new Account()
    at.ended("O-1", "VOID", null)
    at.filled({}, ended)
    assertOrder(at, "CANCELLED", "0.0400")
    assert.strictEqual(at.breaks, 1)
  })

  it("an order that still works at the venue when it is queried is cancelled there, one cancel at a time, with a break", () => {
    const at = new Account()
    at.ended("O-1", "VOID", null)
    at.said({})
    at.whole({}, [])
    at.whole({}, [])
    assertOrder(at, "REJECTED", "0")
    assert.deepStrictEqual([at.calls, at.breaks], [["O-1-c1"], 1])
  })

  it("a report older than its end, such as the answer to an IOC that its end has overtaken, raises no alarm", () => {
    const at = new Account({ tif: "IOC", venueTif: "IOC" })
    at.said({ state: "CANCELLED", reason: "not filled at once" })
    at.ended("O-1", "EXECUTED", {})
    assert.deepInclude(at.unsettled.of(at.order), { wasOver: true })
    at.whole({ state: "CANCELLED" }, [])
    assertOrder(at, "CANCELLED", "0")
    assert.deepStrictEqual([at.calls, at.breaks], [[], 0])
  })

  it("an order that ended while the venue was queried is queried again before any answer is believed", () => {
    const at = new Account()
    at.said({})
    at.said({ state: "CANCELLED" })
    at.whole({}, [])
    assert.deepStrictEqual([at.calls, at.breaks], [["O-1"], 0])
    assert.deepInclude(at.unsettled.of(at.order), { wasOver: true })
  })
})

describe("A2-97: what the venue does by itself", () => {
  it("a deleveraging is adopted once, without commission, and ends the market's working orders", () => {
    const at = new Account()
    at.filled({}, part)
    const fill = at.trade({ tradeId: 80, orderId: 950, ref: null, side: "SELL", reason: "deleverage" })
    const order = at.there({ id: 950, ref: null, side: "SELL", qty: "0.04", filledQty: "0.04", state: "FILLED" })
    const fact = { type: "fill", account: clients.uid, sequence: 9, fill, order } as const
    at.venueDid(fact)
    at.venueDid(fact)
    assert.deepStrictEqual([at.netQty, at.trades], ["0.0000", [70, 80]])
    const [, adopted] = at.rows("orders") as ReadonlyArray<typeof at.order>
    assert.deepInclude(adopted?.context, { origin: "CLOSE_OUT", note: "venue:deleverage", filledQty: "0.0400" })
    assert.deepInclude(at.rows("fills")[1], { commission: 0n, closedQty: "0.0400" })
    assertOrder(at, "PENDING_CANCEL", "0.0400")
  })

  it("makes a position smaller, and its order says reduceOnly", () => {
    const at = new Account()
    at.filled({}, part)
    const fill = at.trade({ tradeId: 80, orderId: 950, ref: null, side: "SELL", qty: "0.03", reason: "liquidation" })
    const order = at.there({ id: 950, ref: null, side: "SELL", qty: "0.03", filledQty: "0.03", state: "FILLED" })
    at.venueDid({ type: "fill", account: clients.uid, sequence: 9, fill, order })
    const [, adopted] = at.rows("orders") as ReadonlyArray<typeof at.order>
    assert.deepStrictEqual([at.netQty, adopted?.context.reduceOnly], ["0.0100", true])
  })

  it("an execution by the venue itself on a spot market, or in an unknown market, is set aside", () => {
    const at = new Account()
    at.filled({}, part)
    for (const symbol of ["BTC-USDC", "GONE-USDC-PERP"]) {
      const fill = at.trade({ tradeId: 80, orderId: 950, ref: null, side: "SELL", reason: "deleverage", symbol })
      const order = at.there({
        id: 950,
        ref: null,
        side: "SELL",
        qty: "0.04",
        filledQty: "0.04",
        state: "FILLED",
        symbol
      })
      at.venueDid({ type: "fill", account: clients.uid, sequence: 9, fill, order }, false)
    }
    assert.deepStrictEqual([at.trades, at.rows("orders").length], [[70], 1])
  })

  it("a trade that the venue takes back stays booked, as a break; a trade that is not ours has no effect", () => {
    const at = new Account()
    at.filled({}, part)
    const bust = {
      type: "bust",
      account: clients.uid,
      sequence: 9,
      tradeId: 70,
      orderId: 900,
      reason: "error"
    } as const
    at.venueDid({ ...bust, tradeId: 71 }, false)
    assert.deepStrictEqual([at.trades, at.netQty, at.breaks], [[70], "0.0400", 0])
    at.venueDid(bust)
    assert.deepStrictEqual([at.trades, at.netQty, at.breaks], [[70], "0.0400", 1])
  })
})
