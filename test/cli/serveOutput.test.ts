/**
 * A service whose output can't be written: a closed pipe, a full disk, a reader that does not read. The service
 * continues, counts the dropped lines, and reports their number once a reader reads again.
 */
import { afterAll, assert, describe, it, vi } from "@effect/vitest"
import { Redacted } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Writable } from "node:stream"
import { LineOutput, type LineStream } from "../../src/runtime/adapters/LineOutput.ts"
import { readPostmasterPid } from "../../src/runtime/adapters/postmasterPid.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { isDeep } from "../support/every.ts"
import { makeTestDatabase } from "../support/TestDatabase.ts"

const folder = Fs.mkdtempSync(join(tmpdir(), "brokerage-serve-output-"))
const bin = join(import.meta.dirname, "../../bin/brokerage.mjs")
const children: Array<ChildProcess> = []
afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
  Fs.rmSync(folder, { recursive: true, force: true })
})

const serve = (dataDir: string, stdout: number | "ignore", stderr: number, ...more: ReadonlyArray<string>) => {
  const args = [bin, "serve", "--sandbox", "--json", "--port", "0", "--data-dir", dataDir, ...more]
  const child = spawn(process.execPath, args, { stdio: ["ignore", stdout, stderr] })
  children.push(child)
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
  /** Without its ready line the service is found by the file that it writes. */
  const ready = () =>
    vi.waitFor(() => assert.isTrue(Fs.existsSync(join(dataDir, "service.json")) || child.exitCode !== null), 60_000)
  return { child, ended, ready }
}

const metricsOf = async (dataDir: string): Promise<string> => {
  const ran = await runRecorded(["metrics", "--data-dir", dataDir])
  assert.strictEqual(ran.status, 0, ran.stderr)
  return ran.stdout
}

/** The number of the service's log lines that could not be written. */
const droppedOf = (metrics: string): number =>
  Number(/brokerage_dropped_lines_total\{stream="stderr"\} ([0-9]+)\n/.exec(metrics)?.[1])

describe("a service whose output can't be written", () => {
  it("a full disk under both streams: the service works, counts the ready line as dropped, and stops cleanly", async () => {
    const database = await makeTestDatabase()
    const dataDir = join(folder, "full")
    const full = Fs.openSync("/dev/full", "w")
    try {
      const { child, ended, ready } = serve(dataDir, full, full, "--database-url", Redacted.value(database.url))
      await ready()
      const metrics = await metricsOf(dataDir)
      assert.include(metrics, 'brokerage_dropped_lines_total{stream="stdout"} 1\n')
      // The log would report the loss of the ready line, and has no room for that report either. A slow machine logs
      // further lines.
      assert.isAtLeast(droppedOf(metrics), 1)
      child.kill("SIGTERM")
      assert.strictEqual(await ended, 0)
    } finally {
      Fs.closeSync(full)
      await database.drop()
    }
  }, 120_000)

  it.runIf(isDeep)(
    "a pipe whose reader has ended: the service works, and the next reader gets the number of missing lines",
    async () => {
      const fifo = join(folder, "log")
      assert.strictEqual(spawnSync("mkfifo", [fifo]).status, 0)
      // Opened for reading and writing, so that neither end waits for the other.
      const both = Fs.openSync(fifo, Fs.constants.O_RDWR)
      const log = Fs.openSync(fifo, "w")
      const dataDir = join(folder, "closed")
      const { child, ended, ready } = serve(dataDir, "ignore", log)
      Fs.closeSync(log)
      Fs.closeSync(both)
      await ready()
      const cluster = join(dataDir, "postgres", "cluster")
      const postmaster = readPostmasterPid(cluster)?.pid ?? 0
      assert.isAbove(postmaster, 0)
      // The death of the database causes log lines: the database runs again after two lines.
      process.kill(postmaster, "SIGKILL")
      await vi.waitFor(async () => assert.isAtLeast(droppedOf(await metricsOf(dataDir)), 2), 60_000)
      assert.isNull(child.exitCode)
      const reader = Fs.createReadStream(fifo, "utf8")
      await new Promise((resolve) => reader.once("open", resolve))
      child.kill("SIGTERM")
      let text = ""
      for await (const chunk of reader) text += String(chunk)
      assert.strictEqual(await ended, 0)
      const [, notice, line] = text.split("\n")
      assert.match(notice ?? "", /level=WARN .*message="log lines could not be written" .*missing.*[0-9]/)
      assert.match(line ?? "", /message="the service stops: it finishes the accepted requests first"/)
    },
    120_000
  )
})

describe("LineOutput", () => {
  const notice = (missing: number) => `${missing} missing`

  it("lines that fail at the same moment are reported once, before the next written line", async () => {
    const taken: Array<string> = []
    let broken = true
    const stream: LineStream = {
      writableLength: 0,
      on: () => undefined,
      write: (text, done) => {
        if (!broken) taken.push(text)
        queueMicrotask(() => done(broken ? Object.assign(new Error("no room"), { code: "ENOSPC" }) : null))
      }
    }
    const output = new LineOutput(stream)
    const codes: Array<string> = []
    const heard = new Promise<void>((resolve) => {
      for (const line of ["one", "two"])
        output.write(line, notice, (code) => void (codes.push(code) === 2 && resolve()))
    })
    await heard
    assert.deepStrictEqual([output.dropped, codes[0]], [2, "ENOSPC"])
    broken = false
    output.write("three", notice)
    output.write("four", notice)
    assert.deepStrictEqual(taken, ["\n2 missing\nthree\n", "four\n"])
  })

  it("a reader that does not read loses lines beyond 1 MiB, and the service no memory", () => {
    const stream = new Writable({ write: () => undefined })
    const output = new LineOutput(stream)
    for (let line = 0; line < 5_000; line++) output.write("x".repeat(1_023), notice)
    assert.isAtMost(stream.writableLength, 1024 * 1024 + 1_024)
    assert.strictEqual(output.dropped, 5_000 - 1_025)
  })
})
