/** The checkpoint of the venue's events, as a port: an advance of the clock waits for them (C4). */
import { Context, type Effect } from "effect"

export class VenueProgress extends Context.Service<
  VenueProgress,
  {
    /** Completes when `isAt` is true for this number. */
    reached(number: number): Effect.Effect<void>
    /**
     * True if every event up to this number is committed or quarantined, and no account still has to be read again after a loss
     * of events.
     */
    isAt(number: number): boolean
  }
>()("brokerage/runtime/ports/VenueProgress") {}
