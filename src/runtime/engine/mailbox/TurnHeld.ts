/**
 * Thrown inside a turn, by its stamp or its decision, while nothing may be decided for the partner (doc 3, Changing
 * the custody model; D15), or while the turn reads what no mailbox holds. The turn keeps its place in the mailbox and is
 * decided once it is released; `released` must not fail. How often a turn is decided again is bounded, because what it waits for
 * may move for ever; not for one that `reads`: it has what it read from then on, and may need as many rows as it decides on.
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
