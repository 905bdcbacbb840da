/**
 * The power of the simulation: deliberate faults of the system, switched on one at a time, are each noticed within a few
 * seeds, by the invariants that name them; and every invariant is shown to notice one (architecture, Proof).
 */
import { assert, describe, it } from "@effect/vitest"
import { invariantOf } from "./Coverage.ts"
import { invariants } from "./Findings.ts"
import type { Mutation } from "./bends.ts"
import { mutations } from "./mutations.ts"
import { type Run, simulate } from "./simulate.ts"

/** Seeds within which a fault must show. */
const patience = 200

/** The first run that tells of the fault, for each invariant that should. */
const noticing = ({ shows, seams }: Mutation): ReadonlyMap<string, Run> => {
  const runs = new Map<string, Run>()
  for (let seed = 1; seed <= patience && !shows.every((name) => runs.has(name)); seed++) {
    const run = simulate(seed, seams())
    const name = run.finding?.invariant
    if (name !== undefined && !runs.has(name)) runs.set(name, run)
  }
  return runs
}

describe("a system with one fault is caught", () => {
  for (const mutation of mutations) {
    const { name, shows, seams } = mutation
    it(`${name}: ${shows.join(", ")}`, { timeout: 900_000 }, () => {
      const runs = noticing(mutation)
      assert.includeMembers([...runs.keys()], [...shows], `in ${patience} seeds`)
      for (const { seed, digest } of runs.values()) {
        assert.strictEqual(simulate(seed, seams()).digest, digest, `seed ${seed} repeats`)
      }
    })
  }

  it("every invariant is shown to notice a fault, and so the one that holds each machine", () => {
    const shown = new Set(mutations.flatMap(({ shows }) => shows))
    assert.deepStrictEqual([...shown].toSorted(), Object.keys(invariants).toSorted())
    assert.includeMembers([...shown], Object.values(invariantOf))
  })
})
