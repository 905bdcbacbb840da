/** The simulated venue as a process of its own, as in a sandbox, for tests that end it in every way. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { VenueClient } from "./venueClient.ts"

const main = join(import.meta.dirname, "../../simulator/venue/main.ts")

export interface VenueChild {
  readonly client: VenueClient
  readonly child: ChildProcess
  /** The text of its log so far. */
  readonly said: () => string
  /** The exit status, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
}

/** Starts the venue. Rejects with its log if it ends before it listens. */
export const startChild = (directory: string, ...args: ReadonlyArray<string>): Promise<VenueChild> => {
  const child = spawn(process.execPath, [main, "--data-dir", directory, ...args], {
    stdio: ["ignore", "ignore", "pipe"]
  })
  let text = ""
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once("close", (code, signal) => resolve(code ?? signal))
  )
  return new Promise((resolve, reject) => {
    child.stderr.on("data", (piece: Buffer) => {
      const isListening = text.includes("listening on")
      text += piece.toString("utf8")
      if (isListening) return
      const [, url] = /listening on (http\S+)\n/.exec(text) ?? []
      if (url === undefined) return
      const key = readFileSync(join(directory, "venue.key"), "utf8").trim()
      resolve({ client: new VenueClient(url, key), child, said: () => text, ended })
    })
    void ended.then((status) => reject(new Error(`ended (${status}): ${text}`)))
  })
}

/** Sends a signal to the venue and waits for its end. */
export const endChild = (venue: VenueChild, signal: NodeJS.Signals): VenueChild["ended"] => {
  venue.child.kill(signal)
  return venue.ended
}
