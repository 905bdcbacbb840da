/** The simulated venue of a running service: its address, its key, its process. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { requestSeat } from "../src/runtime/adapters/requestSeat.ts"
import type { VenueAddress } from "./reference/VenueSide.ts"

export interface VenueSeat extends VenueAddress {
  readonly pid: number
}

export const venueSeat = async (dataDirectory: string): Promise<VenueSeat> => {
  const file = JSON.parse(readFileSync(join(dataDirectory, "venue", "venue.json"), "utf8")) as {
    readonly seat: string
    readonly keyFile: string
  }
  const venueKey = readFileSync(file.keyFile, "utf8").trim()
  const seated = await Effect.runPromise(requestSeat(file.seat, venueKey))
  if (typeof seated === "string") throw new Error(`the venue's seat: ${seated}`)
  return { venueUrl: seated.url, venueKey, pid: seated.pid }
}
