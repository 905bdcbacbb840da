/** The location of a service's simulated venue, from its files, and its process. */
import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"

export interface VenueFile {
  readonly seat: string
  readonly url: string
  readonly keyFile: string
}

/** The file of the venue that a service on this data directory has started. */
export const venueFile = (dataDir: string): VenueFile =>
  JSON.parse(readFileSync(join(dataDir, "venue", "venue.json"), "utf8"))

/** The pid of the running simulator, which it reports at its address. */
export const venuePid = (dataDir: string): Promise<number> =>
  new Promise((resolve, reject) => {
    let text = ""
    const socket = connect(venueFile(dataDir).seat, () => socket.write("who\n"))
    socket.on("data", (piece: Buffer) => void (text += piece.toString("utf8")))
    socket.on("error", reject)
    socket.on("end", () => resolve((JSON.parse(text) as { readonly pid: number }).pid))
  })
