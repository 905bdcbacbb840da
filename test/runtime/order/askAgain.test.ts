/**
 * D6: an order that is over here and is said to work at the venue is asked for, also by the process that comes after a crash
 * within the half second before the question.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { perpInput } from "../../../src/machines/order/orderSamples.ts"
import type { VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { instanceOf } from "../../../src/runtime/services/client/clientState.ts"
import { orderTimers } from "../../../src/runtime/services/order/askAgain.ts"
import { placeOrder } from "../../../src/runtime/services/order/orderDecisions.ts"
import { heardWhole, orderHandler } from "../../../src/runtime/services/order/orderHears.ts"
import { unsettledOrders } from "../../../src/runtime/services/order/Unsettled.ts"
import { Recall } from "../../../src/runtime/services/shared/Recall.ts"
import { takeTurn } from "../../support/takeTurn.ts"
import { venueOrder } from "../../support/venueOrders.ts"
import { clients, parts, view } from "../rfq/rfqTurns.ts"
import { marketsAt } from "./leverageTurns.ts"

const { orderId: _id, clientId: _client, account: _account, createdAt: _at, updatedAt: _up, ...terms } = perpInput
const subject = "client:1"
const by = { role: "SYSTEM", keyLabel: "t", requestId: "t", actor: "system:venue" }
const facts = marketsAt({ "BTC-USDC-PERP": { price: "60000" } })

/** One client with an order that the venue has refused; processes over one store. */
class World {
  readonly store = new MemoryStore()
  unsettled = unsettledOrders()
  private state = new SubjectState(subject, { token: null, rows: [] })
  private recall = this.recalling()
  private ids = 0
  now = 1_000

  constructor() {
    this.turn((turn) => {
      turn.draft.put("partners", { ...view.row, epoch: 1 })
      turn.draft.put("clients", clients)
      placeOrder({ turn, of: instanceOf(clients, view) }, clients, terms)
    })
    this.turn((turn) => {
      const outcome = {
        ref: "O-1",
        outcome: "VOID",
        reason: null,
        at: 1,
        order: null,
        rfq: null,
        contract: null,
        swap: null
      }
      orderHandler(this.parts).ended(turn, {
        id: 1,
        call: turn.state.all("venueCalls")[0] as never,
        outcome: outcome as never
      })
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

  /** Kill -9: what only memory knew is gone. */
  restart(): void {
    this.unsettled = unsettledOrders()
    this.recall = this.recalling()
    this.state = new SubjectState(subject, this.store.image(subject))
  }

  said(change: Partial<VenueOrder> = {}): void {
    const order = venueOrder(clients.uid, "O-1", { id: 900, qty: "0.1", state: "WORKING", ...change })
    const fact = { type: "order", account: clients.uid, sequence: 1, order } as const
    this.turn((turn) => void orderHandler(this.parts).said(turn, { id: 1, at: this.now, fact }))
  }

  answered(change: Partial<VenueOrder> = {}): void {
    const order = venueOrder(clients.uid, "O-1", { id: 900, qty: "0.1", state: "WORKING", ...change })
    this.turn(
      (turn) => void heardWhole(turn, this.parts, [{ orderId: 1, order, fills: [], wasOver: true, isTimed: true }])
    )
  }

  /** Whatever is due fires. */
  fire(): number {
    const due = this.store.rows("timers").filter(({ dueAt }) => dueAt <= this.now)
    for (const timer of due) {
      this.turn((turn) => {
        turn.draft.clearFired(timer)
        orderTimers(this.unsettled)["order.ask"](turn, timer.dueAt, timer.name.slice("order.ask:".length))
      })
    }
    return due.length
  }
}

describe("D6: a question that outlives the process", () => {
  it("the word that an order works which is over here, and the crash before it is asked for", () => {
    const world = new World()
    world.said()
    assert.deepInclude(world.unsettled.of(1), { wasOver: true })
    world.restart()
    assert.isUndefined(world.unsettled.of(1))
    assert.strictEqual(world.fire(), 0)
    world.now += 5_000
    assert.strictEqual(world.fire(), 1)
    assert.deepInclude(world.unsettled.of(1), { clientId: 1, orderId: 1, wasOver: true })
    // The next process may die as well.
    world.restart()
    world.now += 60_000
    assert.strictEqual(world.fire(), 1)
    assert.deepInclude(world.unsettled.of(1), { wasOver: true })
    world.answered()
    assert.deepStrictEqual(world.store.rows("timers"), [])
    assert.include(
      world.store.rows("venueCalls").map(({ ref }) => ref),
      "O-1-c1"
    )
  })

  it("that it is filled further than is booked is a question as well; whose answer is heard has no timer any more", () => {
    const world = new World()
    world.said({ state: "CANCELLED", filledQty: "0.04" })
    assert.lengthOf(world.store.rows("timers"), 1)
    // The answer says once more what is not booked yet.
    world.answered({ state: "CANCELLED", filledQty: "0.04" })
    assert.lengthOf(world.store.rows("timers"), 1)
    world.answered({ state: "CANCELLED", filledQty: "0" })
    assert.deepStrictEqual(world.store.rows("timers"), [])
  })

  it("a word that is no news of an order that is over asks nothing", () => {
    const world = new World()
    world.said({ state: "CANCELLED", filledQty: "0" })
    assert.deepStrictEqual(world.store.rows("timers"), [])
  })
})
