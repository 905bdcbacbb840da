/** How far this service has taken the venue's events, as a port: a jump of the clock waits for them (C4). */
import { Context, type Effect } from "effect"

export class VenueProgress extends Context.Service<
  VenueProgress,
  {
    /** Done when every event up to this number is committed or set aside. */
    reached(number: number): Effect.Effect<void>
  }
>()("brokerage/runtime/ports/VenueProgress") {}
