/**
 * Each fault of the venue's feed and calls while funding stamps pass: one, three in one jump of the clock, and one with
 * an order in flight; with kill -9 of the service, the database or the venue at each pause point. The end must be that
 * of F14: one posting per client, market and stamp with the amount of the venue's own books, its settlement item, and
 * for a trade that is found late only the posting of its difference.
 *
 * By default twelve cells; EVERY=1 plays all of them (some 400, two hours).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { callPoints, eventPoints, type PausePoint } from "../../src/runtime/engine/PausePoints.ts"
import { type FaultKind, faultKinds } from "../../src/venue/testerTokens.ts"
import { stampEvery } from "../support/fundingVenue.ts"
import { perp } from "../support/perpVenue.ts"
import { startCells, type Step, testCells } from "./faultCells.ts"
import { fundingBooks } from "./fundingBooks.ts"
import { makeOrderWorld, type OrderWorld } from "./orderWorld.ts"
import type { Trader } from "./tradeWorld.ts"

let world: OrderWorld
let cells: Awaited<ReturnType<typeof startCells>>
let partner: string
/** The trader that holds a position from the first cell to the last, so that each stamp has a posting. */
let keeper: Trader
beforeAll(async () => {
  world = await makeOrderWorld("funding-crash")
  cells = await startCells(world)
  partner = await cells.service().partner("FUNDED")
  keeper = await holder("SELL")
}, 120_000)
afterAll(() => world.end(), 120_000)

const market = (side: "BUY" | "SELL") => ({ symbol: perp, side, type: "MARKET", qty: "0.05" })

const holder = async (side: "BUY" | "SELL"): Promise<Trader> => {
  const trader = await world.trader(cells.service(), partner, "5000.00")
  await world.placed(cells.service(), trader, market(side))
  return trader
}

const nextStamp = (now: number): number => (Math.floor(now / stampEvery) + 1) * stampEvery
const venueNow = async (): Promise<number> => (await world.venue.client().show()).at
/** Business time, ms, until a moment after the stamp that is this number of stamps ahead. */
const until = async (stamps: number): Promise<number> => {
  const now = await venueNow()
  return nextStamp(now) + (stamps - 1) * stampEvery + 1_000 - now
}
const advance = async (millis: number): Promise<void> =>
  void (await cells.service().done("sim", "clock", "advance", `${Math.ceil(millis / 1_000)}s`))

const passing = (stamps: number): Step => ({
  route: "events",
  prepare: async () => ({ act: async () => (await advance(await until(stamps)), null), keyed: false })
})

const steps = {
  stamp: passing(1),
  threeStamps: passing(3),
  // Only the venue's clock jumps, so that the stamp passes while the service is frozen. The service's clock follows
  // later.
  trade: {
    route: "order",
    prepare: async (trader) => {
      const act = async () => {
        const to = (await venueNow()) + (await until(1))
        const [answer] = await Promise.all([
          world.post(cells.service(), trader, "/orders", market("BUY")),
          world.venue.client().command({ type: "advance", to })
        ])
        return answer
      }
      return { act, keyed: false }
    }
  }
} satisfies Record<string, Step>
type StepName = keyof typeof steps
const stepNames = Object.keys(steps) as ReadonlyArray<StepName>

const victims = ["service", "database", "venue"] as const
/** A stamp is no call, so it passes only the points of its commit and of the cursor. */
const stampPoints = ["after-decide", "before-commit", "after-commit", ...eventPoints] as const
const pointsOf = (step: StepName): ReadonlyArray<PausePoint> =>
  step === "trade" ? [...callPoints, ...eventPoints] : stampPoints

/** Faults that funding can't meet: of prices, quotes and staking. */
const faults = faultKinds.filter((kind) => !["stale-marks", "quote-withdrawn", "writer-default"].includes(kind))
/** Faults of calls only, and one of stamps only. */
const ofCalls: ReadonlyArray<FaultKind> = ["reject", "visibility-lag", "fill-before-ack"]
/** Faults under which no event arrives, so that none moves the cursor. */
const mute: ReadonlyArray<FaultKind> = ["timeout-before", "reset", "http-500", "outage", "silent", "broken-json"]

type Cell = readonly [fault: FaultKind, step: StepName, victim: (typeof victims)[number], point: PausePoint]

const applies = ([fault, step, , point]: Cell): boolean =>
  (point !== "before-cursor" || (!mute.includes(fault) && fault !== "reject")) &&
  (step === "trade" ? fault !== "unpriced-funding" : !ofCalls.includes(fault))

const every: ReadonlyArray<Cell> = faults.flatMap((fault) =>
  stepNames.flatMap((step) =>
    victims.flatMap((victim) =>
      pointsOf(step)
        .map((point): Cell => [fault, step, victim, point])
        .filter(applies)
    )
  )
)
/** Each step at each of its points, each victim with each step, and as many faults as there are cells. */
const some = (): ReadonlyArray<Cell> => {
  const left = [...faults]
  return stepNames.flatMap((step, row) =>
    pointsOf(step).map((point, column): Cell => {
      const rest = [step, victims[(row + column) % victims.length], point] as const
      const cellOf = (fault: FaultKind) => [fault, ...rest] as unknown as Cell
      const found = left.findIndex((fault) => applies(cellOf(fault)))
      return cellOf(found === -1 ? "slow" : (left.splice(found, 1)[0] as FaultKind))
    })
  )
}

const eventually = (check: () => Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 90_000, interval: 2_000 })

const play = async (cell: Cell): Promise<void> => {
  const [fault, name, victim, point] = cell
  const about = cell.join(" ")
  const step: Step = steps[name]
  await cells.service().done("sim", "venue", "funding", perp, "0.0003")
  const trader = await holder("BUY")
  const prepared = await step.prepare(trader, `key-${trader.id}`)
  await world.atRest(about)
  await world.heard(about)
  const stamp = nextStamp(await venueNow()) + (name === "threeStamps" ? 2 * stampEvery : 0)
  await cells.struck(prepared, { fault, route: step.route, victim, point })
  // The kill may have come before the jump.
  await eventually(async () => {
    const now = await venueNow()
    if (now < stamp) await advance(stamp + 1_000 - now)
  })
  await world.price(cells.service(), "60000")
  const books = fundingBooks(world)
  assert.include([...(await books.venueOf(trader)).keys()], `funding:${perp}:${stamp}:${trader.id}`, about)
  await eventually(async () => {
    await world.atRest(about)
    // Lines that the fault broke stay quarantined, and were read again.
    assert.deepStrictEqual(
      await world.query("SELECT reason, bytes FROM venue_quarantine WHERE account <> '' AND reason <> 'no JSON'"),
      [],
      about
    )
    for (const each of [trader, keeper]) {
      await world.agree(await world.books(cells.service(), each), each, about)
      await books.agree(each, about)
    }
  })
  assert.deepStrictEqual(await world.query("SELECT id FROM open_fundings WHERE live"), [], about)
  assert.deepStrictEqual(await world.query("SELECT id FROM recon_breaks"), [], about)
  await world.verify(cells.service(), about)
}

const cellTime = 240_000

describe("F14: faults of the venue, and kills at every point of a stamp", () => {
  it("the sample has every point of each step, every victim with each, and no fault twice while one is left", () => {
    const cellsOf = <A>(of: (cell: Cell) => A) => new Set(some().map(of)).size
    assert.strictEqual(
      cellsOf(([, step, , point]) => `${step} ${point}`),
      some().length
    )
    assert.strictEqual(
      cellsOf(([, step, victim]) => `${step} ${victim}`),
      stepNames.length * victims.length
    )
    assert.isAtLeast(
      cellsOf(([fault]) => fault),
      some().length - 1
    )
    assert.isTrue(some().every(applies))
  })

  testCells(() => cells, { every, some: some() }, play, cellTime)
})
