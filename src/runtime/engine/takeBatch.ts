/**
 * Cuts the next batch from the queue. A batch ends before a commit that would claim or release the same fact as an
 * earlier one of it, touch the same subject or timer, or follow a change of its partner: those must see the earlier
 * commit first (one statement sees none of its own writes).
 */
import { Effect } from "effect"
import { claimNames, type Commit } from "./Commit.ts"
import { batchLimit, type Outcome } from "./Journal.ts"

export interface Waiting {
  readonly commit: Commit
  readonly done: (outcome: Outcome) => void
}

/** Commits that have their outcome: the first one told stands. */
const told = new WeakSet<Waiting>()

/** Gives a commit its outcome, once. A callback that throws is a defect of its own and harms nobody else's commit. */
export const tell = (waiting: Waiting, outcome: Outcome): void => {
  if (told.has(waiting)) return
  told.add(waiting)
  try {
    waiting.done(outcome)
  } catch (cause) {
    Effect.runFork(Effect.logError("the answer to a commit failed", cause))
  }
}

/** The second word to commits that were told "unknown": they are in, so the live views must have them. */
export const tellLate = (batch: ReadonlyArray<Waiting>): void => {
  for (const waiting of batch) {
    told.delete(waiting)
    tell(waiting, { _tag: "Committed" })
  }
}

/** Facts and timers that no other commit of the same batch may touch. */
const touched = (commit: Commit): ReadonlyArray<string> => [
  ...claimNames(commit),
  ...commit.releases,
  ...[...(commit.rows.timers ?? []), ...commit.clearedTimers].map(
    (timer) => `timer\u0000${timer.subject}\u0000${timer.name}`
  )
]

/** Removes and returns the first commits of `queue` that may be written together (at least one). */
export const takeBatch = (queue: Array<Waiting>): ReadonlyArray<Waiting> => {
  const facts = new Set<string>()
  const subjects = new Set<string>()
  const partners = new Set<number>()
  let count = 0
  for (const { commit } of queue) {
    if (count === batchLimit) break
    const subject = commit.fence?.subject
    if (subject !== undefined && subjects.has(subject)) break
    const names = touched(commit)
    if (names.some((name) => facts.has(name))) break
    if (commit.partner !== null && partners.has(commit.partner.partnerId)) break
    if (subject !== undefined) subjects.add(subject)
    for (const name of names) facts.add(name)
    for (const partner of commit.rows.partners ?? []) partners.add(partner.id)
    count++
  }
  return queue.splice(0, count)
}
