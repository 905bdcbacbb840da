/** The promises of a journal about ids across processes: a part of journalConformance.ts (decision 40). */
import { assert, beforeEach, it } from "@effect/vitest"
import { Effect } from "effect"
import { idBlockSize, idKinds, IdsExhausted } from "../../../src/runtime/engine/journal/IdBlocks.ts"
import { type Journal, JournalUnavailable } from "../../../src/runtime/engine/journal/Journal.ts"
import type { IdKind } from "../../../src/runtime/tables/Catalogue.ts"
import { commitOf, sampleRows } from "./fixtures.ts"
import type { JournalBench } from "./JournalBench.ts"

type JournalShape = Journal["Service"]

/** Takes ids of a kind; the last of them. */
const take = async (journal: JournalShape, kind: IdKind, count: number): Promise<number> => {
  for (let taken = 1, last = 0; ; taken++) {
    if (taken > count) return last
    try {
      last = journal.nextId(kind)
    } catch (error) {
      if (!(error instanceof IdsExhausted)) throw error
      taken--
      await Effect.runPromise(journal.idsRefilled)
    }
  }
}

/** Counts of ids around each border of a block: where the next block is fetched, where it begins, where it ends. */
const borders: ReadonlyArray<(size: number) => number> = [
  () => 0,
  () => 1,
  (size) => size / 2,
  (size) => size / 2 + 1,
  (size) => size - 1,
  (size) => size,
  (size) => size + 1,
  (size) => 2 * size + 1
]

export const idTests = (current: () => JournalBench) => () => {
  let bench: JournalBench
  beforeEach(() => {
    bench = current()
  })

  it("after a clean stop the next process continues with the next id of every kind, wherever the block stood", async () => {
    let journal = bench.journal
    const taken = new Map<IdKind, number>()
    const kinds = Map.groupBy(idKinds, idBlockSize)
    for (const shift of [0, 3]) {
      for (const [size, sameSize] of kinds) {
        for (const [index, kind] of sameSize.entries()) {
          const count = borders[(index + shift) % borders.length]?.(size) ?? 0
          const before = taken.get(kind) ?? 0
          if (count > 0) assert.strictEqual(await take(journal, kind, count), before + count, `${kind} ${count}`)
          taken.set(kind, before + count)
        }
      }
      await bench.stop(journal)
      journal = await bench.another()
    }
    for (const kind of idKinds) assert.strictEqual(await take(journal, kind, 1), (taken.get(kind) ?? 0) + 1, kind)
  })

  it("a process that was replaced returns nothing, however late it stops; its successor does", async () => {
    const before = bench.journal.nextId("order")
    const second = await bench.another()
    const first = second.nextId("order")
    assert.isAbove(first, before)
    await bench.stop(bench.journal)
    assert.strictEqual(second.nextId("order"), first + 1)
    await bench.stop(second)
    const third = await bench.another()
    assert.strictEqual(third.nextId("order"), first + 2)
    // A process that only ended leaves a gap.
    assert.isAbove((await bench.another()).nextId("order"), first + 2)
  })

  it("a stop while commits are under way: their ids are never used again, and no further id is given out", async () => {
    const { journal } = bench
    const ids = Array.from({ length: 600 }, () => journal.nextId("notification"))
    for (const id of ids)
      journal.submit(commitOf({ rows: { notifications: [{ ...sampleRows(1).notifications, id }] } }), () => {})
    await bench.stop(journal)
    assert.throws(() => journal.nextId("notification"), JournalUnavailable)
    const next = (await bench.another()).nextId("notification")
    assert.strictEqual(next, (ids.at(-1) ?? 0) + 1)
    assert.isTrue((await bench.rows("notifications")).every(({ id }) => id < next))
  })
}
