/**
 * Runs a turn on a store in memory as the host does: a turn that lacked a read is repeated after the read, and one that
 * wrote rows is committed.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { CommitBuilder } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { Turn } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../src/runtime/engine/mailbox/SubjectState.ts"
import { TurnHeld } from "../../src/runtime/engine/mailbox/TurnHeld.ts"

export interface TurnTaker {
  readonly store: MemoryStore
  readonly state: SubjectState
  readonly subject: string
  /** The input of each attempt of the turn. */
  readonly given: () => Pick<Turn, "now" | "facts" | "by" | "nextId">
}

export const takeTurn = ({ store, state, subject, given }: TurnTaker, decide: (turn: Turn) => void): void => {
  for (;;) {
    const turn: Turn = { ...given(), state, draft: new CommitBuilder() }
    try {
      decide(turn)
    } catch (error) {
      if (!(error instanceof TurnHeld)) throw error
      Effect.runSync(error.released)
      continue
    }
    if (turn.draft.isEmpty) return
    const commit = turn.draft.build({ subject, expected: state.token }, null)
    assert.deepStrictEqual(store.apply(commit), { _tag: "Committed" })
    return state.adopt(commit)
  }
}
