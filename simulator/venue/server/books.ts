/** The books of a directory: the venue as its log has it, and the log to go on with. */
import type { Venue, VenueListeners } from "../core/Venue.ts"
import type { InputLog } from "./VenueWriter.ts"

export interface Books {
  readonly venue: Venue
  readonly log: InputLog
  /** What business time was ahead of wall time when the log was last written, ms. */
  readonly offset: number
  readonly tickMillis: number
  /** Keeps a snapshot and lets the log go. */
  readonly close: () => Promise<void>
}

export declare const openBooks: (
  directory: string,
  seed: number | null,
  print: (line: string) => void,
  listeners: VenueListeners
) => Promise<Books>
