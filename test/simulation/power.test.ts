/**
 * The power of the simulation: each deliberate fault, switched on alone, is noticed within a few seeds by the
 * invariants that it names, and each invariant notices at least one fault (architecture, Proof).
 */
import { assert, describe, it } from "@effect/vitest"
import { invariantOf } from "./Coverage.ts"
import { invariants } from "./Findings.ts"
import { mutations } from "./mutations.ts"
import { noticing, patience } from "./noticing.ts"
import { simulate } from "./simulate.ts"

describe("a fault is noticed", () => {
  for (const mutation of mutations) {
    const { name, shows, seams } = mutation
    it(`${name}: ${shows.join(", ")}`, { timeout: 900_000 }, async ({ annotate }) => {
      const { runs, searched } = noticing(mutation)
      if (searched) await annotate("noticedBy.json is out of date: npm run simulate -- --noticed")
      assert.includeMembers([...runs.keys()], [...shows], `in ${patience} seeds`)
      for (const { seed, digest } of runs.values()) {
        assert.strictEqual(simulate(seed, seams()).digest, digest, `seed ${seed} repeats`)
      }
    })
  }

  it("every invariant notices a fault, so each machine has a checked invariant", () => {
    const shown = new Set(mutations.flatMap(({ shows }) => shows))
    assert.deepStrictEqual([...shown].toSorted(), Object.keys(invariants).toSorted())
    assert.includeMembers([...shown], Object.values(invariantOf))
  })
})
