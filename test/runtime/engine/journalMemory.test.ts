/** JournalMemory: the common guarantees, and the faults that simulation causes. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { makeDefectLog } from "../../../src/runtime/engine/DefectLog.ts"
import type { Journal } from "../../../src/runtime/engine/journal/Journal.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { makeJournalMemory } from "../../../src/runtime/engine/journal/JournalMemory.ts"
import { endedByCommit } from "../../../src/runtime/tables/triggers.ts"
import { layerProvokedLogs } from "../../support/testLogs.ts"
import { journalConformance } from "./journalConformance.ts"

journalConformance("JournalMemory", () => {
  const store = new MemoryStore()
  const defects = Effect.runSync(Effect.provide(makeDefectLog, layerProvokedLogs))
  let processes = 0
  const ends = new Map<Journal["Service"], Effect.Effect<void>>()
  const process = () => {
    const journal = makeJournalMemory({ store, owner: `process-${++processes}`, defects, wall: () => 1_000 })
    ends.set(journal, journal.end)
    return journal
  }
  return Promise.resolve({
    journal: process(),
    rows: (table) => Promise.resolve(store.rows(table)),
    ownerOf: (claim) => Promise.resolve(store.ownerOf(claim)),
    another: () => Promise.resolve(process()),
    stop: (journal) => Effect.runPromise(ends.get(journal) ?? Effect.void),
    close: () => Promise.resolve()
  })
})

it("D15: the closing commit ends as many deliveries as the schema's trigger does", () =>
  assert.include(
    readFileSync(new URL("../../../src/runtime/migrations/schema.sql", import.meta.url), "utf8"),
    `PERFORM end_deliveries(NEW.id, (NEW.context ->> 'changedAt')::bigint, ${endedByCommit});`
  ))
