/** The requirements of the conformance suite for an implementation: a journal, and access to its stored rows. */
import type { Journal } from "../../../src/runtime/engine/journal/Journal.ts"
import type { TableName, Tables } from "../../../src/runtime/tables/Catalogue.ts"

/** A new, empty journal, with access to its stored rows. */
export interface JournalBench {
  readonly journal: Journal["Service"]
  /** Every stored row of a table, decoded. */
  readonly rows: <T extends TableName>(table: T) => Promise<ReadonlyArray<Tables[T]>>
  readonly ownerOf: (claim: string) => Promise<number | undefined>
  /** Another process that takes over the same database. */
  readonly another: () => Promise<Journal["Service"]>
  /** Stops a process cleanly. */
  readonly stop: (journal: Journal["Service"]) => Promise<void>
  readonly close: () => Promise<void>
}
