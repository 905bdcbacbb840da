/**
 * Cuts the next batch from the queue. A batch ends before a commit that would claim the same fact as an earlier one
 * of it, touch the same subject, or follow a change of its partner: those must see the earlier commit first.
 */
import { claimNames, type Commit } from "./Commit.ts"
import { batchLimit, type Outcome } from "./Journal.ts"

export interface Waiting {
  readonly commit: Commit
  readonly done: (outcome: Outcome) => void
}

/** Removes and returns the first commits of `queue` that may be written together (at least one). */
export const takeBatch = (queue: Array<Waiting>): ReadonlyArray<Waiting> => {
  const claims = new Set<string>()
  const subjects = new Set<string>()
  const partners = new Set<number>()
  let count = 0
  for (const { commit } of queue) {
    if (count === batchLimit) break
    const subject = commit.fence?.subject
    if (subject !== undefined && subjects.has(subject)) break
    const names = claimNames(commit)
    if (names.some((name) => claims.has(name))) break
    if (commit.partner !== null && partners.has(commit.partner.partnerId)) break
    if (subject !== undefined) subjects.add(subject)
    for (const name of names) claims.add(name)
    for (const partner of commit.rows.partners ?? []) partners.add(partner.id)
    count++
  }
  return queue.splice(0, count)
}
