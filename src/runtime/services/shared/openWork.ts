/**
 * What is still open of a client in its own mailbox, as sentences: it stands in the way of the account's end (D1). Every
 * table says of itself what is open in it, so that no account closes over a noun that nobody thought of.
 */
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { catalogue, type TableName } from "../../tables/Catalogue.ts"
import { openSentence, type OpenTable, openTables } from "../../store/openRows.ts"

const held = openTables.filter(({ table }) => catalogue[table].residence?.subject === "client")

/** Tables whose open rows tie up money of their client. */
const exposing: ReadonlyArray<TableName> = ["rfqs", "barrierContracts", "orders", "positions", "swaps"]

/** Of a client, as its mailbox holds them: a sentence for each table with open rows. */
export const openInMailbox = (state: SubjectState): ReadonlyArray<string> => sentences(state, held)

/** Those of them that keep money from leaving: open requests for quotes and contracts, working orders, open positions and swaps. */
export const openExposure = (state: SubjectState): ReadonlyArray<string> =>
  sentences(
    state,
    held.filter(({ table }) => exposing.includes(table))
  )

const sentences = (state: SubjectState, tables: ReadonlyArray<OpenTable>): ReadonlyArray<string> =>
  tables.flatMap(({ table, open }) => {
    const counts = Map.groupBy(state.all(table) as ReadonlyArray<{ readonly state?: string }>, (row) => row.state)
    return openSentence(open, (each) => counts.get(each)?.length ?? 0)
  })
