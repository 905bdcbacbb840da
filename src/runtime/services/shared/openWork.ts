/**
 * What is still open of a client in its own mailbox, as sentences: it stands in the way of the account's end (D1). Every
 * table says of itself what is open in it, so that no account closes over a noun that nobody thought of.
 */
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { catalogue } from "../../store/Catalogue.ts"
import { openSentence, openTables } from "../../store/openRows.ts"

const held = openTables.filter(({ table }) => catalogue[table].residence?.subject === "client")

/** Of a client, as its mailbox holds them: a sentence for each table with open rows. */
export const openInMailbox = (state: SubjectState): ReadonlyArray<string> =>
  held.flatMap(({ table, open }) => {
    const counts = Map.groupBy(state.all(table) as ReadonlyArray<{ readonly state?: string }>, (row) => row.state)
    return openSentence(open, (each) => counts.get(each)?.length ?? 0)
  })
