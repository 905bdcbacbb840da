/**
 * Where what a venue said and nobody can believe is set aside, as a port: unreadable, off the grid, beyond its limits, too
 * far ahead, or of something unknown (A2-115). It is counted and alarmed there, and never applied.
 */
import { Context, type Effect } from "effect"

export class Quarantine extends Context.Service<
  Quarantine,
  {
    /** Sets the bytes aside as they came, with a sentence that says why. Never fails: what can't be kept is logged. */
    add(bytes: string, reason: string): Effect.Effect<void>
  }
>()("brokerage/runtime/ports/Quarantine") {}
