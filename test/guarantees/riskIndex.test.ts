/** The index misses no crossing: it names every account that a check of all accounts finds (F7, A2-89; D23). */
import { assert, describe, it } from "@effect/vitest"
import { RiskBook, type RiskBookOptions } from "../fixtures/riskBook.ts"

const steps = 400

interface Told {
  missed: number
  named: number
  inVain: number
  readonly changes: number
  readonly looks: number
}

const play = (seed: number, options: RiskBookOptions): Told => {
  const book = new RiskBook(seed, options)
  const told = { missed: 0, named: 0, inVain: 0 }
  for (let step = 0; step < steps; step++) {
    const { missed, named, inVain } = book.step()
    told.missed += missed.length
    told.named += named
    told.inVain += inVain
  }
  return { ...told, ...book.counts }
}

const playAll = (seeds: number, options: RiskBookOptions): Told => {
  const all = Array.from({ length: seeds }, (_, seed) => play(seed + 1, options))
  const sum = (of: (told: Told) => number): number => all.reduce((total, told) => total + of(told), 0)
  return {
    missed: sum(({ missed }) => missed),
    named: sum(({ named }) => named),
    inVain: sum(({ inVain }) => inVain),
    changes: sum(({ changes }) => changes),
    looks: sum(({ looks }) => looks)
  }
}

describe("the risk index names every account that a check of all accounts finds", () => {
  it("over histories of marks that creep and jump, of deposits, withdrawals, fills, contracts and categorizations", () => {
    const { missed, named, inVain } = playAll(40, { accounts: 25 })
    assert.strictEqual(missed, 0)
    assert.isAbove(named, 10_000)
    assert.isBelow(inVain / named, 0.001)
  }, 120_000)

  it("and misses some accounts if it does not get a withdrawal", () => {
    assert.isAbove(playAll(4, { accounts: 25, isPut: (before, after) => after >= before }).missed, 0)
  }, 60_000)

  it("and misses some accounts if it gets a mark that is already old", () => {
    assert.isAbove(playAll(4, { accounts: 25, heard: (before) => before }).missed, 0)
  }, 60_000)

  it("and misses some accounts if only the tier of the present notional counts", () => {
    assert.isAbove(
      playAll(4, { accounts: 25, indexTiers: ([first]) => (first === undefined ? [] : [first]) }).missed,
      0
    )
  }, 60_000)
})
