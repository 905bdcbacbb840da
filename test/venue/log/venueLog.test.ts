/**
 * The venue's log on a real disk (C1, Restart): replay, group commit, an end torn at every byte, a broken middle,
 * rotation, a failing disk.
 */
import { assert, describe, it } from "@effect/vitest"
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach } from "vitest"
import type { VenueInput } from "../../../simulator/venue/core/VenueInput.ts"
import { type LogDisk, type LogFile, realDisk } from "../../../simulator/venue/log/LogDisk.ts"
import { VenueLog, VenueLogError, type VenueLogOptions } from "../../../simulator/venue/log/VenueLog.ts"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import { startAt, venueOptions } from "../venueInputs.ts"

let directory = ""
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "venue-log-"))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** Appends inputs and plays them. */
const play = async (log: VenueLog, ...inputs: ReadonlyArray<VenueInput>): Promise<void> => {
  await log.append(inputs)
  log.play(inputs)
}

const open = (parts: Partial<VenueLogOptions> = {}, events: Array<VenueEvent> = []): Promise<VenueLog> =>
  VenueLog.open(
    { directory, venue: venueOptions(), ...parts },
    { event: (event) => void events.push(event), market: () => undefined }
  )

const account = (name: string): VenueInput => ({
  type: "call",
  name: "openAccount",
  request: { ref: `open-${name}`, account: name }
})
const order = (n: number): VenueInput => ({
  type: "call",
  name: "placeOrder",
  request: {
    ref: `O-${n}`,
    account: "CL-1",
    symbol: "BTC-USDC-PERP",
    side: "BUY",
    price: n % 2 === 0 ? null : "59000",
    qty: "0.01",
    tif: "GTC",
    reduceOnly: false,
    trigger: null,
    group: null
  }
})
const time = (seconds: number): VenueInput => ({ type: "time", to: startAt + seconds * 1_000 })

const state = ({ venue }: VenueLog): string => JSON.stringify(venue.state())

/** Appends inputs, each in a record of its own. */
const fill = async (log: VenueLog, count: number): Promise<void> => {
  await play(log, account("CL-1"))
  for (let n = 0; n < count; n++) {
    await play(log, order(n))
    await play(log, time(n * 10 + 10))
  }
}

const rejection = async (promise: Promise<unknown>): Promise<VenueLogError> => {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown
  )
  if (!(error instanceof VenueLogError)) throw new Error(`not refused: ${String(error)}`)
  return error
}

describe("the venue's log", () => {
  it("replays to the same state; its events are kept and not published again", async () => {
    const events: Array<VenueEvent> = []
    const first = await open({}, events)
    await fill(first, 5)
    await first.close()
    const heard: Array<VenueEvent> = []
    const second = await open({}, heard)
    assert.strictEqual(state(second), state(first))
    assert.isNotEmpty(events)
    assert.deepStrictEqual(second.venue.eventsAfter(0), events)
    assert.deepStrictEqual(heard, [])
    assert.isNull(second.cut)
    await play(second, order(99))
    assert.isNotEmpty(heard)
    await second.close()
  })

  it("inputs that arrive together are one record, and the time of the last record is known", async () => {
    let wall = 1_000
    const log = await open({ wall: () => wall })
    assert.isNull(log.writtenAt)
    await play(log, account("CL-1"), ...[0, 1, 2, 3].map(order), time(60))
    await log.close()
    const lines = (await readFile(join(directory, "inputs-0.log"), "utf8")).trimEnd().split("\n")
    assert.lengthOf(lines, 2)
    wall = 5_000
    const again = await open({ wall: () => wall })
    assert.strictEqual(again.writtenAt, 1_000)
    assert.strictEqual(state(again), state(log))
    await again.snapshot()
    await again.close()
    const third = await open()
    assert.strictEqual(third.writtenAt, 1_000)
    await third.close()
  })

  it("cut at every byte of its last record, it continues after the record before and reports the cut", async () => {
    const log = await open()
    await fill(log, 2)
    const before = state(log)
    const path = join(directory, "inputs-0.log")
    const whole = (await readFile(path)).length
    await play(log, order(50))
    await log.close()
    const bytes = await readFile(path)
    for (let length = whole; length < bytes.length; length++) {
      await writeFile(path, bytes.subarray(0, length))
      const again = await open()
      assert.strictEqual(state(again), before, `${length}`)
      assert.deepStrictEqual(again.cut, length === whole ? null : { file: path, bytes: length - whole })
      await again.close()
      assert.strictEqual((await readFile(path)).length, whole)
    }
  })

  it("a torn end of garbage is cut, and later records are read again", async () => {
    const log = await open()
    await fill(log, 1)
    await log.close()
    const path = join(directory, "inputs-0.log")
    await writeFile(path, Buffer.concat([await readFile(path), Buffer.from("00000000 [{\n\0\0\0\n")]))
    const again = await open()
    assert.deepStrictEqual(again.cut, { file: path, bytes: 16 })
    await play(again, order(7))
    await again.close()
    const third = await open()
    assert.strictEqual(state(third), state(again))
    await third.close()
  })

  it("a broken record before whole ones is an error that names the file and the record", async () => {
    const log = await open()
    await fill(log, 3)
    await log.close()
    const path = join(directory, "inputs-0.log")
    const lines = (await readFile(path, "utf8")).split("\n")
    lines[3] = lines[3]?.replace("time", "tide") ?? ""
    await writeFile(path, lines.join("\n"))
    const error = await rejection(open())
    assert.strictEqual(
      error.message,
      `${path}: record 4 is broken and whole ones follow it; the log can't be replayed.`
    )
  })

  it("a log torn in its first record starts again from the beginning", async () => {
    await (await open()).close()
    await truncate(join(directory, "inputs-0.log"), 20)
    const log = await open()
    assert.deepStrictEqual(log.cut, { file: join(directory, "inputs-0.log"), bytes: 20 })
    await fill(log, 1)
    await log.close()
    const again = await open()
    assert.strictEqual(state(again), state(log))
    await again.close()
  })

  it("a long segment is replaced by a snapshot; old segments are deleted, and the venue continues", async () => {
    const log = await open({ segmentBytes: 2_000 })
    await fill(log, 40)
    await log.close()
    const names = await readdir(directory)
    assert.strictEqual(names.length, 4, names.join(", "))
    assert.notInclude(names, "inputs-0.log")
    const again = await open({ segmentBytes: 2_000 })
    assert.strictEqual(state(again), state(log))
    await again.close()
  })

  it("the files of a crash during a rotation are removed", async () => {
    const log = await open()
    await fill(log, 2)
    await log.close()
    await writeFile(join(directory, "inputs-1.log"), "half")
    await writeFile(join(directory, "snapshot-1.json.new"), "half")
    const again = await open()
    assert.strictEqual(state(again), state(log))
    assert.deepStrictEqual(await readdir(directory), ["inputs-0.log"])
    await again.close()
  })

  it("inputs without the snapshot that they follow are refused", async () => {
    await writeFile(join(directory, "inputs-3.log"), "")
    assert.include((await rejection(open())).message, "inputs-0.log is missing")
  })

  it("options other than those of the first start are refused with a sentence; the time of the first start stays", async () => {
    await (await open()).close()
    const error = await rejection(open({ venue: venueOptions({ seed: 2, knobs: { takers: 0 } }) }))
    assert.strictEqual(
      error.message,
      `The venue in ${directory} was begun with other options (seed, knobs): give it those, or another directory.`
    )
    const later = await open({ venue: venueOptions({ startAt: startAt + 5 }) })
    assert.strictEqual(later.venue.options.startAt, startAt)
    await later.close()
  })

  it("accepts nothing after its end", async () => {
    const log = await open()
    await log.close()
    assert.strictEqual((await rejection(play(log, time(1)))).message, "The venue has ended.")
  })

  it("a snapshot on request leaves nothing to replay", async () => {
    const log = await open()
    await fill(log, 3)
    await log.snapshot()
    await log.close()
    assert.sameMembers(await readdir(directory), ["inputs-0.log", "snapshot-1.json", "inputs-1.log"])
    const again = await open()
    assert.strictEqual(state(again), state(log))
    await again.close()
  })
})

/** A disk with faults on demand: a failing write still writes half of its bytes. */
const failing = (fails: { write: boolean; cut: boolean; replace: boolean }): LogDisk => ({
  ...realDisk,
  open: async (path) => {
    const file = await realDisk.open(path)
    const failingFile: LogFile = {
      write: async (position, bytes) => {
        if (!fails.write) return file.write(position, bytes)
        await file.write(position, bytes.subarray(0, bytes.length / 2))
        throw new Error("no space left")
      },
      cut: (length) => (fails.cut ? Promise.reject(new Error("input/output error")) : file.cut(length)),
      close: () => file.close()
    }
    return failingFile
  },
  replace: (path, text) => (fails.replace ? Promise.reject(new Error("no space left")) : realDisk.replace(path, text))
})

describe("the venue's log on a disk that fails", () => {
  it("refuses an input that it can't write without playing it, and continues when the disk works again", async () => {
    const fails = { write: false, cut: false, replace: false }
    const log = await open({ disk: failing(fails) })
    await fill(log, 1)
    const before = state(log)
    fails.write = true
    const { message, certain } = await rejection(play(log, order(5), order(6)))
    assert.deepStrictEqual([message, certain], ["The venue's log can't be written: no space left.", true])
    assert.strictEqual(state(log), before)
    fails.write = false
    await play(log, order(7))
    await log.close()
    const again = await open()
    assert.isNull(again.cut)
    assert.strictEqual(state(again), state(log))
    assert.strictEqual(again.venue.lookup(["O-5"])[0]?.outcome, "UNKNOWN")
    await again.close()
  })

  it("reports an unknown outcome if the rest of a failed write can't be cut, and cuts it before the next write", async () => {
    const fails = { write: false, cut: false, replace: false }
    const log = await open({ disk: failing(fails) })
    await fill(log, 1)
    Object.assign(fails, { write: true, cut: true })
    assert.isFalse((await rejection(play(log, order(5)))).certain)
    fails.write = false
    assert.isFalse((await rejection(play(log, order(6)))).certain)
    fails.cut = false
    await play(log, order(7))
    await log.close()
    const again = await open()
    assert.strictEqual(state(again), state(log))
    await again.close()
  })

  it("an old file that can't be removed is logged; the venue continues, and the next snapshot removes it", async () => {
    const broken = { remove: true }
    const said: Array<string> = []
    const disk: LogDisk = {
      ...realDisk,
      remove: (path) => (broken.remove ? Promise.reject(new Error("input/output error")) : realDisk.remove(path))
    }
    const log = await open({ disk, print: (line) => void said.push(line) })
    await fill(log, 1)
    await log.snapshot()
    assert.deepStrictEqual(said, [])
    await play(log, order(5))
    await log.snapshot()
    assert.deepStrictEqual(said, [
      "What is older than the snapshot before this one can't be removed: input/output error."
    ])
    await play(log, order(6))
    broken.remove = false
    await log.snapshot()
    await log.close()
    assert.sameMembers(await readdir(directory), ["inputs-2.log", "snapshot-2.json", "inputs-3.log", "snapshot-3.json"])
    const again = await open()
    assert.strictEqual(state(again), state(log))
    await again.close()
  })

  it("the segment grows while no snapshot can be written", async () => {
    const fails = { write: false, cut: false, replace: true }
    const log = await open({ disk: failing(fails), segmentBytes: 1_000 })
    await fill(log, 20)
    assert.include(await readdir(directory), "inputs-0.log")
    fails.replace = false
    for (let n = 20; n < 40; n++) await play(log, order(n))
    await log.close()
    assert.notInclude(await readdir(directory), "inputs-0.log")
    const again = await open()
    assert.strictEqual(state(again), state(log))
    await again.close()
  })
})
