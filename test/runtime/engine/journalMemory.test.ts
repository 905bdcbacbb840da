/** JournalMemory: the common promises, and the faults that simulation provokes. */
import { Effect } from "effect"
import { makeDefectLog } from "../../../src/runtime/engine/DefectLog.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { makeJournalMemory } from "../../../src/runtime/engine/journal/JournalMemory.ts"
import { layerProvokedLogs } from "../../support/testLogs.ts"
import { journalConformance } from "./journalConformance.ts"

journalConformance("JournalMemory", () => {
  const store = new MemoryStore()
  const defects = Effect.runSync(Effect.provide(makeDefectLog, layerProvokedLogs))
  let processes = 0
  const process = () => makeJournalMemory({ store, owner: `process-${++processes}`, defects })
  return Promise.resolve({
    journal: process(),
    rows: (table) => Promise.resolve(store.rows(table)),
    ownerOf: (claim) => Promise.resolve(store.ownerOf(claim)),
    another: () => Promise.resolve(process()),
    close: () => Promise.resolve()
  })
})
