/** Events on both sides of every guard of the import machine: path tests and diagrams use them (F26). */
import type { WatchImportEvent, WatchImportInput } from "./WatchImport.ts"

export const watchImportInput: WatchImportInput = {
  importId: 1,
  source: "EU",
  sourceVersion: "2026-11-20",
  count: 3,
  hash: "h3",
  startedAt: 0
}

export const watchImportSamples: ReadonlyArray<WatchImportEvent> = [
  { type: "ENTRIES", at: 1, offset: 0, added: 1, kept: 1, chain: "h2" },
  { type: "ENTRIES", at: 2, offset: 2, added: 1, kept: 0, chain: "h3" },
  { type: "ENTRIES", at: 2, offset: 2, added: 0, kept: 1, chain: "other" },
  { type: "ENTRIES", at: 2, offset: 2, added: 1, kept: 1, chain: "h4" },
  { type: "ENTRIES", at: 2, offset: 2, added: 0, kept: 0, chain: "h2" },
  { type: "REMOVE", at: 3, removed: 0, last: true },
  { type: "REMOVE", at: 4, removed: 0, last: false },
  { type: "SUPERSEDE", at: 5, by: "2026-11-21" }
]
