/**
 * The protection of orders over random histories against the exchange of the simulated venue, whatever fills, fires, is
 * cancelled or moved, in any order of the reports: legs never exceed or turn the position, a leg at the venue is
 * removed only when another one is there, and in the end all is closed (A2-39, A2-40, A2-41; D7).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { workingStates } from "../../../src/machines/order/Order.ts"
import type { Order } from "../../../simulator/venue/core/Order.ts"
import { ProtectedWorld } from "./ProtectedWorld.ts"

type Side = "BUY" | "SELL"
type Act =
  | { readonly act: "mark"; readonly to: number; readonly stale: boolean }
  | { readonly act: "others"; readonly side: Side; readonly price: number; readonly lots: number }
  | { readonly act: "call" | "answer" | "event" | "settle" | "cancel" | "refuse" | "timer" }
  | { readonly act: "cancelLeg"; readonly nth: number }
  | { readonly act: "byHand"; readonly side: Side; readonly lots: number }

interface Wish {
  readonly side: Side
  readonly lots: number
  /** The quantity that is filled, with its legs at the venue, before the history begins. */
  readonly first: number
  readonly atMarket: boolean
  readonly has: "both" | "takeProfit" | "stopLoss"
  readonly limited: boolean
}

const side = fc.constantFrom<Side>("BUY", "SELL")
const lots = fc.integer({ min: 1, max: 12 })
const moves: ReadonlyArray<fc.WeightedArbitrary<Act>> = [
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant("mark" as const),
      to: fc.integer({ min: 78, max: 122 }),
      stale: fc.boolean()
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("others" as const),
      side,
      price: fc.integer({ min: 96, max: 104 }),
      lots
    })
  },
  {
    weight: 10,
    arbitrary: fc.constantFrom("call", "answer", "event", "event", "settle").map((act) => ({ act }) as Act)
  },
  { weight: 1, arbitrary: fc.constant({ act: "cancel" as const }) }
]
const refusals: ReadonlyArray<fc.WeightedArbitrary<Act>> = [
  { weight: 3, arbitrary: fc.constantFrom("refuse", "timer").map((act) => ({ act }) as Act) }
]
const hands: ReadonlyArray<fc.WeightedArbitrary<Act>> = [
  { weight: 1, arbitrary: fc.record({ act: fc.constant("cancelLeg" as const), nth: fc.nat({ max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("byHand" as const), side, lots }) }
]
const wish = (limited: fc.Arbitrary<boolean>): fc.Arbitrary<Wish> =>
  fc.record({
    side,
    lots,
    first: fc.nat({ max: 12 }),
    atMarket: fc.boolean(),
    has: fc.constantFrom<Wish["has"]>("both", "both", "takeProfit", "stopLoss"),
    limited
  })

/** Watches each group at the venue: once all its legs are there, none may disappear without a reason. */
class Watch {
  private readonly armed = new Set<string>()
  /**
   * Orders whose position was closed for a moment. The service gets the report later, and closes their protection then.
   */
  private readonly excused = new Set<number>()
  /** The number of checks in which legs had to be present. */
  watched = 0
  private readonly asked: ReadonlyMap<number, Wish>
  private readonly orders: () => Iterable<Order>
  private readonly held: () => number

  constructor(asked: ReadonlyMap<number, Wish>, orders: () => Iterable<Order>, held: () => number) {
    this.asked = asked
    this.orders = orders
    this.held = held
  }

  readonly look = (): void => {
    for (const [id, wanted] of this.asked) if (this.hasFilled(id) && this.isBare(wanted)) this.excused.add(id)
    for (const [group, members] of Map.groupBy(this.orders(), (order) => order.group)) {
      const id = Number(group?.split(":")[1])
      const wanted = this.asked.get(id)
      if (group === null || wanted === undefined) continue
      const live = members.filter(({ state }) => state === "WAITING" || state === "WORKING")
      const legs = wanted.has === "both" ? 2 : 1
      if (live.length === legs) this.armed.add(group)
      if (!this.armed.has(group) || this.excused.has(id) || members.some(hasEndedByItself)) continue
      this.watched++
      assert.lengthOf(live, legs, `${group} stands bare`)
    }
  }

  /** The client cancels legs itself; the remaining ones are its choice. */
  excuse(): void {
    for (const id of this.asked.keys()) this.excused.add(id)
  }

  private hasFilled(id: number): boolean {
    for (const { ref, left, quantity } of this.orders()) if (ref === `O-${id}`) return left < quantity
    return false
  }

  /** True if the position on its side is covered by legs that have fired. */
  private isBare(wanted: Wish): boolean {
    const resting = [...this.orders()]
      .filter((order) => order.group !== null && order.left < order.quantity && order.state === "WORKING")
      .filter((order) => order.side !== wanted.side)
      .reduce((total, { left }) => total + left, 0)
    return (wanted.side === "BUY" ? this.held() : -this.held()) <= resting
  }
}

/** True if the order traded, or the venue ended it. */
const hasEndedByItself = ({ left, quantity, state, reason }: Order): boolean =>
  left < quantity || (state !== "WAITING" && state !== "WORKING" && reason !== "cancelled by the account")

class History {
  readonly world: ProtectedWorld
  readonly parents: Array<number> = []
  private readonly asked = new Map<number, Wish>()
  readonly watch: Watch

  constructor(wishes: ReadonlyArray<Wish>) {
    this.watch = new Watch(
      this.asked,
      () => this.world.exchange.orders.values(),
      () => this.world.held()
    )
    this.world = new ProtectedWorld(() => this.watch.look())
    this.world.mark(100)
    // A closing order finds a counterparty far from the mark, within its bound, wherever the mark is.
    this.world.others("BUY", 70, 100_000)
    this.world.others("SELL", 116, 100_000)
    for (const each of wishes) this.place(each)
  }

  private place(each: Wish): void {
    const isBuy = each.side === "BUY"
    const level = (price: number, away: number) => ({
      price: String(price),
      limitPrice: each.limited ? String(price + (isBuy ? -away : away)) : null
    })
    const attach = {
      takeProfit: each.has === "stopLoss" ? null : level(isBuy ? 115 : 85, 1),
      stopLoss: each.has === "takeProfit" ? null : level(isBuy ? 85 : 115, 5)
    }
    const price = each.atMarket ? null : "100"
    const id = this.world.order({ side: each.side, qty: String(each.lots), price, attach })
    this.asked.set(id, each)
    this.parents.push(id)
    if (each.first === 0 || each.atMarket) return
    this.world.settle()
    this.world.others(isBuy ? "SELL" : "BUY", 100, each.first, "IOC")
    this.world.settle()
  }

  play(acts: ReadonlyArray<Act>): void {
    for (const act of acts) {
      this.act(act)
      this.world.assertAtRest()
    }
    this.recover()
    this.check()
  }

  /**
   * From now on the venue refuses nothing. A leg that would trade with other orders of its own account is retried while
   * these exist.
   */
  private recover(): void {
    const { world } = this
    world.refuseNext(false)
    world.settle()
    for (let timers = 0; timers < 20; timers++) {
      if (world.fireTimer() === null) return this.checkAttempts()
      world.settle()
    }
  }

  /** Each attempt has a timer, unless a leg that has fired covers its position. */
  private checkAttempts(): void {
    for (const id of this.parents) {
      const { unplaced, legs } = this.world.attachment(id).context.standing
      if (legs.length === 0) assert.deepStrictEqual(unplaced, [])
    }
  }

  private act(act: Act): void {
    const { world } = this
    switch (act.act) {
      case "mark":
        world.mark(act.to)
        if (act.stale) world.staleMark()
        return
      case "others":
        return void world.others(act.side, act.price, act.lots, "IOC")
      case "call":
        return void world.deliverCall()
      case "answer":
        return void world.deliverAnswer()
      case "event":
        return void world.deliverEvent()
      case "settle":
        world.settle()
        return this.check()
      case "refuse":
        return world.refuseNext()
      case "timer":
        return void world.fireTimer()
      case "cancel":
        return world.cancel(this.parents[0] ?? 0)
      case "cancelLeg":
        this.watch.excuse()
        return world.cancel(this.parents.flatMap((id) => world.legsOf(id))[act.nth]?.id ?? 0)
      case "byHand":
        return void world.order({ side: act.side, qty: String(act.lots) })
    }
  }

  /** All reports are delivered. */
  private check(): void {
    const { world, parents } = this
    assert.strictEqual(world.booked(), world.held())
    for (const order of world.working()) {
      if (order.group === null) continue
      const onSide = order.side === "SELL" ? world.held() : -world.held()
      assert.isAtMost(order.left, onSide, `${order.ref} is more than is held`)
    }
    for (const id of parents) this.checkOne(id)
  }

  private checkOne(id: number): void {
    const { world } = this
    const { state, context, live } = world.attachment(id)
    const { standing } = context
    const works = (workingStates as ReadonlyArray<string>).includes(world.row(id).state)
    const atVenue = standing.legs.map(({ orderId }) => world.atVenue(orderId))
    assert.notStrictEqual(state, "PLACING")
    assert.isNull(standing.again)
    assert.strictEqual(standing.parentWorks, works)
    assert.strictEqual(live, works || standing.legs.length > 0 || standing.unplaced.length > 0)
    for (const leg of atVenue) assert.include(["WAITING", "WORKING"], leg?.state)
    if (state === "CLOSED" || state === "ARMED") assert.lengthOf(standing.legs, 0)
    if (state === "FIRED") assert.isFalse(works)
    if (state === "ACTIVE") assert.isAbove(standing.legs.length + standing.unplaced.length, 0)
  }

  /** Checks that no leg has made a position larger, or turned it. */
  checkTrades(): void {
    let held = 0
    for (const fact of this.world.told) {
      if (fact.type !== "fill") continue
      const signed = Number(fact.fill.qty) * (fact.fill.side === "BUY" ? 1 : -1)
      const after = held + signed
      if (fact.order.group !== null) assert.isTrue(Math.abs(after) < Math.abs(held) && after * held >= 0)
      held = after
    }
    assert.strictEqual(held, this.world.held())
  }

  /** Cancels and sells the rest, so that nothing remains. */
  end(): void {
    const { world, parents } = this
    for (const id of parents) world.cancel(id)
    world.settle()
    const held = world.held()
    if (held !== 0) world.order({ side: held > 0 ? "SELL" : "BUY", qty: String(Math.abs(held)), reduceOnly: true })
    world.settle()
    assert.strictEqual(world.held(), 0)
    this.check()
    for (const id of parents) assert.deepInclude(world.attachment(id), { state: "CLOSED", live: false })
    assert.deepStrictEqual(world.working(), [])
  }
}

describe("random histories of protected orders", () => {
  it("A2-40, A2-41: legs equal the position, never turn it, never leave it unprotected, and all of them end", () => {
    const wishes = fc.array(wish(fc.boolean()), { minLength: 1, maxLength: 2 })
    let watched = 0
    fc.assert(
      fc.property(wishes, fc.array(fc.oneof(...moves, ...refusals, ...hands), { maxLength: 60 }), (wanted, acts) => {
        const history = new History(wanted)
        history.play(acts)
        history.checkTrades()
        history.end()
        history.checkTrades()
        watched += history.watch.watched
      }),
      { numRuns: 150 }
    )
    assert.isAbove(watched, 300)
  })

  it("D7: without a command of the client, all legs protect the quantity that one order bought, or it is sold, whatever the venue refused", () => {
    fc.assert(
      fc.property(
        wish(fc.constant(false)),
        fc.array(fc.oneof(...moves, ...refusals), { maxLength: 60 }),
        (wanted, acts) => {
          const history = new History([wanted])
          history.play(acts)
          const { world, parents } = history
          const [id = 0] = parents
          const held = Math.abs(world.held())
          const { state } = world.attachment(id)
          if (held === 0) assert.notStrictEqual(state, "ACTIVE")
          else {
            assert.strictEqual(state, "ACTIVE")
            const legs = world.working().filter(({ group }) => group !== null)
            assert.deepStrictEqual(
              legs.map(({ left }) => left),
              wanted.has === "both" ? [held, held] : [held]
            )
          }
          history.end()
        }
      ),
      { numRuns: 150 }
    )
  })
})
