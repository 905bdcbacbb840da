/**
 * The simulated venue as a process, as `serve --sandbox` runs it. Its messages go to stderr, which is a log file there. It
 * exits with 0 after a stop, and with 1 and a sentence if it can't run.
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

// Every sandbox starts a venue and waits for it. The launcher (bin/brokerage.mjs) shares this cache, so that a new directory
// starts fast.
enableCompileCache(join(import.meta.dirname, "../../node_modules/.cache/node-compile"))
await import(new URL("../../bin/resolveImports.mjs", import.meta.url).href)
const { startVenue } = await import("./server/VenueProcess.ts")

// The log file is on the disk of the books: on a full disk the venue continues without messages.
process.stderr.on("error", () => undefined)
const print = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`)
const signalled = new Promise<string>((resolve) => {
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
  print(`ending: ${await Promise.race([signalled, venue.wantsToEnd])}`)
  await venue.stop()
  process.exit(0)
} catch (error) {
  print(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
