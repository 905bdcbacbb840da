/**
 * The progress of the venue's events, as a port: an advance of the clock waits for all of them (C4), a comparison for those of
 * its account (A2-103).
 */
import { Context, type Effect } from "effect"
import type { DispatchError } from "../engine/mailbox/ActorHost.ts"
import type { VenueUnanswered } from "./Venue.ts"

export class VenueProgress extends Context.Service<
  VenueProgress,
  {
    /** Waits until `isAt` is true for the number of an event. */
    reached(number: number): Effect.Effect<void>
    /**
     * True if every event up to this number is committed or quarantined, and no account still has to be read again after a loss
     * of events.
     */
    isAt(number: number): boolean
    /**
     * Reads the events of an account up to the sequence `to` that the service has not applied, and applies them. Returns the
     * sequence up to which each event is applied, quarantined or recorded as lost; 0 for an account without a client.
     */
    readAccount(account: string, to: number): Effect.Effect<number, DispatchError | VenueUnanswered>
  }
>()("brokerage/runtime/ports/VenueProgress") {}
