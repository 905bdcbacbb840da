/**
 * D6: an order that has ended here and is reported as working at the venue is queried, also by the next process after a
 * crash within the half second before the query. A2-39: so is an order without anything to reduce whose cancel the
 * venue has refused.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { perpInput } from "../../../src/machines/order/orderSamples.ts"
import type { VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import { orderTimers } from "../../../src/runtime/services/trading/order/statusQueries.ts"
import { cancelReducing, placeOrder } from "../../../src/runtime/services/trading/order/orderDecisions.ts"
import { onOrderReport, orderHandler } from "../../../src/runtime/services/trading/order/orderEvents.ts"
import { outOfSyncOrders } from "../../../src/runtime/services/venue/OutOfSync.ts"
import { Recall } from "../../../src/runtime/services/account/Recall.ts"
import { takeTurn } from "../../support/takeTurn.ts"
import { reportOf, venueOrder } from "../../support/venueOrders.ts"
import { clients, parts, view } from "../rfq/rfqTurns.ts"
import { marketsAt, positionRow } from "./leverageTurns.ts"

const { orderId: _id, clientId: _client, account: _account, createdAt: _at, updatedAt: _up, ...terms } = perpInput
const subject = "client:1"
const by = { role: "SYSTEM", keyLabel: "t", requestId: "t", actor: "system:venue" }
const facts = marketsAt({ "BTC-USDC-PERP": { price: "60000" } })

/** One client with an order in flight; several processes over one store. */
class World {
  readonly store = new MemoryStore()
  unsettled = outOfSyncOrders()
  private state = new SubjectState(subject, { token: null, rows: [] })
  private recall = this.recalling()
  private ids = 0
  now = 1_000

  constructor(change: Partial<typeof terms> = {}) {
    this.turn((turn) => {
      turn.draft.put("partners", { ...view.row, epoch: 1 })
      turn.draft.put("clients", clients)
      placeOrder({ turn, of: instanceOf(clients, view) }, clients, { ...terms, ...change })
    })
  }

  /** The data of the venue's report that the order's row lacks. */
  outOfSync() {
    return this.unsettled.of(this.store.rows("orders")[0] ?? assert.fail("no order"))
  }

  /** A world whose order the venue never received. */
  static void(): World {
    const world = new World()
    world.ended("O-1", "VOID")
    return world
  }

  ended(ref: string, outcome: "VOID" | "REFUSED" | "EXECUTED", change: Partial<VenueOrder> | null = null): void {
    const nothing = { reason: null, at: 1, order: null, rfq: null, contract: null, swap: null } as const
    const order = change === null ? null : venueOrder(clients.uid, "O-1", { id: 900, qty: "0.1", ...change })
    this.turn((turn) => {
      const call = turn.state.get("venueCalls", ref) ?? assert.fail(`${ref} is not in flight`)
      turn.draft.endCall(ref)
      orderHandler(this.parts).ended(turn, { id: 1, call, outcome: { ...nothing, ref, outcome, order } })
    })
  }

  private recalling(): Recall {
    const rows = () => this.store.rows("orders")
    const stored = {
      among: (_: string, ids: ReadonlyArray<number>) => Effect.succeed(rows().filter(({ id }) => ids.includes(id))),
      page: () => Effect.succeed([])
    } as unknown as RowReads["Service"]
    return new Recall(stored)
  }

  private get parts() {
    return { directory: parts.directory, recall: this.recall, unsettled: this.unsettled }
  }

  turn(decide: (turn: Turn) => void): void {
    const { store, state } = this
    const given = () => ({ now: ++this.now, facts, by, nextId: () => ++this.ids })
    takeTurn({ store, state, subject, given }, decide)
  }

  /** Kill -9: all data in memory are lost. */
  restart(): void {
    this.unsettled = outOfSyncOrders()
    this.recall = this.recalling()
    this.state = new SubjectState(subject, this.store.image(subject))
  }

  said(change: Partial<VenueOrder> = {}): void {
    const order = venueOrder(clients.uid, "O-1", { id: 900, qty: "0.1", state: "WORKING", ...change })
    const fact = { type: "order", account: clients.uid, sequence: 1, order } as const
    this.turn((turn) => void orderHandler(this.parts).reported(turn, { id: 1, at: this.now, fact }))
  }

  answered(change: Partial<VenueOrder> = {}): void {
    const [row] = this.store.rows("orders")
    const order = reportOf((row ?? assert.fail("no order")).context, 900, change)
    this.turn(
      (turn) => void onOrderReport(turn, this.parts, [{ orderId: 1, order, fills: [], wasOver: true, isTimed: true }])
    )
  }

  /** Fires all due timers. */
  fire(): number {
    const due = this.store.rows("timers").filter(({ dueAt }) => dueAt <= this.now)
    for (const timer of due) {
      this.turn((turn) => {
        turn.draft.clearFired(timer)
        const [name, id = null] = timer.name.split(":")
        orderTimers(this.parts)[name as "order.ask" | "order.cancel"](turn, timer.dueAt, id)
      })
    }
    return due.length
  }
}

describe("D6: a query that survives the process", () => {
  it("the report that an order works which has ended here, and the crash before its query", () => {
    const world = World.void()
    world.said()
    assert.deepInclude(world.outOfSync(), { wasOver: true })
    world.restart()
    assert.isUndefined(world.outOfSync())
    assert.strictEqual(world.fire(), 0)
    world.now += 5_000
    assert.strictEqual(world.fire(), 1)
    assert.deepInclude(world.outOfSync(), { clientId: 1, orderId: 1, wasOver: true })
    // The next process may be killed too.
    world.restart()
    world.now += 60_000
    assert.strictEqual(world.fire(), 1)
    assert.deepInclude(world.outOfSync(), { wasOver: true })
    world.answered()
    assert.deepStrictEqual(world.store.rows("timers"), [])
    assert.include(
      world.store.rows("venueCalls").map(({ ref }) => ref),
      "O-1-c1"
    )
  })

  it("a report of more fills than are booked is queried as well; an order whose answer has arrived has no timer any more", () => {
    const world = World.void()
    world.said({ state: "CANCELLED", filledQty: "0.04" })
    assert.lengthOf(world.store.rows("timers"), 1)
    // The answer repeats the data that are not booked yet.
    world.answered({ state: "CANCELLED", filledQty: "0.04" })
    assert.lengthOf(world.store.rows("timers"), 1)
    world.answered({ state: "CANCELLED", filledQty: "0" })
    assert.deepStrictEqual(world.store.rows("timers"), [])
  })

  it("a report that is no news about an ended order causes no query", () => {
    const world = World.void()
    world.said({ state: "CANCELLED", filledQty: "0" })
    assert.deepStrictEqual(world.store.rows("timers"), [])
  })
})

describe("A2-39: a refused cancel of an order with nothing left to reduce", () => {
  const working = { state: "WORKING", filledQty: "0" } as const
  const { symbol } = terms

  /** The position was closed while the order was working, and the venue has refused to cancel it. */
  const refused = (): World => {
    const world = new World({ side: "SELL", reduceOnly: true })
    world.said(working)
    world.turn((turn) => cancelReducing({ turn, of: instanceOf(clients, view) }, symbol, 0))
    world.ended("O-1-c1", "REFUSED", working)
    return world
  }
  const pauseOf = ({ store, now }: World): number => (store.rows("timers")[0]?.dueAt ?? assert.fail("no timer")) - now

  it("is sent again at growing intervals, also by the process after a crash, until the order has ended", () => {
    const world = refused()
    for (const [attempt, pause] of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
      assert.strictEqual(world.store.rows("orders")[0]?.state, "ACKED")
      assert.strictEqual(pauseOf(world), pause)
      assert.strictEqual(world.fire(), 0)
      world.restart()
      world.now += pause
      assert.strictEqual(world.fire(), 1)
      world.ended(`O-1-c${attempt + 2}`, "REFUSED", working)
    }
    world.now += 30_000
    assert.strictEqual(world.fire(), 1)
    world.ended("O-1-c9", "EXECUTED", { ...working, state: "CANCELLED" })
    assert.strictEqual(world.store.rows("orders")[0]?.state, "CANCELLED")
    assert.deepStrictEqual(world.store.rows("timers"), [])
  })

  it("is not sent again if the order has something to reduce before or after the refusal", () => {
    const world = refused()
    const hold = (netQty: string) =>
      world.turn((turn) => turn.draft.put("positions", positionRow(1, { symbol, netQty })))
    hold("0.5000")
    world.now += 1_000
    assert.strictEqual(world.fire(), 1)
    assert.deepStrictEqual(
      world.store.rows("venueCalls").map(({ ref }) => ref),
      ["O-1"]
    )
    hold("-0.5000")
    world.turn((turn) => cancelReducing({ turn, of: instanceOf(clients, view) }, symbol, 0))
    hold("0.5000")
    world.ended("O-1-c2", "REFUSED", working)
    assert.deepStrictEqual(world.store.rows("timers"), [])
  })
})
