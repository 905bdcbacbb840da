/**
 * What one request has changed, for its answer: the facts that its commits wrote into the audit, no more (operator surface,
 * rules for every command). The mark belongs to the request's fiber; what that leaves running in the background is not told
 * any more once the answer is made.
 */
import { Context, Fiber } from "effect"
import type { Commit } from "../journal/Commit.ts"

/** One audited fact: a state before and after, or what was noted. */
export interface Change {
  /** KIND:ID; null for what is about no object. */
  readonly object: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
}

/** A request that changes more is answered with the first ones. */
const mostChanges = 100

/** The facts in a commit. */
export const changesOf = (commit: Commit): ReadonlyArray<Change> =>
  (commit.rows.audit ?? []).map(({ object, action, before, after }) => ({ object, action, before, after }))

export class Written {
  private readonly changes: Array<Change> = []
  private answered = false

  add(commit: Commit): void {
    if (!this.answered) this.changes.push(...changesOf(commit).slice(0, mostChanges - this.changes.length))
  }

  /** In the order of the commits. Nothing is added from now on. */
  answer(): ReadonlyArray<Change> {
    this.answered = true
    return this.changes
  }
}

/** Null for everything whose answer does not say what changed. */
export const CurrentWritten = Context.Reference<Written | null>("brokerage/runtime/engine/CurrentWritten", {
  defaultValue: () => null
})

/** Of the running fiber, asked without an effect: mailboxes ask it on every command. */
export const currentWritten = (): Written | null => Fiber.getCurrent()?.getRef(CurrentWritten) ?? null
