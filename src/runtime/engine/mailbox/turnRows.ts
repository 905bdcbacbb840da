/** Rows of a subject as its turn sees them: the committed rows, overlaid with those that the turn has written. */
import { keyOf, type TableName, type Tables } from "../../tables/Catalogue.ts"
import type { Turn } from "./Command.ts"

type Seeing = Pick<Turn, "state" | "draft">

/** The resident rows of a table, with the rows of this turn last, including ended ones. */
export const rowsInTurn = <T extends TableName>({ state, draft }: Seeing, table: T): ReadonlyArray<Tables[T]> => {
  const written = draft.written(table)
  if (written.length === 0) return state.all(table)
  const untouched = state.all(table).filter((row) => draft.peek(table, keyOf(table, row)) === undefined)
  return [...untouched, ...written]
}

/** The only row of a table that holds one row per subject; undefined if there is none. */
export const oneInTurn = <T extends TableName>({ state, draft }: Seeing, table: T): Tables[T] | undefined =>
  draft.written(table)[0] ?? state.one(table)
