/**
 * Things of one client that are decided in one turn and one commit: events of its account, ends of its calls. A fold ends well
 * below what a commit may hold, and one that can't be written is decided one by one, so that a bad one spoils no other.
 */
import type { Turn } from "../../engine/mailbox/ActorHost.ts"

/** Rows of a commit from which on nothing more joins it (a commit holds 4,096, what is settled of one contract some twenty). */
export const foldRows = 1_024
/** Things in one fold at the most. */
export const foldLength = 64

/** Takes things in their order in one turn until the fold is full or one has to wait (null); what became of each taken. */
export const foldIn = <Thing, Taken>(
  turn: Turn,
  things: ReadonlyArray<Thing>,
  take: (thing: Thing) => Taken | null
): ReadonlyArray<Taken> => {
  const taken: Array<Taken> = []
  for (const thing of things) {
    if (taken.length === foldLength || turn.draft.rowCount >= foldRows) break
    const one = take(thing)
    if (one === null) break
    taken.push(one)
  }
  return taken
}
