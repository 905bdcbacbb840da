/**
 * Each fault of the venue while an order is placed, filled, cancelled and protected, with kill -9 of the service, the
 * database or the venue at each pause point: before the call is sent, after it, before its result is written, before
 * the cursor of the events moves. The end must be that of D6: service and venue have the same orders, trades and
 * positions, each order was executed at most once, only open orders hold money, and a retry under the key returns the
 * created object.
 *
 * By default fifteen cells; EVERY=1 plays all of them (780, two hours or three).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import type { OrderWire } from "../../src/machines/order/OrderWire.ts"
import { callPoints, eventPoints } from "../../src/runtime/engine/PausePoints.ts"
import { type FaultKind, faultKinds } from "../../src/venue/testerTokens.ts"
import { spot } from "../support/orderSteps.ts"
import { perp } from "../support/perpVenue.ts"
import { answeredOnce, type Blow, startCells, type Step, testCells, type Victim } from "./faultCells.ts"
import { makeOrderWorld, type OrderBooks, type OrderWorld } from "./orderWorld.ts"
import type { Trader } from "./tradeWorld.ts"

let world: OrderWorld
let cells: Awaited<ReturnType<typeof startCells>>
let partner: string
beforeAll(async () => {
  world = await makeOrderWorld("order-crash")
  cells = await startCells(world)
  partner = await cells.service().partner("ORDERS")
}, 120_000)
afterAll(() => world.end(), 120_000)

const resting = { symbol: perp, side: "BUY", type: "LIMIT", qty: "0.01", price: "58000" }
const place = (trader: Trader, body: object, key: string) => () =>
  world.post(cells.service(), trader, "/orders", body, { "idempotency-key": key })

/** An order that is placed under the fault. */
const placing = (body: object): Step => ({
  route: "order",
  prepare: async (trader, key) => ({ act: place(trader, body, key), keyed: true })
})

const steps = {
  limit: placing(resting),
  market: placing({ symbol: perp, side: "BUY", type: "MARKET", qty: "0.01" }),
  cancel: {
    route: "cancel",
    prepare: async (trader) => {
      const orderId = await world.placed(cells.service(), trader, resting)
      const path = `/clients/${trader.id}/orders/${orderId}`
      return { act: () => cells.service().call(trader.key, "DELETE", path), keyed: false }
    }
  },
  // The legs are placed once the price has filled the order that they protect.
  leg: {
    route: "order",
    prepare: async (trader) => {
      const attach = { takeProfit: { price: "63000" }, stopLoss: { price: "57000" } }
      await world.placed(cells.service(), trader, { ...resting, price: "59000", attach })
      return { act: async () => (await world.price(cells.service(), "58900"), null), keyed: false }
    }
  },
  // The reserve is computed at a price above the market: the unused rest is released with the fill.
  spot: placing({ symbol: spot, side: "BUY", type: "LIMIT", qty: "0.01", price: "61000" })
} satisfies Record<string, Step>
type StepName = keyof typeof steps
const stepNames = Object.keys(steps) as ReadonlyArray<StepName>

const victims = ["service", "database", "venue"] as const
const points = [...callPoints, ...eventPoints]
/** Faults of the transport. The other faults concern prices, quotes and staking. */
const faults = faultKinds.filter(
  (kind) => !["stale-marks", "quote-withdrawn", "writer-default", "unpriced-funding"].includes(kind)
)
/** Faults under which the venue does not execute the call, so no event of the call moves the cursor. */
const undone: ReadonlyArray<FaultKind> = ["timeout-before", "reset", "http-500", "outage", "reject"]

type Cell = readonly [fault: FaultKind, step: StepName, victim: Victim, point: Blow["point"]]

/** The fill that legs protect has moved the cursor before a leg is placed. */
const applies = ([fault, step, , point]: Cell): boolean =>
  point !== "before-cursor" || step === "leg" || !undone.includes(fault)

const every: ReadonlyArray<Cell> = faults.flatMap((fault) =>
  stepNames.flatMap((step) =>
    victims.flatMap((victim) => points.map((point): Cell => [fault, step, victim, point]).filter(applies))
  )
)
/** Each step with each victim, each point, and each fault: the first fault not played yet that applies. */
const some = (): ReadonlyArray<Cell> => {
  const left = [...faults]
  return Array.from({ length: stepNames.length * victims.length }, (_, n): Cell => {
    const rest = [stepNames[n % stepNames.length], victims[n % victims.length], points[n % points.length]] as const
    const cellOf = (fault: FaultKind) => [fault, ...rest] as unknown as Cell
    const found = left.findIndex((fault) => applies(cellOf(fault)))
    return found === -1 ? cellOf("timeout-after") : cellOf(left.splice(found, 1)[0] as FaultKind)
  })
}

/** The possible ends of each order, by step (D6): executed, or never received. */
const ends: Record<StepName, { readonly done: OrderWire["state"]; readonly not: OrderWire["state"] | null }> = {
  limit: { done: "ACKED", not: "REJECTED" },
  market: { done: "FILLED", not: "REJECTED" },
  cancel: { done: "CANCELLED", not: "ACKED" },
  leg: { done: "FILLED", not: null },
  spot: { done: "FILLED", not: "REJECTED" }
}

/** True if the venue has certainly executed the call when the kill happens. */
const isDone = ([fault, , , point]: Cell): boolean => point !== "before-call" && !undone.includes(fault)

/** Checks that the order of the cell has one of the two ends, and that each leg is working, once, or was refused. */
const ended = (cell: Cell, { orders }: OrderBooks, about: string): void => {
  const { done, not } = ends[cell[1]]
  const [asked, ...others] = orders.filter(({ origin }) => origin === "CLIENT")
  assert.lengthOf(others, 0, about)
  if (asked === undefined) return assert.fail(`the order is lost, ${about}`)
  assert.include([done, isDone(cell) ? done : not], asked.state, `${asked.reject} ${about}`)
  const legs = orders.filter(({ origin }) => origin === "ATTACHED")
  for (const { state, reject } of legs) assert.include(["PENDING_TRIGGER", "REJECTED"], state, `${reject} ${about}`)
  // A refused leg is placed again as a new order.
  assert.strictEqual(new Set(legs.map(({ type }) => type)).size, cell[1] === "leg" ? 2 : 0, about)
  const working = legs.filter(({ state }) => state === "PENDING_TRIGGER").map(({ type }) => type)
  assert.sameMembers([...new Set(working)], working, about)
}

const play = async (cell: Cell): Promise<void> => {
  const [fault, name, victim, point] = cell
  const about = cell.join(" ")
  const step: Step = steps[name]
  const trader = await world.trader(cells.service(), partner, "2000.00")
  const prepared = await step.prepare(trader, `key-${trader.id}`)
  await world.atRest(about)
  await world.heard(about)
  const first = await cells.struck(prepared, { fault, route: step.route, victim, point })
  await world.atRest(about)
  if (prepared.keyed) await answeredOnce(prepared, first, about)
  const agreed = async (): Promise<OrderBooks> => {
    await world.atRest(about)
    const books = await world.books(cells.service(), trader)
    await world.agree(books, trader, about)
    return books
  }
  // Dropped events are read again once the next event shows the gap.
  const books = await vi.waitFor(agreed, { timeout: 60_000, interval: 250 })
  ended(cell, books, about)
  world.heldOnly(books, about)
  assert.deepStrictEqual(await world.query("SELECT id FROM recon_breaks"), [], about)
  await world.verify(cells.service(), about)
}

const cellTime = 180_000

describe("D6: faults of the venue, and kills at every point of an order's call", () => {
  it("the sample has every fault, every point, and every step with every victim", () => {
    const cellsOf = <A>(of: (cell: Cell) => A) => [...new Set(some().map(of))]
    assert.sameMembers(
      cellsOf(([fault]) => fault),
      [...faults]
    )
    assert.sameMembers(
      cellsOf(([, , , point]) => point),
      [...points]
    )
    assert.lengthOf(
      cellsOf(([, step, victim]) => `${step} ${victim}`),
      stepNames.length * victims.length
    )
    assert.isTrue(some().every(applies))
  })

  testCells(() => cells, { every, some: some() }, play, cellTime)
})
