/**
 * Each fault of the venue while an offer is taken and a writer pays, with kill -9 of the service, the database or the
 * venue at each pause point: before the call is sent, after it, before its result is written, before the cursor of the
 * events moves. The end must be that of D8: a take is one contract of the venue or none, it has paid its principal once
 * or got its reserve back, each payment is booked once, and a retry under the key returns the created object (A1-53,
 * A2-57).
 *
 * By default twelve cells; EVERY=1 plays all of them (some 130, half an hour).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import type { VenueSwap } from "../../src/machines/venue/swapAtVenue.ts"
import { callPoints, eventPoints } from "../../src/runtime/engine/PausePoints.ts"
import { type FaultKind, faultKinds } from "../../src/venue/testerTokens.ts"
import { dataOf } from "../support/RealService.ts"
import { answeredOnce, startCells, type Step, testCells, type Victim } from "./faultCells.ts"
import { makeTradeWorld, type Trader, type TradeWorld } from "./tradeWorld.ts"

let world: TradeWorld
let cells: Awaited<ReturnType<typeof startCells>>
let partner: string
beforeAll(async () => {
  world = await makeTradeWorld("staking-crash", { ownServer: true })
  cells = await startCells(world)
  partner = await cells.service().partner("STAKING")
}, 120_000)
afterAll(() => world.end(), 120_000)

const qty = "100.00"

/** An offer of USDC on the board. */
const offerOf = (trader: Trader): Promise<number> =>
  vi.waitFor(
    async () => {
      const { offers } = dataOf(await cells.service().call(trader.key, "GET", "/staking/offers?symbol=USDC-SWAP")) as {
        readonly offers: ReadonlyArray<{ readonly offerId: number; readonly tenorDays: number }>
      }
      const found = offers.find(({ tenorDays }) => tenorDays === 30)
      if (found === undefined) throw new Error("no offer stands on the board")
      return found.offerId
    },
    { timeout: 20_000, interval: 100 }
  )
const take = (trader: Trader, offerId: number, key: string) =>
  world.post(cells.service(), trader, `/staking/${offerId}/accept`, { qty }, { "idempotency-key": key })

const steps = {
  take: {
    route: "take",
    prepare: async (trader, key) => {
      const offerId = await offerOf(trader)
      return { act: () => take(trader, offerId, key), keyed: true }
    }
  },
  pay: {
    route: "events",
    prepare: async (trader, key) => {
      const { contractId } = dataOf(await take(trader, await offerOf(trader), key))
      const act = async () => {
        await cells.service().done("sim", "venue", "pay", String(contractId), "--amount", "40")
        return null
      }
      return { act, keyed: false }
    }
  }
} satisfies Record<string, Step>
type StepName = keyof typeof steps

const victims = ["service", "database", "venue"] as const
/** Faults of the transport. The other faults concern prices, quotes, orders and the payments of writers. */
const faults = faultKinds.filter(
  (kind) => !["stale-marks", "quote-withdrawn", "fill-before-ack", "writer-default", "unpriced-funding"].includes(kind)
)

type Point = (typeof callPoints)[number] | (typeof eventPoints)[number]
type Cell = readonly [fault: FaultKind, step: StepName, victim: Victim, point: Point]

/** An event that the venue publishes without a call passes only the cursor's point. */
const pointsOf: { readonly [S in StepName]: ReadonlyArray<Point> } = { take: callPoints, pay: eventPoints }
const places = (Object.keys(steps) as ReadonlyArray<StepName>).flatMap((step) =>
  victims.flatMap((victim) => pointsOf[step].map((point) => [step, victim, point] as const))
)
/** On a silent or broken stream no payment arrives, so none moves the cursor. */
const applies = ([fault, step]: Cell): boolean => !["silent", "outage"].includes(fault) || step !== "pay"
const all: ReadonlyArray<Cell> = faults.flatMap((fault) =>
  places.map((place): Cell => [fault, ...place]).filter(applies)
)
/** Each step with each victim at each of its points, with the faults in rotation. */
const some: ReadonlyArray<Cell> = places.map((place, n): Cell => [faults[n % faults.length] as FaultKind, ...place])

interface BookedSwap {
  readonly id: bigint
  readonly state: string
  readonly contract_id: bigint | null
  readonly paid: bigint
  readonly principals: bigint
  readonly settled: bigint
}

const booked = (type: string): string =>
  `FROM ledger_transactions l JOIN postings p USING (tx_id) WHERE l.type = '${type}' AND p.client_id = s.client_id
      AND l.refs->>'swapId' = s.id::text`

const booksOf = ({ id }: Trader): Promise<ReadonlyArray<BookedSwap>> =>
  world.query<BookedSwap>(`SELECT s.id, s.state, s.contract_id, s.paid,
      (SELECT count(*) ${booked("SWAP_PRINCIPAL")}) AS principals,
      (SELECT coalesce(sum(p.amount), 0)::bigint ${booked("SWAP_SETTLE")}) AS settled
    FROM swaps s WHERE s.client_id = ${id} ORDER BY s.id`)

const atRest = (about: string): Promise<void> =>
  vi.waitFor(async () => assert.deepStrictEqual(await world.query("SELECT ref FROM venue_calls"), [], about), {
    timeout: 90_000,
    interval: 250
  })

/** Compares the account with the venue's books: each open contract exists here once, with all its payments. */
const hold = async (trader: Trader, about: string): Promise<ReadonlyArray<BookedSwap>> => {
  const account = await world.accountOf(trader)
  const { json } = await world.venue.client().ask(`/venue/v1/accounts/${account}`)
  const there = (json?.swaps ?? []) as ReadonlyArray<VenueSwap>
  const rows = await booksOf(trader)
  const open = rows.filter(({ state }) => state === "OPEN" || state === "DEFAULTED")
  assert.sameMembers(
    there.map((swap) => `${swap.id} paid ${paidOf(swap)}`),
    open.map((row) => `${row.contract_id} paid ${row.paid}`),
    about
  )
  return rows
}
const paidOf = ({ payments }: VenueSwap): bigint =>
  payments.reduce((sum, { amount }) => sum + BigInt(Math.round(Number(amount) * 1_000_000)), 0n)

const play = async ([fault, name, victim, point]: Cell): Promise<void> => {
  const about = `${fault} ${name} ${victim} ${point}`
  const step: Step = steps[name]
  const trader = await world.trader(cells.service(), partner, "1000.00")
  const prepared = await step.prepare(trader, `key-${trader.id}`)
  await atRest(about)
  await world.heard(about)
  const first = await cells.struck(prepared, { fault, route: step.route, victim, point })
  await atRest(about)
  if (prepared.keyed) await answeredOnce(prepared, first, about)
  const rows = await vi.waitFor(() => hold(trader, about), { timeout: 60_000, interval: 250 })
  assert.strictEqual(rows.length, 1, about)
  for (const { state, principals, paid, settled } of rows) {
    assert.include(name === "pay" ? ["OPEN"] : ["OPEN", "ACCEPTING", "REJECTED"], state, about)
    assert.strictEqual(principals, state === "OPEN" ? 1n : 0n, about)
    assert.strictEqual(settled, paid, about)
    if (name === "pay") assert.include([0n, 40_000_000n], paid, about)
  }
  assert.deepStrictEqual(await world.query("SELECT id FROM recon_breaks"), [], about)
  await world.verify(cells.service(), about)
}

const cellTime = 180_000

describe("D8: faults of the venue, and kills at every point of a take and of a payment", () => {
  it("the sample has every fault but what fits in no cell, every step with every victim, and every point", () => {
    assert.sameMembers([...new Set(some.map(([fault]) => fault))], faults.slice(0, some.length))
    assert.isTrue(some.every(applies))
    assert.strictEqual(new Set(some.map(([, step, victim]) => `${step} ${victim}`)).size, 6)
    assert.sameMembers([...new Set(some.map(([, , , point]) => point))], [...callPoints, ...eventPoints])
  })

  testCells(() => cells, { every: all, some }, play, cellTime)

  it("what never came is released 300 s after the venue was certain of it, and no reserve is left", async () => {
    await cells.service().done("sim", "clock", "advance", "6m")
    await vi.waitFor(
      async () =>
        assert.deepStrictEqual(await world.query("SELECT id FROM swaps WHERE state = 'ACCEPTING'"), [], "released"),
      { timeout: 30_000, interval: 250 }
    )
    assert.deepStrictEqual(await world.query("SELECT client_id FROM balances WHERE reserved <> 0"), [])
    await world.verify(cells.service(), "after the release")
  }, 120_000)
})
