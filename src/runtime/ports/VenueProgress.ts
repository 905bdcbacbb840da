/** How far this service has taken the venue's events, as a port: a jump of the clock waits for them (C4). */
import { Context, type Effect } from "effect"

export class VenueProgress extends Context.Service<
  VenueProgress,
  {
    /** Done when `isAt` is true of this number. */
    reached(number: number): Effect.Effect<void>
    /** Every event up to this number is committed or set aside, and after a loss of events every account is read again. */
    isAt(number: number): boolean
  }
>()("brokerage/runtime/ports/VenueProgress") {}
