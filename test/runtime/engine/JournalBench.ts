/** What the conformance suite needs of an implementation: a journal and ways to look behind it. */
import type { Journal } from "../../../src/runtime/engine/journal/Journal.ts"
import type { TableName, Tables } from "../../../src/runtime/tables/Catalogue.ts"

/** A fresh, empty journal and a look behind it. */
export interface JournalBench {
  readonly journal: Journal["Service"]
  /** Every stored row of a table, decoded. */
  readonly rows: <T extends TableName>(table: T) => Promise<ReadonlyArray<Tables[T]>>
  readonly ownerOf: (claim: string) => Promise<number | undefined>
  /** Another process that takes the same database over. */
  readonly another: () => Promise<Journal["Service"]>
  /** Stops a process cleanly. */
  readonly stop: (journal: Journal["Service"]) => Promise<void>
  readonly close: () => Promise<void>
}
