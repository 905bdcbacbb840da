// The power of the simulation: deliberate faults of the system, switched on one at a time, are each noticed within a few
// seeds, by an invariant that names them (architecture, Proof).
import { assert, describe, it } from "@effect/vitest"
import { type Invariant, invariants } from "./Findings.ts"
import { type Mutation, mutations } from "./mutations.ts"
import { report } from "./report.ts"
import { type Run, simulate } from "./simulate.ts"

/** Seeds within which a fault must show. */
const patience = 60

/** The first runs that notice a fault, one for each of the invariants that may tell of it, as far as they do. */
const noticing = ({ breaks, seams }: Mutation): ReadonlyArray<Run> => {
  const runs = new Map<string, Run>()
  for (let seed = 1; seed <= patience && !breaks.every((name) => runs.has(name)); seed++) {
    const run = simulate(seed, seams())
    const name = run.finding?.invariant
    if (name !== undefined && !runs.has(name)) runs.set(name, run)
  }
  return [...runs.values()]
}

const shown = new Set<Invariant>()

describe("a system with one fault is caught", () => {
  for (const mutation of mutations) {
    const { name, breaks, seams } = mutation
    it(`${name}: ${breaks.join(" or ")}`, { timeout: 60_000 }, () => {
      const runs = noticing(mutation)
      const [first] = runs
      if (first === undefined) return assert.fail(`unnoticed in ${patience} seeds`)
      assert.strictEqual(simulate(first.seed, seams()).digest, first.digest, "the failing seed repeats")
      for (const run of runs) {
        const invariant = run.finding?.invariant as Invariant
        assert.include(breaks, invariant, report(run))
        shown.add(invariant)
      }
    })
  }

  it("every invariant has a fault that it is known to catch", () => {
    assert.deepStrictEqual([...shown].toSorted(), Object.keys(invariants).toSorted())
  })
})
