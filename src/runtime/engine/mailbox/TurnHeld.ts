/**
 * Thrown inside a turn, by its stamp or its decision: while decisions for the partner are on hold (doc 3, Changing the custody
 * model), or while the turn reads rows that no mailbox holds. The turn keeps its place in the mailbox and is decided again after
 * `released`, which must not fail. The number of repeated decisions is bounded, because the partner may change for ever. It is
 * not bounded for a turn that `reads`: each read row stays available to it, and the turn may need as many rows as it decides on
 * (D15).
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
