/**
 * Batches of one client's items that share a turn and a commit: events of its account, outcomes of its calls. A batch stays well
 * below the size limit of a commit. Items of a batch that can't be written are decided one by one, so that a bad one affects no
 * other.
 */
import type { Turn } from "../../engine/mailbox/ActorHost.ts"

/** The rows of a commit at which a batch ends. A commit holds 4,096 rows; a contract's settlement takes about 20. */
export const maxBatchRows = 1_024
/** The most items of a batch. */
export const maxBatchLength = 64

/** Applies items in order in one turn, until the batch is full or an item has to wait (null). Returns the results. */
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
