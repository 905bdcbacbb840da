/**
 * The power of the simulation: each deliberate fault, switched on alone, is noticed within a few seeds by the
 * invariants that it names, and each invariant notices at least one fault (architecture, Proof). `npm test` plays the
 * first fault for each invariant, a deep run every fault.
 */
import { assert, describe, it } from "@effect/vitest"
import { isDeep, played } from "../support/every.ts"
import { invariantOf } from "./Coverage.ts"
import { invariants } from "./Findings.ts"
import { mutations } from "./mutations.ts"
import { noticing, patience } from "./noticing.ts"
import { simulate } from "./simulate.ts"

/** Faults that show an invariant which no earlier fault shows. */
const firstOfEach = mutations.filter(({ shows }, at) => {
  const earlier = new Set(mutations.slice(0, at).flatMap((mutation) => mutation.shows))
  return shows.some((name) => !earlier.has(name))
})
const some = played({ usual: firstOfEach, deep: mutations })

describe("a fault is noticed", () => {
  for (const mutation of some) {
    const { name, shows, seams } = mutation
    it(`${name}: ${shows.join(", ")}`, { timeout: 900_000 }, async ({ annotate }) => {
      const { runs, searched } = noticing(mutation)
      if (searched) await annotate("noticedBy.json is out of date: npm run simulate -- --noticed")
      assert.includeMembers([...runs.keys()], [...shows], `in ${patience} seeds`)
      for (const { seed, digest } of isDeep ? runs.values() : []) {
        assert.strictEqual(simulate(seed, seams()).digest, digest, `seed ${seed} repeats`)
      }
    })
  }

  it("every invariant notices a fault, so each machine has a checked invariant", () => {
    const shown = new Set(some.flatMap(({ shows }) => shows))
    assert.deepStrictEqual([...shown].toSorted(), Object.keys(invariants).toSorted())
    assert.includeMembers([...shown], Object.values(invariantOf))
  })
})
