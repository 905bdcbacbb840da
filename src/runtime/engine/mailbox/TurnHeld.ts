/**
 * Thrown inside a turn that can't be decided yet: decisions for the partner are on hold (doc 3, Changing the custody model), or
 * the turn needs rows that no mailbox holds. The turn keeps its place in the mailbox and is decided again after `released`,
 * which must not fail. The number of repeated decisions is limited, because the partner or the subject may change for ever.
 * With `reads` there is no limit: each row stays available to the turn once it is read, and the turn may need as many rows as
 * it decides on (D15).
 */
import type { Effect } from "effect"

export class TurnHeld extends Error {
  readonly released: Effect.Effect<void>
  readonly reads: boolean

  constructor(released: Effect.Effect<void>, reads = false) {
    super("the turn is held")
    this.released = released
    this.reads = reads
  }
}
