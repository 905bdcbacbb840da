/**
 * One client and the exchange of the simulated venue. The test controls everything in between: calls, answers and
 * events wait until it delivers them. Turns are the service's own; their commits are stored as the database would store
 * them.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Facts, noFacts } from "../../../src/machines/market/Facts.ts"
import { isWorking } from "../../../src/machines/order/Order.ts"
import { perpInput } from "../../../src/machines/order/orderSamples.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import type { VenueRequest } from "../../../src/machines/venue/venueCalls.ts"
import type { AccountFact } from "../../../src/machines/venue/VenueEvent.ts"
import { ownerOfRef } from "../../../src/machines/venue/venueRefs.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { TurnHeld } from "../../../src/runtime/engine/mailbox/TurnHeld.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import {
  cancelOrder,
  type OrderToPlace,
  placeOrder
} from "../../../src/runtime/services/trading/order/orderDecisions.ts"
import { orderHandler } from "../../../src/runtime/services/trading/order/orderEvents.ts"
import { outOfSyncOrders } from "../../../src/runtime/services/venue/OutOfSync.ts"
import {
  armAttachment,
  endAttempts,
  protectInTurn,
  protectionTimers
} from "../../../src/runtime/services/trading/order/protection.ts"
import { Recall } from "../../../src/runtime/services/account/Recall.ts"
import type { DefiniteOutcome } from "../../../src/runtime/services/venue/VenueHandler.ts"
import type { TableName, Tables } from "../../../src/runtime/tables/Catalogue.ts"
import type { AttachmentRow, OrderRow } from "../../../src/runtime/tables/order.ts"
import { Exchange } from "../../../simulator/venue/core/Exchange.ts"
import { type Market, unitsOf } from "../../../simulator/venue/core/Market.ts"
import type { Order } from "../../../simulator/venue/core/Order.ts"
import { wireFill, wireOrder } from "../../../simulator/venue/core/wire.ts"
import { sampleRows } from "../engine/fixtures.ts"
import { clients, parts, view } from "../rfq/rfqTurns.ts"

/** Ticks and lots are whole numbers, so that a price equals its number of ticks. */
const market: Market = {
  symbol: "BTC-USDC-PERP",
  family: "PERP",
  base: "BTC",
  assetClass: "crypto",
  displayName: "Bitcoin perpetual",
  tickDecimals: 0,
  lotDecimals: 0,
  minQty: 1,
  maxQty: 1_000_000,
  minNotional: 0n,
  bandBps: 9_000
}
const { symbol } = market
/**
 * Without leverage a reduce-only order may trade up to half of the mark away from it, so that a distant book lies within the
 * bound.
 */
const plain = { crypto: 1, index: 1, metal: 1, energy: 1, fx: 1 }
const unknown: Facts = { ...noFacts, terms: { ...noFacts.terms, leverage: { retail: plain, professional: 1 } } }
const client = 1
const house = 2
const by = { role: "TRADE", keyLabel: "t", requestId: "t", actor: "partner:ACM" }

const {
  orderId: _id,
  clientId: _client,
  account: _account,
  createdAt: _created,
  updatedAt: _updated,
  ...terms
} = perpInput
const sent: OrderToPlace = { ...terms, symbol, priceDecimals: 0, qtyDecimals: 0 }

export type OrderWish = Partial<OrderToPlace> & { readonly qty: string }

export class ProtectedWorld {
  readonly exchange: Exchange
  readonly calls: Array<Tables["venueCalls"]> = []
  readonly answers: Array<DefiniteOutcome> = []
  readonly events: Array<AccountFact> = []
  /** All events published so far. */
  readonly told: Array<AccountFact> = []
  /** The client has enough money for every loss, so that no close-out begins. */
  private readonly state = new SubjectState("client:1", {
    token: 1,
    rows: [
      { table: "clients", row: clients },
      { table: "balances", row: { ...sampleRows(1).balances, currency: "USDC", cash: 1_000_000_000_000n } }
    ]
  })
  /** The durable timers of refused legs: due time by name. */
  private readonly attempts = new Map<string, number>()
  private readonly stored = new Map<TableName, Map<number, object>>()
  private readonly recall: Recall
  private readonly handler: ReturnType<typeof orderHandler>
  /** Called after each step of the venue's account. */
  private readonly watch: () => void
  private facts: Facts = unknown
  private refusing = false
  private now = 1_000
  private ids = 0
  private refs = 0

  constructor(watch: () => void = () => {}) {
    this.watch = watch
    this.exchange = new Exchange([market], (event) => {
      const order = wireOrder(market, clients.uid, event.order)
      if (event.order.accountId !== client) return
      const common = { account: clients.uid, sequence: ++this.now, order }
      const fact: AccountFact =
        event.kind === "order"
          ? { type: "order", ...common }
          : {
              type: "fill",
              ...common,
              fill: wireFill(market, clients.uid, event.order.ref, event.fill, this.now)
            }
      this.events.push(fact)
      this.told.push(fact)
    })
    this.exchange.open(client, clients.uid)
    this.exchange.open(house, "house")
    const rows = (table: TableName) => [...(this.stored.get(table)?.values() ?? [])]
    const reads = {
      among: (table: TableName, ids: ReadonlyArray<number>) =>
        Effect.succeed(ids.flatMap((id) => this.stored.get(table)?.get(id) ?? [])),
      page: (table: TableName, conditions: ReadonlyArray<{ readonly column: string; readonly value: unknown }>) =>
        Effect.succeed(
          rows(table).filter((row) =>
            conditions.every(
              ({ column, value }) =>
                (row as Readonly<Record<string, unknown>>)[
                  column.replaceAll(/_[a-z]/g, (two) => two.charAt(1).toUpperCase())
                ] === value
            )
          )
        )
    } as unknown as RowReads["Service"]
    this.recall = new Recall(reads)
    this.handler = orderHandler({ directory: parts.directory, recall: this.recall, unsettled: outOfSyncOrders() })
  }

  /** One turn with its commit: its decision, and the resulting steps of the client's protection. */
  turn(decide: (turn: Turn) => void): void {
    for (let tries = 0; tries < 50; tries++) {
      const { state, facts } = this
      const turn: Turn = { now: this.now, state, facts, draft: new CommitBuilder(), by, nextId: () => ++this.ids }
      try {
        decide(turn)
        protectInTurn({ turn, of: instanceOf(clients, view), recall: this.recall })
      } catch (error) {
        if (!(error instanceof TurnHeld)) throw error
        Effect.runSync(error.released)
        continue
      }
      return this.commit(turn)
    }
    assert.fail("the turn is held for ever")
  }

  private commit({ draft }: Turn): void {
    if (draft.isEmpty) return
    this.now++
    const commit = draft.build({ subject: "client:1", expected: this.state.token }, null)
    for (const table of ["orders", "attachments", "fills", "positions"] as const) {
      for (const row of commit.rows[table] ?? []) {
        const known = this.stored.get(table) ?? new Map<number, object>()
        this.stored.set(table, known.set(row.id, row))
      }
    }
    this.calls.push(...(commit.rows.venueCalls ?? []))
    for (const { name, dueAt } of commit.rows.timers ?? []) {
      if (name.startsWith("order.protect:")) this.attempts.set(name, dueAt)
    }
    this.state.adopt(commit)
  }

  /** Runs the protection once more, which must do nothing. */
  assertAtRest(): void {
    const { state, facts, now } = this
    const turn: Turn = { now, state, facts, draft: new CommitBuilder(), by, nextId: () => ++this.ids }
    try {
      protectInTurn({ turn, of: instanceOf(clients, view), recall: this.recall })
    } catch (error) {
      if (!(error instanceof TurnHeld)) throw error
      Effect.runSync(error.released)
      return this.assertAtRest()
    }
    assert.isTrue(turn.draft.isEmpty, "what is planned already is planned again")
  }

  /** Places an order of the client. Returns its id. */
  order(wish: OrderWish): number {
    let id = 0
    this.turn((turn) => {
      const of = instanceOf(clients, view)
      const limit = wish.price ?? null
      const form = limit === null ? ({ type: "MARKET", venueTif: "IOC" } as const) : ({ type: "LIMIT" } as const)
      const asked: OrderToPlace = { ...sent, ...form, price: limit, venuePrice: limit, ...wish }
      const row = placeOrder({ turn, of }, clients, asked)
      armAttachment(turn, of, row)
      id = row.id
    })
    return id
  }

  /** Cancels one of the client's orders. */
  cancel(id: number): void {
    this.turn((turn) => {
      const of = instanceOf(clients, view)
      const row = this.recall.row(turn, "orders", id)
      if (row === null || row.state === "PENDING_CANCEL") return
      if (isWorking(row)) cancelOrder({ turn, of }, row, null)
      else endAttempts({ turn, of }, row)
    })
  }

  deliverCall(): boolean {
    const call = this.calls.shift()
    if (call === undefined) return false
    this.answers.push(this.execute(call))
    this.watch()
    return true
  }

  deliverAnswer(): boolean {
    const outcome = this.answers.shift()
    if (outcome === undefined) return false
    this.turn((turn) => {
      turn.draft.endCall(outcome.ref)
      this.handler.ended(turn, { id: ownerOfRef(outcome.ref)?.id ?? 0, outcome, call: null })
    })
    return true
  }

  deliverEvent(): boolean {
    const fact = this.events.shift()
    if (fact === undefined) return false
    if (fact.type !== "order" && fact.type !== "fill") return true
    const id = ownerOfRef(fact.order.ref ?? "")?.id ?? 0
    this.turn((turn) => assert.isTrue(this.handler.reported(turn, { id, at: this.now, fact })))
    return true
  }

  /** Delivers everything until nothing more follows. */
  settle(): void {
    for (let steps = 0; this.deliverCall() || this.deliverEvent() || this.deliverAnswer(); steps++) {
      assert.isBelow(steps, 2_000, "it does not come to rest")
    }
  }

  /** Moves the mark, at the venue and here. Fired orders trade with the orders in the book. */
  mark(price: number): void {
    const at = this.now
    this.facts = {
      ...unknown,
      takenAt: at,
      marks: new Map([[symbol, { price: new MoneyDecimal(price), places: 0, at, current: true }]])
    }
    this.exchange.move(symbol, "MARK", price)
    this.watch()
  }

  /** Makes the mark stale here. */
  staleMark(): void {
    this.facts = unknown
  }

  /** The venue refuses the next order of the client. */
  refuseNext(isRefused = true): void {
    this.refusing = isRefused
  }

  /** The pause before a leg's next attempt passes, and its timer fires. Returns the pause, ms; null: no attempt is due. */
  fireTimer(): number | null {
    const [next] = [...this.attempts].toSorted(([, one], [, other]) => one - other)
    if (next === undefined) return null
    const [name, dueAt] = next
    this.attempts.delete(name)
    const pause = Math.max(dueAt - this.now, 0)
    this.now += pause
    const id = name.slice(name.indexOf(":") + 1)
    this.turn((turn) => protectionTimers["order.protect"](turn, dueAt, id))
    return pause
  }

  /** An order of another account; it rests unless it is IOC. */
  others(side: "BUY" | "SELL", price: number, quantity: number, tif: "GTC" | "IOC" = "GTC"): Order {
    const request = { ref: `house-${++this.refs}`, accountId: house, symbol, side, price, quantity, tif }
    const order = this.exchange.place({ ...request, reduceOnly: false, trigger: null, group: null })
    this.watch()
    return order
  }

  /** The position at the venue in lots, signed. */
  held(): number {
    return this.exchange.accounts.get(client)?.lotsOf(symbol) ?? 0
  }

  /** The client's live orders at the venue. */
  working(): ReadonlyArray<Order> {
    return [...(this.exchange.accounts.get(client)?.orders ?? [])]
  }

  atVenue(id: number): Order | undefined {
    return this.exchange.orders.get(`O-${id}`)
  }

  row(id: number): OrderRow {
    return (this.stored.get("orders")?.get(id) as OrderRow | undefined) ?? assert.fail(`no order ${id}`)
  }

  attachment(id: number): AttachmentRow {
    return (this.stored.get("attachments")?.get(id) as AttachmentRow | undefined) ?? assert.fail(`no attachment ${id}`)
  }

  /** The booked position in lots, signed. */
  booked(): number {
    const [row] = this.stored.get("positions")?.values() ?? []
    return Number((row as Tables["positions"] | undefined)?.netQty ?? 0)
  }

  orders(): ReadonlyArray<OrderRow> {
    return [...(this.stored.get("orders")?.values() ?? [])] as unknown as ReadonlyArray<OrderRow>
  }

  legsOf(parent: number): ReadonlyArray<OrderRow> {
    return this.orders().filter(({ parentOrderId }) => parentOrderId === parent)
  }

  private execute({ ref, call, request }: Tables["venueCalls"]): DefiniteOutcome {
    const [subject, refusal] = this.act(ref, call, request)
    const order = subject === undefined ? null : wireOrder(market, clients.uid, subject)
    const outcome = refusal === null ? "EXECUTED" : "REFUSED"
    return { ref, outcome, reason: refusal, at: this.now, order, rfq: null, contract: null, swap: null }
  }

  private act(ref: string, call: string, request: object): readonly [Order | undefined, string | null] {
    if (call === "placeOrder") {
      const order = this.placed(ref, request as VenueRequest<"placeOrder">)
      return [order, order.state === "REJECTED" ? order.reason : null]
    }
    const { target } = request as VenueRequest<"cancelOrder">
    const order = this.exchange.orders.get(target)
    if (order === undefined) return [undefined, "unknown order"]
    if (call === "cancelOrder") return [order, this.exchange.cancel(order) ? null : "order has ended"]
    return [order, this.exchange.amend(order, lots((request as VenueRequest<"amendOrder">).qty))]
  }

  private placed(ref: string, request: VenueRequest<"placeOrder">): Order {
    const { side, price, boundBps, qty, tif, reduceOnly, trigger, group } = request
    const asked = {
      ref,
      accountId: client,
      symbol,
      side,
      price: price === null ? null : lots(price),
      quantity: lots(qty),
      tif,
      reduceOnly,
      trigger: trigger === null ? null : { ...trigger, price: lots(trigger.price) },
      group
    }
    const isRefused = this.refusing
    this.refusing = false
    return this.exchange.place(boundBps === undefined ? asked : { ...asked, boundBps }, () => isRefused)
  }
}

/** The same conversion for ticks and lots. */
const lots = (text: string): number => unitsOf(text, 0) ?? assert.fail(`${text} is off the grid`)
