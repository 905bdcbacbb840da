/**
 * Cuts the next batch from the queue. A statement does not see its own writes, so a batch ends before a commit that must see an
 * earlier commit of the batch: one that claims or releases the same fact, touches the same subject, timer or venue call, or
 * follows a change of its partner. Commits, rows, and rows of internal commits of a batch are limited too.
 */
import type { DefectLog } from "../DefectLog.ts"
import { answerClaim, answerKeys, type Commit, rowsOf } from "./Commit.ts"
import { batchLimit, batchRowLimit, internalBatchRows, type Lane, type Outcome } from "./Journal.ts"

export interface Waiting {
  readonly commit: Commit
  readonly done: (outcome: Outcome) => void
  /** The origin of the commit; default: a caller. */
  readonly lane?: Lane | undefined
  /** Receives the errors that `done` throws. */
  readonly defects: DefectLog
  /** True once the commit has its outcome; later outcomes are ignored. */
  concluded?: boolean
}

/** Gives a commit its outcome, once. An error of the callback is a separate defect and affects no other commit. */
export const conclude = (waiting: Waiting, outcome: Outcome): void => {
  if (waiting.concluded === true) return
  waiting.concluded = true
  try {
    waiting.done(outcome)
  } catch (cause) {
    waiting.defects("the callback that answers a commit failed: the commit's outcome stays", cause)
  }
}

/** The second outcome of commits that were answered as unknown: they are committed, so the projections must receive them. */
export const concludeLate = (batch: ReadonlyArray<Waiting>): void => {
  for (const waiting of batch) {
    waiting.concluded = false
    conclude(waiting, { _tag: "Committed" })
  }
}

/** The facts that the commits of a batch touch. They decide whether one more commit may join. */
class BatchFacts {
  private count = 0
  private size = 0
  private internalSize = 0
  private readonly facts = new Set<string>()
  private readonly subjects = new Set<string>()
  private readonly partners = new Set<number>()

  /** Adds a commit to the batch if it fits. False: the commit has to wait for the next batch. */
  admit({ commit, lane }: Waiting): boolean {
    if (this.count === batchLimit) return false
    const { fence, partner, rows } = commit
    const own = rowsOf(commit)
    const size = this.size + own
    const internalSize = this.internalSize + (lane === "internal" ? own : 0)
    if (this.count > 0 && (size > batchRowLimit || internalSize > internalBatchRows)) return false
    if (fence !== null && this.subjects.has(fence.subject)) return false
    if (partner !== null && this.partners.has(partner.partnerId)) return false
    const { facts } = this
    const names = touched(commit)
    for (const name of names) if (facts.has(name)) return false
    for (const name of names) facts.add(name)
    if (fence !== null) this.subjects.add(fence.subject)
    for (const changed of rows.partners ?? []) this.partners.add(changed.id)
    this.count++
    this.size = size
    this.internalSize = internalSize
    return true
  }
}

/** Facts, timers and venue calls that no other commit of the same batch may touch. */
const touched = (commit: Commit): ReadonlyArray<string> => {
  const names = commit.claims.map((claim) => claim.name)
  for (const { principal, key } of answerKeys(commit)) names.push(answerClaim(principal, key))
  for (const name of commit.releases) names.push(name)
  for (const { subject, name } of commit.rows.timers ?? []) names.push(timerFact(subject, name))
  for (const { subject, name } of commit.clearedTimers) names.push(timerFact(subject, name))
  for (const { ref } of commit.rows.venueCalls ?? []) names.push(callFact(ref))
  for (const ref of commit.endedCalls) names.push(callFact(ref))
  return names
}

const timerFact = (subject: string, name: string): string => `timer\u0000${subject}\u0000${name}`

const callFact = (ref: string): string => `call\u0000${ref}`

/** Removes and returns the first commits of `queue` that may be written together (at least one). */
export const takeBatch = (queue: Array<Waiting>): ReadonlyArray<Waiting> => {
  const facts = new BatchFacts()
  let count = 0
  while (count < queue.length && facts.admit(queue[count] as Waiting)) count++
  return queue.splice(0, count)
}
