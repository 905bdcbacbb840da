/**
 * Each fault of the venue while a contract is requested, accepted, withdrawn, closed and torn up, with kill -9 of the
 * service, the venue or both at each pause point of the call: before it is sent, after it, before its result is
 * written. The end must be that of D4 and D5: at most one contract, one commission and one settlement for each,
 * agreement of both sides and the books, and a retry under the key that returns the created object (A1-53, A2-26).
 *
 * By default each fault once, with each step at each point; EVERY=1 plays all of them (some 600, an hour or two).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { callPoints } from "../../src/runtime/engine/PausePoints.ts"
import { type FaultKind, faultKinds } from "../../src/venue/testerTokens.ts"
import { knockOut } from "../support/contractVenue.ts"
import { dataOf } from "../support/RealService.ts"
import { type ContractWorld, makeContractWorld } from "./contractWorld.ts"
import { answeredOnce, startCells, type Step, testCells } from "./faultCells.ts"
import type { Trader } from "./tradeWorld.ts"

const body = { symbol: knockOut, side: "BUY", qty: "0.1", barrier: { level: "58000" }, autoAccept: false }

let world: ContractWorld
let cells: Awaited<ReturnType<typeof startCells>>
let partner: string
beforeAll(async () => {
  world = await makeContractWorld("fault-crash")
  cells = await startCells(world)
  partner = await cells.service().partner("FAULT")
}, 120_000)
afterAll(() => world.end(), 120_000)

const post = (trader: Trader, path: string, sent: object, key: string) =>
  world.post(cells.service(), trader, path, sent, { "idempotency-key": key })

/** A request without automatic accept, and the path that accepts one of its quotes. */
const acceptance = async (trader: Trader) => {
  const { rfqId, quoteId } = await world.quoted(cells.service(), trader, body)
  return { rfqId, path: `/rfq/${rfqId}/accept`, quoteId }
}
const opened = async (trader: Trader): Promise<number> => {
  const { path, quoteId } = await acceptance(trader)
  return dataOf(await world.post(cells.service(), trader, path, { quoteId })).contractId
}

const steps: Readonly<Record<string, Step>> = {
  create: {
    route: "rfq",
    prepare: async (trader, key) => {
      // A first request proves that the market is live.
      const { rfqId } = await world.quoted(cells.service(), trader, body)
      dataOf(await world.post(cells.service(), trader, `/rfq/${rfqId}/cancel`, {}))
      return { act: () => post(trader, "/rfq", body, key), keyed: true }
    }
  },
  cancel: {
    route: "rfq",
    prepare: async (trader) => {
      const { rfqId } = await acceptance(trader)
      return { act: () => world.post(cells.service(), trader, `/rfq/${rfqId}/cancel`, {}), keyed: false }
    }
  },
  tearUp: {
    route: "accept",
    // A contract whose premium the cash no longer covers, and a margin call: a falling mark causes a close-out (F9).
    prepare: async (trader) => {
      await opened(trader)
      const taken = ["--currency", "USDC", "--amount", "-850", "--reason", "test"]
      await cells.service().done("ledger", "adjust", String(trader.id), ...taken)
      return { act: async () => (await world.price(cells.service(), "58300"), null), keyed: false }
    }
  },
  accept: {
    route: "accept",
    prepare: async (trader, key) => {
      const { path, quoteId } = await acceptance(trader)
      return { act: () => post(trader, path, { quoteId }, key), keyed: true }
    }
  },
  close: {
    route: "accept",
    prepare: async (trader, key) => {
      const contractId = await opened(trader)
      const asked = await world.post(cells.service(), trader, `/barriers/${contractId}/close`, { autoAccept: false })
      const { rfqId } = dataOf(asked)
      const quoteId = await world.quoteOf(cells.service(), trader, rfqId)
      return { act: () => post(trader, `/rfq/${rfqId}/accept`, { quoteId }, key), keyed: true }
    }
  }
}
const stepNames = Object.keys(steps)
const victims = ["service", "venue", "both"] as const

/** Faults that these steps can't meet: of orders and staking. */
const faults = faultKinds.filter((kind) => !["fill-before-ack", "writer-default", "unpriced-funding"].includes(kind))
/** The fault that withdraws a quote applies to accepts only. */
const applies = (fault: FaultKind, step: string): boolean =>
  fault !== "quote-withdrawn" || step === "accept" || step === "close"

type Cell = readonly [
  fault: FaultKind,
  step: string,
  victim: (typeof victims)[number],
  point: (typeof callPoints)[number]
]

const every: ReadonlyArray<Cell> = faults.flatMap((fault) =>
  stepNames
    .filter((step) => applies(fault, step))
    .flatMap((step) => victims.flatMap((victim) => callPoints.map((point): Cell => [fault, step, victim, point])))
)
/**
 * Plays each step at each point, each victim with both, and each fault once. A stride of 4 visits every fault, because no count
 * is a multiple of 4.
 */
const some: ReadonlyArray<Cell> = stepNames.flatMap((step, row) =>
  callPoints.map((point, column): Cell => {
    const fault = faults[((row * callPoints.length + column) * 4) % faults.length] as FaultKind
    return [fault, step, victims[(row + column) % victims.length] as Cell[2], point]
  })
)

const play = async ([fault, name, victim, point]: Cell): Promise<void> => {
  const about = `${fault} ${name} ${victim} ${point}`
  const step = steps[name] as Step
  const trader = await world.trader(cells.service(), partner, "1000.00")
  const prepared = await step.prepare(trader, `key-${trader.id}`)
  await world.heard(about)
  const first = await cells.struck(prepared, { fault, route: step.route, victim, point })
  const rows = await world.atRest(about, true)
  if (prepared.keyed) await answeredOnce(prepared, first, about)
  await world.hold(world.venue.client(), [trader], rows, about)
  assert.isAtMost(rows.filter(({ client_id }) => client_id === BigInt(trader.id)).length, 1, about)
  assert.deepStrictEqual(await world.query("SELECT id FROM recon_breaks"), [], about)
  await world.verify(cells.service(), about)
}

const cellTime = 120_000

describe("D4, D5: faults of the venue, and kills at every point of a call", () => {
  it("the sample has every fault, and every step at every point", () => {
    assert.sameMembers([...new Set(some.map(([fault]) => fault))], [...faults])
    assert.isTrue(some.every(([fault, step]) => applies(fault, step)))
    assert.strictEqual(new Set(some.map(([, step, , point]) => `${step} ${point}`)).size, stepNames.length * 3)
    assert.strictEqual(new Set(some.map(([, step, victim]) => `${step} ${victim}`)).size, stepNames.length * 3)
  })

  testCells(() => cells, { every, some: some }, play, cellTime)
})
