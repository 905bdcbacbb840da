/**
 * Puts several items of one client into one turn and one commit: events of its account, or outcomes of its calls. A
 * batch stays well below the size limit of a commit. If a batch can't be written, its items are decided one by one, so
 * that a bad item affects no other.
 */
import type { Turn } from "../../engine/mailbox/ActorHost.ts"

/**
 * The number of rows at which a batch ends. A commit holds at most 4,096 rows; the settlement of one contract takes
 * about 20.
 */
export const maxBatchRows = 1_024
/** The most items of a batch. */
export const maxBatchLength = 64

/**
 * Applies items in order in one turn. Stops if the batch is full, or if `take` returns null because an item has to
 * wait. Returns the results.
 */
export const takeUntilFull = <Thing, Taken>(
  turn: Turn,
  things: ReadonlyArray<Thing>,
  take: (thing: Thing) => Taken | null
): ReadonlyArray<Taken> => {
  const taken: Array<Taken> = []
  for (const thing of things) {
    if (taken.length === maxBatchLength || turn.draft.rowCount >= maxBatchRows) break
    const one = take(thing)
    if (one === null) break
    taken.push(one)
  }
  return taken
}
