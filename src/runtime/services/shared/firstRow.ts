/** Reads one row of a table from the database, not from a mailbox. */
import { Effect } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { TableName, Tables } from "../../tables/Catalogue.ts"
import type { Condition } from "../../store/paging.ts"

/** The newest stored row that meets the conditions; null if there is none. */
export const firstRow = <T extends TableName>(
  stored: RowReads["Service"],
  table: T,
  conditions: ReadonlyArray<Condition>
): Effect.Effect<Tables[T] | null, Unavailable> =>
  Effect.map(stored.page(table, conditions, { limit: 1 }), ([row]) => row ?? null)
