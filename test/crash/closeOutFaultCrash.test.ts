/**
 * Each fault of the venue's transport while an order closes out an account, and while its contract is torn up, with
 * kill -9 of the service, the database or the venue at each pause point: before the call is sent, after it, before its
 * result is written, before the cursor of the events moves. The end must be that of F9 and F10: no open position, no
 * more closed than was held, a cash of exactly zero, each episode ended with at most one write-off, and agreement of
 * the books with the venue.
 *
 * By default eight cells; EVERY=1 plays all of them (some 260, an hour or two).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { callPoints, eventPoints } from "../../src/runtime/engine/PausePoints.ts"
import { type FaultKind, faultKinds } from "../../src/venue/testerTokens.ts"
import { knockOut } from "../support/contractVenue.ts"
import { perp } from "../support/perpVenue.ts"
import { dataOf } from "../support/RealService.ts"
import { closeOutBooks } from "./closeOutBooks.ts"
import { quotesOf } from "./contractWorld.ts"
import { type Blow, startCells, type Step, testCells } from "./faultCells.ts"
import { makeOrderWorld, type OrderWorld } from "./orderWorld.ts"
import type { Trader } from "./tradeWorld.ts"

let world: OrderWorld
let cells: Awaited<ReturnType<typeof startCells>>
let partner: string
beforeAll(async () => {
  world = await makeOrderWorld("close-out-crash")
  cells = await startCells(world)
  partner = await cells.service().partner("CLOSING")
}, 120_000)
afterAll(() => world.end(), 120_000)

const falls = (to: string) => async () => (await world.price(cells.service(), to), null)
const adjust = ({ id }: Trader, amount: string) =>
  cells.service().done("ledger", "adjust", String(id), "--currency", "USDC", "--amount", amount, "--reason", "test")

interface Falling extends Step {
  /** A mark at which the account is closed out, and has lost more than its money. */
  readonly low: string
}

const steps = {
  order: {
    low: "52000",
    route: "order",
    // About 700 of 1,000 remain: less than the loss of 0.1 bought at 60,000.
    prepare: async (trader) => {
      await world.placed(cells.service(), trader, { symbol: perp, side: "BUY", type: "MARKET", qty: "0.1" })
      await adjust(trader, "-300")
      return { act: falls("52000"), keyed: false }
    }
  },
  tearUp: {
    low: "58200",
    route: "accept",
    // A contract with a premium of 190, and about 100 of cash: a margin call, until the contract has lost most of its
    // premium.
    prepare: async (trader) => {
      const { quoted } = quotesOf(world)
      const asked = { symbol: knockOut, side: "BUY", qty: "0.1", barrier: { level: "58000" }, autoAccept: false }
      const { rfqId, quoteId } = await quoted(cells.service(), trader, asked)
      dataOf(await world.post(cells.service(), trader, `/rfq/${rfqId}/accept`, { quoteId }))
      await adjust(trader, "-898")
      return { act: falls("58200"), keyed: false }
    }
  }
} satisfies Record<string, Falling>
type StepName = keyof typeof steps
const stepNames = Object.keys(steps) as ReadonlyArray<StepName>

const victims = ["service", "database", "venue"] as const
const points = [...callPoints, ...eventPoints]
/** Faults of the transport. The other faults concern prices, quotes and staking. */
const faults = faultKinds.filter((kind) => !["stale-marks", "quote-withdrawn", "writer-default"].includes(kind))
/** Faults under which the venue does not execute the call, so no event of the call moves the cursor. */
const undone: ReadonlyArray<FaultKind> = ["timeout-before", "reset", "http-500", "outage", "reject"]

type Cell = readonly [fault: FaultKind, step: StepName, victim: (typeof victims)[number], point: Blow["point"]]

/** A tear-up has no fills, and a call that is not executed has no event. */
const applies = ([fault, step, , point]: Cell): boolean =>
  (point !== "before-cursor" || !undone.includes(fault)) && (step === "order" || fault !== "fill-before-ack")

const every: ReadonlyArray<Cell> = faults.flatMap((fault) =>
  stepNames.flatMap((step) =>
    victims.flatMap((victim) => points.map((point): Cell => [fault, step, victim, point]).filter(applies))
  )
)
/** Each step at each point with each victim, and as many faults as there are cells. */
const some = (): ReadonlyArray<Cell> => {
  const left = [...faults]
  return stepNames.flatMap((step, row) =>
    points.map((point, column): Cell => {
      const rest = [step, victims[(row + column) % victims.length], point] as const
      const cellOf = (fault: FaultKind) => [fault, ...rest] as unknown as Cell
      const found = left.findIndex((fault) => applies(cellOf(fault)))
      return cellOf(found === -1 ? "timeout-after" : (left.splice(found, 1)[0] as FaultKind))
    })
  )
}

const play = async (cell: Cell): Promise<void> => {
  const [fault, name, victim, point] = cell
  const about = cell.join(" ")
  const step: Falling = steps[name]
  const trader = await world.trader(cells.service(), partner, "1000.00")
  const prepared = await step.prepare(trader, `key-${trader.id}`)
  await world.atRest(about)
  await world.heard(about)
  // The part that the fault has kept open is closed now, at a price that is not better.
  await cells.struck(prepared, { fault, route: step.route, victim, point }, step.low)
  await vi.waitFor(() => closeOutBooks(world).closedOut(cells.service(), trader, about), {
    timeout: 90_000,
    interval: 250
  })
  await world.atRest(about)
  await closeOutBooks(world).hold(about)
  const { closeouts } = await cells.service().done("closeout", "list", "--client", String(trader.id))
  assert.isNotEmpty(closeouts, about)
  await vi.waitFor(async () => world.agree(await world.books(cells.service(), trader), trader, about), {
    timeout: 60_000,
    interval: 250
  })
  assert.deepStrictEqual(await world.query("SELECT id FROM recon_breaks"), [], about)
  await world.price(cells.service(), "60000")
  await world.verify(cells.service(), about)
}

const cellTime = 240_000

describe("F9, F10: faults of the venue, and kills at every point of a close-out", () => {
  it("the sample has every point of either step, and every victim", () => {
    const cellsOf = <A>(of: (cell: Cell) => A) => new Set(some().map(of)).size
    assert.strictEqual(
      cellsOf(([, step, , point]) => `${step} ${point}`),
      stepNames.length * points.length
    )
    assert.strictEqual(
      cellsOf(([, , victim]) => victim),
      victims.length
    )
    assert.strictEqual(
      cellsOf(([fault]) => fault),
      some().length
    )
    assert.isTrue(some().every(applies))
  })

  testCells(() => cells, { every, some: some() }, play, cellTime)
})
