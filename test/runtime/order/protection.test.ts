/** The protection of orders in their client's turn, against the exchange of the simulated venue, by rows of D7. */
import { assert, describe, it } from "@effect/vitest"
import { type OrderWish, ProtectedWorld } from "./ProtectedWorld.ts"

const level = (price: string, limitPrice: string | null = null) => ({ price, limitPrice })
const both = { takeProfit: level("120"), stopLoss: level("90") }
const bought: OrderWish = { qty: "10", price: "100", attach: both }

/** A world with a mark at 105, in which this quantity of a purchase of ten at 100 is filled. */
const filled = (lots: number, wish: OrderWish = bought) => {
  const world = new ProtectedWorld()
  world.mark(105)
  world.others("BUY", 70, 1_000)
  world.others("SELL", 200, 1_000)
  const parent = world.order(wish)
  world.settle()
  if (lots > 0) world.others("SELL", 100, lots, "IOC")
  world.settle()
  return { world, parent }
}

const legs = (world: ProtectedWorld, parent: number) =>
  world.legsOf(parent).map(({ state, context: { type, qty, ocoGroup } }) => `${type} ${qty} ${ocoGroup} ${state}`)

describe("the protection of orders", () => {
  it("D7: ARMED until the first fill, then both legs in one group on the mark, reduce-only", () => {
    const { world, parent } = filled(0)
    assert.strictEqual(world.attachment(parent).state, "ARMED")
    world.others("SELL", 100, 4, "IOC")
    world.deliverEvent()
    assert.strictEqual(world.attachment(parent).state, "PLACING")
    world.settle()
    assert.strictEqual(world.attachment(parent).state, "ACTIVE")
    assert.deepStrictEqual(legs(world, parent), [
      `TAKE_PROFIT_MARKET 4 att:${parent} PENDING_TRIGGER`,
      `STOP_MARKET 4 att:${parent} PENDING_TRIGGER`
    ])
    const [first] = world.legsOf(parent)
    assert.deepInclude(first?.context, { side: "SELL", reduceOnly: true, origin: "ATTACHED", reserved: null })
    assert.deepInclude(first?.context.trigger, { source: "MARK", direction: "AT_OR_ABOVE", price: "120" })
    assert.deepStrictEqual(
      world.row(parent).context.legs,
      world.legsOf(parent).map(({ id }) => id)
    )
  })

  it("A2-40: further fills amend the legs, with one change in flight each, and the later changes are combined into the next", () => {
    const { world, parent } = filled(4)
    for (const lots of [1, 2, 1]) {
      world.others("SELL", 100, lots, "IOC")
      while (world.deliverEvent());
    }
    // The first amendment is in flight; later fills wait for its answer.
    assert.deepStrictEqual(
      world.calls.map(({ request }) => request),
      world.legsOf(parent).map(({ id }) => ({
        ref: `O-${id}-q1`,
        account: world.row(parent).context.account,
        target: `O-${id}`,
        qty: "5"
      }))
    )
    world.settle()
    assert.deepStrictEqual(
      world.legsOf(parent).map(({ context: { qty, amends } }) => [qty, amends]),
      [
        ["8", 2],
        ["8", 2]
      ]
    )
  })

  it("A2-40: a leg is as large as the position on the parent's side, and there is none without a position", () => {
    const world = new ProtectedWorld()
    world.mark(105)
    world.others("BUY", 104, 6)
    world.order({ qty: "6", side: "SELL" })
    world.settle()
    const parent = world.order(bought)
    world.settle()
    world.others("SELL", 100, 6, "IOC")
    world.settle()
    assert.strictEqual(world.held(), 0)
    assert.deepStrictEqual(legs(world, parent), [])
    assert.strictEqual(world.attachment(parent).state, "ARMED")
    world.others("SELL", 100, 3, "IOC")
    world.settle()
    assert.deepStrictEqual(
      world.legsOf(parent).map(({ context }) => context.qty),
      ["3", "3"]
    )
  })

  it("A2-40: a manual sale makes the legs smaller", () => {
    const { world, parent } = filled(10)
    world.order({ qty: "7", side: "SELL", reduceOnly: true })
    world.settle()
    assert.deepStrictEqual(
      world.legsOf(parent).map(({ context }) => context.qty),
      ["3", "3"]
    )
  })

  it("A2-41: a leg that triggers while its parent works cancels the other leg and the parent's rest", () => {
    const { world, parent } = filled(4)
    world.others("BUY", 121, 100)
    world.mark(121)
    world.settle()
    assert.strictEqual(world.held(), 0)
    assert.deepInclude(world.row(parent), { state: "CANCELLED" })
    assert.strictEqual(world.row(parent).context.note, "its protection fired")
    assert.deepStrictEqual(
      world.legsOf(parent).map(({ state }) => state),
      ["FILLED", "CANCELLED"]
    )
    assert.deepInclude(world.attachment(parent), { state: "CLOSED", live: false })
  })

  it("D7: a stop that meets its own parent's order is sent again at MARKET once that order has left the book", () => {
    const { world, parent } = filled(4)
    world.mark(89)
    world.deliverEvent()
    const stop = world.legsOf(parent)[1] ?? assert.fail("no stop")
    while (world.deliverEvent());
    assert.deepInclude(world.row(stop.id), { state: "CANCELLED" })
    assert.strictEqual(world.row(stop.id).context.note, "self-trade")
    assert.strictEqual(world.held(), 4)
    assert.strictEqual(world.attachment(parent).state, "FIRED")
    assert.lengthOf(world.legsOf(parent), 2)
    world.settle()
    assert.strictEqual(world.row(parent).state, "CANCELLED")
    const [, , again] = world.legsOf(parent)
    assert.deepInclude(again?.context, { type: "MARKET", qty: "4", filledQty: "4", reduceOnly: true })
    assert.strictEqual(world.held(), 0)
    assert.deepInclude(world.attachment(parent), { state: "CLOSED", live: false })
    assert.deepStrictEqual(world.working(), [])
  })

  it("D7: a level that is already passed at the first fill is sent at MARKET, and again past its own parent", () => {
    const { world, parent } = filled(0)
    world.mark(88)
    world.others("SELL", 100, 4, "IOC")
    while (world.deliverEvent());
    assert.deepStrictEqual(legs(world, parent), [`MARKET 4 att:${parent} SENT`])
    assert.strictEqual(world.row(parent).state, "PENDING_CANCEL")
    world.settle()
    assert.deepStrictEqual(legs(world, parent), [`MARKET 4 att:${parent} CANCELLED`, `MARKET 4 att:${parent} FILLED`])
    assert.strictEqual(world.held(), 0)
    assert.strictEqual(world.row(parent).state, "CANCELLED")
    assert.deepInclude(world.attachment(parent), { state: "CLOSED", live: false })
  })

  it("A2-40: a leg whose level is passed according to the venue is sent again at MARKET", () => {
    const { world, parent } = filled(0, { ...bought, qty: "4" })
    world.others("SELL", 100, 4, "IOC")
    world.mark(88)
    world.staleMark()
    world.settle()
    assert.strictEqual(world.held(), 0)
    assert.deepStrictEqual(
      world.legsOf(parent).map(({ state, context: { type, reject } }) => [type, state, reject]),
      [
        ["TAKE_PROFIT_MARKET", "CANCELLED", null],
        ["STOP_MARKET", "REJECTED", "would trigger at once"],
        ["MARKET", "FILLED", null]
      ]
    )
  })

  it("D7: no legs for a parent that ends unfilled", () => {
    const { world, parent } = filled(0)
    world.cancel(parent)
    world.settle()
    assert.deepStrictEqual(world.legsOf(parent), [])
    assert.deepInclude(world.attachment(parent), { state: "CLOSED", live: false })
    const refused = world.order({ ...bought, price: "1" })
    world.settle()
    assert.strictEqual(world.row(refused).state, "REJECTED")
    assert.deepInclude(world.attachment(refused), { state: "CLOSED", live: false })
  })

  /** Both legs are in flight, and the venue has refused the take profit. */
  const refusedProfit = () => {
    const { world, parent } = filled(0)
    world.others("SELL", 100, 10, "IOC")
    world.deliverEvent()
    world.refuseNext()
    world.settle()
    return { world, parent }
  }
  const states = (world: ProtectedWorld, parent: number) => world.legsOf(parent).map(({ state }) => state)
  const idsOf = (world: ProtectedWorld, parent: number) => world.legsOf(parent).map(({ id }) => id)

  it("D7: a leg that the venue refuses is placed again unchanged, at growing intervals; the parent shows it", () => {
    const { world, parent } = refusedProfit()
    assert.deepStrictEqual(states(world, parent), ["REJECTED", "PENDING_TRIGGER"])
    const [first = 0, stop = 0] = idsOf(world, parent)
    assert.deepInclude(world.row(parent).context, {
      note: "take profit not placed, attempt 1: rejected by the venue; it is placed again",
      legs: [first, stop]
    })
    assert.deepInclude(world.attachment(parent), { state: "ACTIVE", live: true })
    assert.isNotNull(world.attachment(parent).unplacedSince)
    const pauses = [2, 3, 4].map(() => {
      world.refuseNext()
      const pause = world.fireTimer() ?? assert.fail("no attempt is due")
      world.settle()
      return Math.round(pause / 1_000)
    })
    assert.deepStrictEqual(pauses, [1, 2, 4])
    world.fireTimer()
    world.settle()
    const last = world.legsOf(parent).at(-1) ?? assert.fail("no leg")
    const { qty, trigger, type, ocoGroup } = world.legsOf(parent)[0]?.context ?? assert.fail("no leg")
    assert.deepInclude(last.context, { qty, trigger, type, ocoGroup, note: "attempt 5" })
    assert.deepStrictEqual(states(world, parent).slice(1), [
      "PENDING_TRIGGER",
      "REJECTED",
      "REJECTED",
      "REJECTED",
      last.state
    ])
    assert.strictEqual(last.state, "PENDING_TRIGGER")
    assert.deepInclude(world.row(parent).context, { note: "take profit placed", legs: [stop, last.id] })
    assert.deepInclude(world.attachment(parent), { state: "ACTIVE", unplacedSince: null })
  })

  it("D7: a refused leg is not placed again once its position is closed", () => {
    const { world, parent } = refusedProfit()
    world.order({ qty: "10", side: "SELL", reduceOnly: true })
    world.settle()
    world.fireTimer()
    world.settle()
    assert.deepStrictEqual(states(world, parent), ["REJECTED", "CANCELLED"])
    assert.strictEqual(world.row(parent).context.note, "take profit not placed: not needed any more")
    assert.deepInclude(world.attachment(parent), { state: "CLOSED", live: false, unplacedSince: null })
  })

  it("D7: the client's cancel of the refused order ends the attempts", () => {
    const { world, parent } = refusedProfit()
    const [refused = 0, stop = 0] = idsOf(world, parent)
    world.cancel(refused)
    world.cancel(refused)
    assert.isNull(world.attachment(parent).unplacedSince)
    world.fireTimer()
    world.settle()
    assert.deepStrictEqual(states(world, parent), ["REJECTED", "PENDING_TRIGGER"])
    assert.strictEqual(world.attachment(parent).state, "ACTIVE")
    world.cancel(stop)
    world.settle()
    assert.deepInclude(world.attachment(parent), { state: "CLOSED", live: false })
  })

  it("D7: a cancel of an older refused order also cancels the attempt in flight", () => {
    const { world, parent } = refusedProfit()
    world.refuseNext()
    world.fireTimer()
    world.cancel(idsOf(world, parent)[0] ?? 0)
    world.settle()
    assert.isNull(world.fireTimer())
    assert.notInclude(states(world, parent).slice(2), "PENDING_TRIGGER")
    assert.deepInclude(world.attachment(parent), { state: "ACTIVE", unplacedSince: null })
  })

  it("D7: the attempts for one leg go on after those for the other have ended", () => {
    const { world, parent } = filled(0)
    world.others("SELL", 100, 10, "IOC")
    world.deliverEvent()
    for (let legs = 0; legs < 2; legs++) {
      world.refuseNext()
      world.deliverCall()
    }
    world.settle()
    assert.deepStrictEqual(states(world, parent), ["REJECTED", "REJECTED"])
    world.cancel(idsOf(world, parent)[0] ?? 0)
    while (world.fireTimer() !== null) world.settle()
    assert.deepStrictEqual(states(world, parent), ["REJECTED", "REJECTED", "PENDING_TRIGGER"])
  })

  it("D7: a stop without a counterparty at the market is sent there again after a pause", () => {
    const world = new ProtectedWorld()
    world.mark(100)
    world.others("SELL", 100, 4)
    const parent = world.order({ qty: "4", price: "100", attach: { takeProfit: null, stopLoss: level("90") } })
    world.settle()
    world.mark(89)
    world.settle()
    assert.deepInclude(world.attachment(parent), { state: "FIRED", live: true })
    world.fireTimer()
    world.settle()
    assert.strictEqual(world.held(), 4)
    world.others("BUY", 88, 4)
    world.fireTimer()
    world.settle()
    assert.strictEqual(world.held(), 0)
    assert.deepInclude(world.attachment(parent), { state: "CLOSED", live: false, unplacedSince: null })
  })

  it("A2-41: a manual cancel of one leg leaves the other; cancels of both close the protection, and a further fill is protected again", () => {
    const { world, parent } = filled(4)
    const [profit, stop] = world.legsOf(parent)
    world.cancel(profit?.id ?? 0)
    world.settle()
    assert.strictEqual(world.attachment(parent).state, "ACTIVE")
    world.cancel(stop?.id ?? 0)
    world.settle()
    assert.deepInclude(world.attachment(parent), { state: "CLOSED", live: true })
    world.others("SELL", 100, 3, "IOC")
    world.settle()
    assert.strictEqual(world.attachment(parent).state, "ACTIVE")
    assert.deepStrictEqual(legs(world, parent).slice(2), [
      `TAKE_PROFIT_MARKET 3 att:${parent}:2 PENDING_TRIGGER`,
      `STOP_MARKET 3 att:${parent}:2 PENDING_TRIGGER`
    ])
  })

  it("A2-39: a position that is closed or turned by hand ends its legs", () => {
    const { world, parent } = filled(10)
    world.order({ qty: "15", side: "SELL" })
    world.settle()
    assert.strictEqual(world.held(), -5)
    assert.deepInclude(world.attachment(parent), { state: "CLOSED", live: false })
    assert.deepStrictEqual(world.working(), [])
  })

  it("D7: fills of the parent during its cancel, after a leg has triggered, are sold too", () => {
    const { world, parent } = filled(4)
    world.others("BUY", 121, 4)
    world.mark(121)
    while (world.deliverEvent());
    // The parent's cancel is in flight when it fills.
    world.others("SELL", 100, 6, "IOC")
    world.settle()
    assert.strictEqual(world.row(parent).state, "FILLED")
    assert.strictEqual(world.held(), 0)
    assert.deepInclude(world.attachment(parent), { state: "CLOSED", live: false })
  })

  it("D6: fills of the parent after it seemed to have ended are protected as well", () => {
    const { world, parent } = filled(0)
    world.cancel(parent)
    world.deliverCall()
    const [late] = world.events.splice(0)
    assert.strictEqual(late?.type, "order")
    world.deliverAnswer()
    assert.deepInclude(world.attachment(parent), { state: "CLOSED", live: false })
    const order = world.atVenue(parent) ?? assert.fail("no order")
    // The venue executed it anyway: the test reports this directly, because the exchange itself would not.
    world.exchange.execute(world.exchange.listings.get("BTC-USDC-PERP") ?? assert.fail("no market"), {
      accountId: 1,
      against: 2,
      side: "BUY",
      price: 100,
      quantity: 10,
      reason: "deleverage"
    })
    const [told] = world.events.splice(0)
    if (told?.type !== "fill") return assert.fail("no trade")
    const done = { ...told.order, id: order.id, ref: `O-${parent}`, filledQty: "10", state: "CANCELLED" as const }
    world.events.push({ ...told, fill: { ...told.fill, reason: null, ref: `O-${parent}` }, order: done })
    world.settle()
    assert.strictEqual(world.row(parent).context.filledQty, "10")
    assert.strictEqual(world.attachment(parent).state, "ACTIVE")
    assert.lengthOf(world.working(), 2)
  })
})
