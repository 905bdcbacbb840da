/**
 * The simulated venue as a process of its own: `serve --sandbox` runs it so. What it has to say goes to stderr, which is its
 * log file there; it ends with 0 when it was asked to, and with 1 and a sentence when it can't run.
 */
import { enableCompileCache } from "node:module"
import { join } from "node:path"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: {
    "data-dir": { type: "string" },
    port: { type: "string", default: "0" },
    seed: { type: "string" },
    "idle-millis": { type: "string" }
  }
})
const directory = values["data-dir"]
if (directory === undefined) throw new Error("--data-dir is needed.")

// Every sandbox starts a venue and waits for it. The cache is the launcher's (bin/brokerage.mjs): a new directory starts warm.
enableCompileCache(join(import.meta.dirname, "../../node_modules/.cache/node-compile"))
const { startVenue } = await import("./server/VenueProcess.ts")

// Its log file lies on the disk of its books: on one that is full it goes on without words.
process.stderr.on("error", () => undefined)
const print = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`)
const asked = new Promise<string>((resolve) => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve(signal))
})

try {
  const venue = await startVenue({
    directory,
    port: Number(values.port),
    seed: values.seed === undefined ? null : Number(values.seed),
    markets: null,
    idleMillis: values["idle-millis"] === undefined ? null : Number(values["idle-millis"]),
    print
  })
  print(`listening on ${venue.url}`)
  print(`ending: ${await Promise.race([asked, venue.wantsToEnd])}`)
  await venue.stop()
  process.exit(0)
} catch (error) {
  print(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
