/**
 * A client's open objects in its own mailbox, as sentences: they block closing the account. Each table defines its own
 * open states, so a new table cannot be forgotten (D1).
 */
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { catalogue } from "../../tables/Catalogue.ts"
import { openSentence, type OpenTable, openTables } from "../../store/openRows.ts"

const held = openTables.filter(({ table }) => catalogue[table].residence?.subject === "client")

/** One sentence for each table that has open rows in a client's mailbox. */
export const openInMailbox = (state: SubjectState): ReadonlyArray<string> => sentences(state, held)

/**
 * The part of `openInMailbox` that blocks payouts: open requests for quotes and contracts, working orders, open
 * positions and swaps.
 */
export const openExposure = (state: SubjectState): ReadonlyArray<string> =>
  sentences(
    state,
    held.filter(({ open }) => open.exposes === true)
  )

const sentences = (state: SubjectState, tables: ReadonlyArray<OpenTable>): ReadonlyArray<string> =>
  tables.flatMap(({ table, open }) => {
    const counts = Map.groupBy(state.all(table) as ReadonlyArray<{ readonly state?: string }>, (row) => row.state)
    return openSentence(open, (each) => counts.get(each)?.length ?? 0)
  })
