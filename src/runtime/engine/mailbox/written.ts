/**
 * The changes of one request, for its answer: only the facts that its commits wrote into the audit (operator surface, rules for
 * every command). The marker belongs to the request's fiber. Changes of its background work after the answer are not reported.
 */
import { Context, Fiber } from "effect"
import type { Commit } from "../journal/Commit.ts"

/** One audited fact: a state before and after, or a note. */
export interface Change {
  /** KIND:ID; null if the fact concerns no object. */
  readonly object: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
}

/** The most changes in an answer; further ones are left out. */
const mostChanges = 100

/** The facts that a commit writes into the audit. */
export const changesOf = (commit: Commit): ReadonlyArray<Change> =>
  (commit.rows.audit ?? []).map(({ object, action, before, after }) => ({ object, action, before, after }))

export class Written {
  private readonly changes: Array<Change> = []
  private answered = false

  add(commit: Commit): void {
    if (!this.answered) this.changes.push(...changesOf(commit).slice(0, mostChanges - this.changes.length))
  }

  /**
   * The collected changes in the order of their commits. Ends the collection, because later changes are no part of the answer.
   */
  answer(): ReadonlyArray<Change> {
    this.answered = true
    return this.changes
  }
}

/** The changes that the request collects; null if its answer does not list changes. */
export const CurrentWritten = Context.Reference<Written | null>("brokerage/runtime/engine/CurrentWritten", {
  defaultValue: () => null
})

/** The changes that the running fiber collects. Synchronous, because mailboxes read it on every command. */
export const currentWritten = (): Written | null => Fiber.getCurrent()?.getRef(CurrentWritten) ?? null
