/**
 * The quarantine of messages of the venue that can't be accepted, as a port: unreadable, off the grid, beyond its limits, too far
 * in the future, or about unknown objects. Its messages are counted and alarmed, and never applied (A2-115).
 */
import { Context, type Effect } from "effect"

export class Quarantine extends Context.Service<
  Quarantine,
  {
    /** Stores the received bytes with a sentence of the reason. Never fails: a message that can't be stored is logged. */
    add(bytes: string, reason: string): Effect.Effect<void>
  }
>()("brokerage/runtime/ports/Quarantine") {}
