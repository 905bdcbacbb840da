/** Encodes lines of the venue's streams. */
import { type VenueHeartbeat, venueStreamVersion } from "../../../src/machines/venue/VenueEvent.ts"
import type { Venue } from "../core/Venue.ts"

export const encoded = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`)

/** The first half of a line, as after a broken transfer. */
export const broken = (line: Buffer): Buffer =>
  Buffer.concat([line.subarray(0, Math.ceil(line.length / 2)), Buffer.from("\n")])

/** A heartbeat with the venue's position: the first line of each stream, then one a second. */
export const heartbeatLine = ({ number, now }: Pick<Venue, "number" | "now">): Buffer => {
  const heartbeat: VenueHeartbeat = { heartbeat: true, version: venueStreamVersion, number, at: now }
  return encoded(heartbeat)
}
