/**
 * Balances and overview are one object as long as their content is the same. Over random histories of money, lots,
 * totals, marks and time they equal those of an account that is read again, and nothing outlives its inputs (F23,
 * STS-10).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Facts, type Mark, noFacts } from "../../../src/machines/market/Facts.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { balancesIn, overviewIn } from "../../../src/runtime/services/account/StandingPortfolio.ts"
import { contractsNow } from "../../fixtures/contracts.ts"
import { balance, sampleRows } from "../engine/fixtures.ts"
import { accountOf } from "../order/leverageTurns.ts"

const assets = ["BTC", "ETH", "EUR"] as const
const anyAsset = fc.constantFrom(...assets)

/** The committed rows of a client, and the market. */
class World {
  readonly state: SubjectState = accountOf({ cash: "100" })
  private readonly marks = new Map<string, Mark>()
  private now = contractsNow

  put(build: (draft: CommitBuilder) => void): void {
    const draft = new CommitBuilder()
    build(draft)
    this.state.adopt(draft.build({ subject: "client:1", expected: this.state.token }, null))
  }

  hold(currency: (typeof assets)[number] | "USDC", cash: bigint): void {
    this.put((draft) => draft.put("balances", { ...balance(1, cash), currency, reserved: cash / 3n }))
  }

  mark(asset: string, tenths: number): void {
    this.marks.set(`${asset}-USDC`, { price: new MoneyDecimal(tenths).div(10), places: 1, at: this.now, current: true })
  }

  wait(millis: number): void {
    this.now += millis
  }

  get facts(): Facts {
    return { ...noFacts, takenAt: this.now, marks: new Map(this.marks) }
  }
}

type Step = (world: World) => void
const steps: ReadonlyArray<fc.Arbitrary<Step>> = [
  fc.record({ asset: fc.constantFrom(...assets, "USDC" as const), cash: fc.bigInt({ min: 0n, max: 10n ** 10n }) }).map(
    ({ asset, cash }): Step =>
      (world) =>
        world.hold(asset, cash)
  ),
  fc.record({ asset: anyAsset, tenths: fc.integer({ min: 1, max: 3 }) }).map(
    ({ asset, tenths }): Step =>
      (world) =>
        world.mark(asset, tenths)
  ),
  fc.constantFrom(1, 9_999, 10_001).map(
    (millis): Step =>
      (world) =>
        world.wait(millis)
  ),
  fc.record({ asset: anyAsset, id: fc.integer({ min: 1, max: 4 }), qty: fc.bigInt({ min: 0n, max: 10n ** 6n }) }).map(
    ({ asset, id, qty }): Step =>
      (world) =>
        world.put((draft) =>
          draft.put("spotLots", {
            id,
            partnerId: 1,
            clientId: 1,
            asset,
            qty,
            cost: qty,
            commission: 1n,
            acquiredAt: id
          })
        )
  ),
  fc.nat(5).map(
    (wins): Step =>
      (world) =>
        world.put((draft) => draft.put("accountTotals", { ...sampleRows(1).accountTotals, clientId: 1, wins }))
  )
]

/** The answers of an account without cached figures. */
const anew = (state: SubjectState): SubjectState =>
  state.after(new CommitBuilder().build({ subject: "client:1", expected: state.token }, null))

describe("stored balances and overview", () => {
  it("equal those of an account that is read anew, after any history", () => {
    let kept = 0
    fc.assert(
      fc.property(fc.array(fc.oneof(...steps), { minLength: 5, maxLength: 30 }), (taken) => {
        const world = new World()
        for (const step of taken) {
          const before = balancesIn(world.state, world.facts)
          step(world)
          const { state, facts } = world
          const after = balancesIn(state, facts)
          if (after === before) kept++
          const other = anew(state)
          assert.deepStrictEqual(after, balancesIn(other, facts))
          assert.deepStrictEqual(overviewIn(state, facts), overviewIn(other, facts))
        }
      }),
      { numRuns: 200, seed: 5 }
    )
    assert.isAbove(kept, 100)
  })

  it("are the same object until a row, a price or the age of a mark changes", () => {
    const world = new World()
    world.hold("BTC", 100_000n)
    world.mark("BTC", 600_000)
    const first = balancesIn(world.state, world.facts)
    world.wait(5_000)
    assert.strictEqual(balancesIn(world.state, world.facts), first, "time alone changes nothing")
    world.mark("BTC", 600_000)
    assert.strictEqual(balancesIn(world.state, world.facts), first, "nor does a mark that is said again")
    world.mark("ETH", 30_000)
    assert.strictEqual(balancesIn(world.state, world.facts), first, "nor one of what is not held")
    world.wait(10_001)
    const stale = balancesIn(world.state, world.facts)
    assert.deepStrictEqual([first.balances[1]?.markFresh, stale.balances[1]?.markFresh], [true, false])
    world.mark("BTC", 600_001)
    assert.notStrictEqual(balancesIn(world.state, world.facts).portfolioValue, first.portfolioValue)
    const overview = overviewIn(world.state, world.facts)
    assert.strictEqual(overviewIn(world.state, world.facts), overview)
    world.put((draft) => draft.put("accountTotals", { ...sampleRows(1).accountTotals, clientId: 1, wins: 9 }))
    assert.strictEqual(overviewIn(world.state, world.facts).wins, 9)
  })
})
