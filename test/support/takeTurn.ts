/** A turn on a store in memory, as the host takes one: again when it has read what it lacked, and committed if it wrote anything. */
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
  /** What each try of the turn is given. */
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
