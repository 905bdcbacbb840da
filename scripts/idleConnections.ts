/**
 * Measures the cost of idle and slow connections. Starts the service, and measures reads and memory without such
 * connections. Then opens `--count` (10,000) of them, nine in ten kept alive and one in ten with endless headers, and
 * measures again. `node scripts/idleConnections.ts [--count N] [--reads N]`. Not part of the tests, because it needs a
 * quiet machine.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { Agent, request as httpsRequest } from "node:https"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { connect, type TLSSocket } from "node:tls"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: { count: { type: "string", default: "10000" }, reads: { type: "string", default: "5000" } }
})
const count = Number(values.count)
const reads = Number(values.reads)
/** Limit on concurrent reads. */
const lanes = 16
/** Limit on concurrent handshakes. */
const openers = 64

interface Target {
  readonly port: number
  readonly pid: number
  readonly ca: string
  readonly key: string
  readonly operatorKey: string
}

interface Figures {
  readonly p50: number
  readonly p99: number
  readonly worst: number
  readonly failed: number
  readonly residentMiB: number
}

const startService = (dataDir: string): Promise<{ readonly target: Target; readonly stop: () => Promise<void> }> =>
  new Promise((ready, failed) => {
    const program = join(resolve(import.meta.dirname, ".."), "bin", "brokerage.mjs")
    const args = ["serve", "--sandbox", "--demo", "--json", "--port", "0", "--data-dir", dataDir]
    const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "ignore"] })
    const ended = new Promise<void>((done) => child.once("exit", () => done()))
    child.once("exit", () => failed(new Error("the service did not start")))
    child.stdout.once("data", (line: Buffer) => {
      const { url, pid, caFile, operatorKeyFile } = JSON.parse(line.toString()) as {
        url: string
        pid: number
        caFile: string
        operatorKeyFile: string
      }
      const { key } = JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as { key: string }
      ready({
        target: {
          port: Number(new URL(url).port),
          pid,
          ca: readFileSync(caFile, "utf8"),
          key,
          operatorKey: readFileSync(operatorKeyFile, "utf8").trim()
        },
        stop: () => {
          child.kill("SIGTERM")
          return ended
        }
      })
    })
  })

/** Resident memory of the service's process, MiB. */
const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

const read = (agent: Agent, { port, key }: Target): Promise<boolean> =>
  new Promise((done) => {
    const headers = { authorization: `Bearer ${key}` }
    const request = httpsRequest({ agent, host: "127.0.0.1", port, path: "/partner/v1/me", headers }, (response) => {
      response.resume()
      response.once("end", () => done(response.statusCode === 200))
    })
    request.once("error", () => done(false))
    request.end()
  })

/** Raises the demo partner's rate limit. */
const liftLimits = ({ port, ca, operatorKey }: Target): Promise<void> =>
  new Promise((done, failed) => {
    const body = JSON.stringify({ read: 1_000_000, trade: 1_000_000 })
    const headers = { authorization: `Bearer ${operatorKey}`, "content-length": String(Buffer.byteLength(body)) }
    const path = "/operator/v1/partners/DEMO/limits"
    const request = httpsRequest({ ca, host: "127.0.0.1", port, path, headers, method: "POST" }, (response) => {
      response.resume()
      if (response.statusCode === 200) response.once("end", done)
      else failed(new Error(`the rate limit could not be set (${response.statusCode})`))
    })
    request.once("error", failed)
    request.end(body)
  })

const measure = async (target: Target): Promise<Figures> => {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes, ca: target.ca })
  const times: Array<number> = []
  let failed = 0
  let left = reads
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const from = performance.now()
      if (!(await read(agent, target))) failed++
      times.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  agent.destroy()
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), worst: at(1), failed, residentMiB: residentMiB(target.pid) }
}

/** Opens one connection that is kept alive, or whose headers never end; null if it was refused. */
const openOne = ({ port, ca }: Target, slow: boolean): Promise<TLSSocket | null> =>
  new Promise((done) => {
    const socket = connect({ host: "127.0.0.1", port, ca })
    socket.on("error", () => done(null))
    socket.once("secureConnect", () => {
      socket.write(slow ? "GET /nowhere HTTP/1.1\r\nX: " : "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
      if (slow) done(socket)
    })
    socket.once("data", () => done(socket))
  })

const openAll = async (target: Target): Promise<ReadonlyArray<TLSSocket>> => {
  const open: Array<TLSSocket> = []
  let next = 0
  const opener = async (): Promise<void> => {
    while (next < count) {
      const socket = await openOne(target, next++ % 10 === 0)
      if (socket !== null) open.push(socket)
    }
  }
  await Promise.all(Array.from({ length: openers }, opener))
  return open
}

const show = (name: string, { p50, p99, worst, failed, residentMiB: resident }: Figures): void =>
  console.log(
    `${name.padEnd(24)} p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, worst ${worst.toFixed(1)} ms, ` +
      `${failed} of ${reads} failed, ${resident.toFixed(0)} MiB`
  )

const folder = mkdtempSync(join(tmpdir(), "brokerage-idle-"))
const { target, stop } = await startService(folder)
try {
  await liftLimits(target)
  // The first run only warms up the code.
  await measure(target)
  const alone = await measure(target)
  show("no other connections", alone)
  const from = performance.now()
  const open = await openAll(target)
  console.log(`${open.length} of ${count} connections opened in ${((performance.now() - from) / 1000).toFixed(1)} s`)
  const beside = await measure(target)
  const alive = open.filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded).length
  show(`beside ${alive} of them`, beside)
  console.log(`${(((beside.residentMiB - alone.residentMiB) * 1024) / Math.max(1, open.length)).toFixed(1)} KiB each`)
  const closing = performance.now()
  await stop()
  console.log(`stopped in ${((performance.now() - closing) / 1000).toFixed(1)} s`)
  for (const socket of open) socket.destroy()
} finally {
  await stop()
  rmSync(folder, { recursive: true, force: true })
}
