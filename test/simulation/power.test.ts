/**
 * The power of the simulation: deliberate faults of the system, switched on one at a time, are each noticed within a few
 * seeds, by the invariants that name them; and every invariant is shown to notice one (architecture, Proof). `npm test` plays
 * the first fault for each invariant, a deep run every fault.
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

describe("a system with one fault is caught", () => {
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

  it("every invariant is shown to notice a fault, and so the one that holds each machine", () => {
    const shown = new Set(some.flatMap(({ shows }) => shows))
    assert.deepStrictEqual([...shown].toSorted(), Object.keys(invariants).toSorted())
    assert.includeMembers([...shown], Object.values(invariantOf))
  })
})
