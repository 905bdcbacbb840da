/** The texts of the batch statement: one for each set of parts, made once, and limited in number. */
import { assert, describe, it } from "@effect/vitest"
import {
  batchText,
  type Part,
  parts,
  statementTexts,
  textsKept
} from "../../../src/runtime/engine/journal/batchStatement.ts"
import { type CommitParts, commitOf, sampleRows, submit } from "./fixtures.ts"
import { openPgBench } from "./pgBench.ts"

const all = [...parts.values()]
/** The parts whose bits are set in a number. */
const subset = (bits: number): ReadonlyArray<Part> => all.filter((_, place) => (bits & (1 << place)) !== 0)

describe("texts of the batch statement", () => {
  it("a set of parts has one text, which is made once", () => {
    const first = batchText(subset(0b1011))
    const { made } = statementTexts()
    assert.strictEqual(batchText(subset(0b1011)), first)
    assert.strictEqual(statementTexts().made, made)
    assert.notStrictEqual(batchText(subset(0b1010)), first)
  })

  it("decision 12: the number of stored texts is limited, and used texts stay", () => {
    const used = batchText(subset(1))
    for (let bits = 2; bits < 3 * textsKept; bits++) {
      batchText(subset(bits))
      assert.strictEqual(batchText(subset(1)), used)
      assert.isAtMost(statementTexts().kept, textsKept)
    }
    const { made } = statementTexts()
    batchText(subset(1))
    batchText(subset(3 * textsKept - 1))
    assert.strictEqual(statementTexts().made, made)
    batchText(subset(2))
    assert.strictEqual(statementTexts().made, made + 1)
    assert.strictEqual(statementTexts().kept, textsKept)
  })

  it("more sets of parts than the limit, one after the other and repeated: every commit is written", async () => {
    const bench = await openPgBench()
    try {
      const tables = [
        "balances",
        "cases",
        "timers",
        "notifications",
        "documents",
        "answers",
        "decisions",
        "kycPackages"
      ] as const
      const sets = Array.from({ length: 2 ** tables.length - 1 }, (_, index) => index + 1)
      assert.isAbove(sets.length, textsKept)
      for (const [index, bits] of [...sets, ...sets.slice(0, 20)].entries()) {
        const rows = sampleRows(index + 1)
        const chosen = tables.filter((_, place) => (bits & (1 << place)) !== 0)
        const commit: CommitParts = {
          fence: { subject: `client:${index + 1}`, expected: null },
          rows: Object.fromEntries(chosen.map((table) => [table, [rows[table]]]))
        }
        assert.strictEqual((await submit(bench.journal, commitOf(commit)))._tag, "Committed")
      }
      assert.isAtMost(statementTexts().kept, textsKept)
    } finally {
      await bench.close()
    }
  })
})
