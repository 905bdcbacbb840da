/**
 * The simulated venue on a full disk (Bad input and faults). A start fails with a sentence and leaves no process
 * behind. A running venue refuses writes, logs it once, and recovers by itself.
 */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync, rmdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type LogDisk, realDisk } from "../../simulator/venue/log/LogDisk.ts"
import { restingOrder, runVenue, type TestVenue } from "./runningVenue.ts"

const folders: Array<string> = []
const running: Array<TestVenue> = []
afterEach(async () => {
  for (const venue of running.splice(0)) await venue.end()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "brokerage-venue-full-"))
  folders.push(made)
  return made
}
const start = async (directory: string, disk: LogDisk = realDisk): Promise<TestVenue> => {
  const venue = await runVenue({ directory, disk })
  running.push(venue)
  return venue
}
const full = { isFull: false }
const noRoom = (): Error => Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
/** A disk that is full while `full` returns true. */
const disk: LogDisk = {
  ...realDisk,
  open: async (path) => {
    const file = await realDisk.open(path)
    return { ...file, write: (at, bytes) => (full.isFull ? Promise.reject(noRoom()) : file.write(at, bytes)) }
  },
  replace: (path, lines) => (full.isFull ? Promise.reject(noRoom()) : realDisk.replace(path, lines))
}
const refusal = (directory: string): Promise<string> =>
  start(directory, disk).then(
    () => assert.fail("it started"),
    (error: Error) => error.message
  )

/** The output of a process that starts a venue and does not handle its end; completes when the process has ended. */
const startedElsewhere = (directory: string): Promise<string> => {
  const module = join(import.meta.dirname, "../../simulator/venue/server/VenueProcess.ts")
  const text = `
    const { startVenue } = await import(${JSON.stringify(module)})
    const options = { directory: ${JSON.stringify(directory)}, port: 0, seed: 7, markets: null, idleMillis: null, print() {} }
    await startVenue(options).then(() => console.log("started"), () => console.log("refused"))`
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], { stdio: ["ignore", "pipe", "inherit"] })
  let said = ""
  child.stdout.on("data", (piece: Buffer) => (said += piece.toString("utf8")))
  return new Promise((resolve) => child.once("close", () => resolve(said)))
}

describe("a start on a full disk", () => {
  it("without books, the start fails with a sentence, and succeeds once there is room", async () => {
    const directory = folder()
    full.isFull = true
    assert.strictEqual(
      await refusal(directory),
      `There is no room on the disk of ${directory} (ENOSPC: no space left on device, write): make some, and start again.`
    )
    full.isFull = false
    assert.isFalse(existsSync(join(directory, "begun.json")))
    await start(directory)
  })

  it("with books, the venue starts for reads, logs it, and accepts writes once there is room", async () => {
    const directory = folder()
    const venue = await start(directory, disk)
    await venue.client.ask("/venue/v1/accounts", { ref: "a1", account: "CL1" })
    await running.pop()?.end()
    full.isFull = true
    const again = await start(directory, disk)
    assert.strictEqual((await again.client.ask("/venue/v1/accounts/CL1")).status, 200)
    assert.strictEqual((await again.client.ask("/venue/v1/orders", restingOrder("f1"))).status, 503)
    assert.lengthOf(again.printed, 1)
    full.isFull = false
    assert.strictEqual((await again.client.ask("/venue/v1/orders", restingOrder("f1"))).json.outcome, "EXECUTED")
  })

  it("with books and an unchanged venue.json, the start writes nothing", async () => {
    const directory = folder()
    await start(directory)
    await running.pop()?.end()
    // The temporary file of venue.json can't be written.
    mkdirSync(join(directory, "venue.json.new"))
    const again = await start(directory)
    assert.strictEqual((await again.client.show()).seed, 7)
  })

  it("a start that fails after it listens leaves nothing that keeps its process alive", async () => {
    const directory = folder()
    // The temporary file of venue.json can't be written.
    mkdirSync(join(directory, "venue.json.new"))
    assert.strictEqual(await startedElsewhere(directory), "refused\n")
    rmdirSync(join(directory, "venue.json.new"))
    await start(directory)
  })
})

describe("a disk that fills while it runs", () => {
  it("writes are refused, reads continue, and one line is logged; with room the venue continues without the refused writes", async () => {
    const directory = folder()
    const venue = await start(directory, disk)
    const place = (ref: string) => venue.client.ask("/venue/v1/orders", restingOrder(ref))
    await venue.client.ask("/venue/v1/accounts", { ref: "a1", account: "CL1" })
    full.isFull = true
    for (const ref of ["f1", "f2", "f3"]) {
      const { status, json } = await place(ref)
      assert.deepInclude([status, json._tag], "VenueClosed")
      assert.strictEqual(status, 503)
    }
    assert.lengthOf((await venue.client.ask("/venue/v1/accounts/CL1")).json.orders, 0)
    full.isFull = false
    assert.strictEqual((await place("f4")).json.outcome, "EXECUTED")
    assert.deepStrictEqual(venue.printed, [
      "The venue's log can't be written: ENOSPC: no space left on device, write. What is to be written is refused.",
      "The venue's log can be written again."
    ])
    const { outcomes } = (await venue.client.ask("/venue/v1/lookups", { refs: ["f1", "f2", "f3", "f4"] })).json
    assert.deepStrictEqual(
      outcomes.map(({ outcome }: { readonly outcome: string }) => outcome),
      ["UNKNOWN", "UNKNOWN", "UNKNOWN", "EXECUTED"]
    )
  })
})
