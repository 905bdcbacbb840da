/**
 * Thrown inside a turn, by its stamp or its decision, while nothing may be decided for the partner (doc 3, Changing
 * the custody model; D15), or while the turn reads what no mailbox holds. The turn keeps its place in the mailbox and is
 * decided once it is released; `released` must not fail.
 */
import type { Effect } from "effect"

export class TurnHeld extends Error {
  readonly released: Effect.Effect<void>

  constructor(released: Effect.Effect<void>) {
    super("the turn is held")
    this.released = released
  }
}
