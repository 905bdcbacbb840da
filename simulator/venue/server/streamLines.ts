/** Lines of the venue's streams as bytes. */
import { type VenueHeartbeat, venueStreamVersion } from "../../../src/machines/venue/VenueEvent.ts"
import type { Venue } from "../core/Venue.ts"

export const encoded = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`)

/** The first half of a line, as one that was cut on its way. */
export const broken = (line: Buffer): Buffer =>
  Buffer.concat([line.subarray(0, Math.ceil(line.length / 2)), Buffer.from("\n")])

/** That the venue lives, and how far it is: the first line of each stream, and one every second. */
export const heartbeatLine = ({ number, now }: Pick<Venue, "number" | "now">): Buffer => {
  const heartbeat: VenueHeartbeat = { heartbeat: true, version: venueStreamVersion, number, at: now }
  return encoded(heartbeat)
}
