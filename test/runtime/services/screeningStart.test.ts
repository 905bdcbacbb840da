/**
 * The watch list at start: read page by page, complete, without removed entries; then kept current by committed rows
 * (F26).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { wholeReport } from "../../../src/machines/screening/WatchImport.ts"
import { noFacts } from "../../../src/machines/market/Facts.ts"
import { ActorHost } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import type { TableName, Tables } from "../../../src/runtime/tables/Catalogue.ts"
import type { WatchEntryRow, WatchImportRow } from "../../../src/runtime/tables/screening.ts"
import { defaultSettings, Settings } from "../../../src/runtime/Settings.ts"
import { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { Screening } from "../../../src/runtime/services/screening/Screening.ts"
import { screenedPerson } from "../../fixtures/screening.ts"

const entry = (id: number): WatchEntryRow => ({
  id,
  list: "SANCTIONS",
  name: id === 1 ? "Viktor Orlenko" : `Person Number${id}`,
  dob: "1970-03-04",
  country: null,
  source: "EU",
  addedAt: 1_000 + id,
  removedAt: id % 100 === 0 ? 50_000 + id : null,
  importId: 1
})

const imported = (id: number, state: WatchImportRow["state"], sourceVersion: string): WatchImportRow => ({
  id,
  state,
  version: "1",
  context: {
    importId: id,
    source: "EU",
    sourceVersion,
    count: 1,
    report: wholeReport,
    hash: "",
    startedAt: 1,
    received: 0,
    chain: "",
    added: 0,
    kept: 0,
    removed: 0,
    endedAt: null
  },
  source: "EU",
  sourceVersion,
  startedAt: 1
})

/** A start on `count` stored entries; `commit` calls the listeners of a row. */
const started = (count: number, whileLoading: ReadonlyArray<WatchEntryRow> = []) => {
  const rows = Array.from({ length: count }, (_, index) => entry(index + 1))
  const imports = [imported(2, "REPLACED", "1"), imported(4, "DONE", "2"), imported(5, "ABANDONED", "3")]
  const pages: Array<number> = []
  const listeners = new Map<TableName, (row: never) => void>()
  const reads = Layer.mock(RowReads, {
    all: (table) => Effect.succeed((table === "watchImports" ? imports : []) as never),
    page: (_table, _conditions, { limit, before = Number.MAX_SAFE_INTEGER }) => {
      const page = rows.filter(({ id }) => id < before).toSorted((a, b) => b.id - a.id)
      pages.push(Math.min(limit, page.length))
      // The page contains the entries that were stored before these commits.
      if (pages.length === 1) for (const row of whileLoading) commit("watchEntries", row)
      return Effect.succeed(page.slice(0, limit) as never)
    }
  })
  const host = Layer.mock(ActorHost, {
    onCommitted: (table, listener) => void listeners.set(table, listener),
    onCallEnded: () => {},
    onDecided: () => {},
    facts: () => noFacts,
    pressed: () => false,
    stats: () => ({ resident: 0, waiting: 0 })
  })
  const commit = <T extends TableName>(table: T, row: Tables[T]) => listeners.get(table)?.(row as never)
  return Effect.map(
    Effect.provide(
      Effect.gen(function* () {
        return yield* Screening
      }),
      Screening.layer.pipe(Layer.provide([reads, host, Settings.layer(defaultSettings)]))
    ),
    (screening) => ({ screening, pages, commit })
  )
}

describe("screening at start", () => {
  for (const count of [0, 1, 5_000, 12_345])
    it.effect(`F26: all ${count} stored entries are loaded, in pages, without removed ones`, () =>
      Effect.gen(function* () {
        const { screening, pages } = yield* started(count)
        assert.strictEqual(screening.size(), count - Math.floor(count / 100))
        assert.isAtMost(Math.max(...pages), 5_000)
        assert.strictEqual(
          screening.find(screenedPerson())?.some(({ entryId }) => entryId === 1),
          count > 0
        )
        assert.deepStrictEqual(screening.lists().listVersions, { EU: "2" })
      })
    )

  it.effect("F26: an entry that is committed during the load counts, not its version in the page", () =>
    Effect.gen(function* () {
      const removed = { ...entry(1), removedAt: 90_000 }
      const { screening } = yield* started(2_500, [removed, entry(9_001)])
      assert.strictEqual(screening.size(), 2_500 - 25)
      assert.isFalse(screening.find(screenedPerson())?.some(({ entryId }) => entryId === 1))
    })
  )

  it.effect("F26: a long list is loaded in pieces, and other work runs in between", () =>
    Effect.gen(function* () {
      let turns = 0
      let loading = true
      const count = (): void => {
        turns += 1
        if (loading) setImmediate(count)
      }
      setImmediate(count)
      const { screening } = yield* started(12_345)
      loading = false
      assert.isAtLeast(turns, 20)
      assert.strictEqual(screening.size(), 12_345 - 123)
    })
  )

  it.effect("F26: committed entries and imports count at once; a run's versions don't change afterwards", () =>
    Effect.gen(function* () {
      const { screening, commit } = yield* started(3)
      const before = screening.lists()
      commit("watchEntries", { ...entry(9), addedAt: 99_999 })
      assert.strictEqual(screening.size(), 4)
      commit("watchEntries", { ...entry(9), addedAt: 99_999, removedAt: 100_000 })
      assert.strictEqual(screening.size(), 3)
      commit("watchImports", imported(6, "OPEN", "4"))
      assert.deepStrictEqual(screening.lists(), { listVersion: 100_000, listVersions: { EU: "2, importing 4" } })
      commit("watchImports", imported(6, "DONE", "4"))
      commit("watchImports", imported(4, "REPLACED", "2"))
      assert.deepStrictEqual(screening.lists().listVersions, { EU: "4" })
      assert.deepStrictEqual(before.listVersions, { EU: "2" })
    })
  )
})
