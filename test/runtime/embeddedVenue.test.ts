/** The simulated venue of a sandbox as the service runs it: started, adopted, supervised, stopped (C1, Restart). */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { queryVenue } from "../../src/runtime/adapters/queryVenue.ts"
import { EmbeddedVenue } from "../../src/runtime/adapters/EmbeddedVenue.ts"
import { isRunning } from "../../src/runtime/adapters/postmasterPid.ts"
import { isDeep } from "../support/every.ts"
import { expectLog } from "../support/expectLog.ts"
import { restingOrder } from "../venue/runningVenue.ts"
import { startChild } from "../venue/venueChild.ts"

const folders: Array<string> = []
const servers: Array<Server> = []
afterAll(() => {
  for (const server of servers) server.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "brokerage-embedded-venue-"))
  folders.push(made)
  return made
}
const until = (holds: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (!(yield* holds)) yield* Effect.sleep("20 millis")
  })

describe("the embedded venue", () => {
  it.live("is started, is restarted on its port with its books when it dies, and ends with the scope", () =>
    Effect.gen(function* () {
      expectLog(/the simulated venue (ended unexpectedly|runs again)/)
      const directory = folder()
      const last = yield* Effect.scoped(
        Effect.gen(function* () {
          const venue = yield* EmbeddedVenue.start({ dataDirectory: directory })
          const first = yield* venue.pid
          const ask = (path: string, body?: unknown) =>
            queryVenue(venue.connection, path, { timeoutMillis: 5_000, ...(body === undefined ? {} : { body }) })
          assert.match(Redacted.value(venue.connection.key), /^vk_/)
          yield* ask("/venue/v1/accounts", { ref: "a1", account: "CL1" })
          yield* ask("/venue/v1/orders", restingOrder("o1"))
          process.kill(first, "SIGKILL")
          yield* until(Effect.isSuccess(ask("/venue/v1/clock")))
          const second = yield* venue.pid
          assert.notStrictEqual(second, first)
          const { orders } = (yield* ask("/venue/v1/accounts/CL1")) as { readonly orders: ReadonlyArray<unknown> }
          assert.lengthOf(orders, 1)
          return second
        })
      )
      assert.isFalse(isRunning(last))
    })
  )

  it.live("adopts a venue that survived its service, and stops it", () =>
    Effect.gen(function* () {
      expectLog(/the service adopted the running simulated venue/)
      const directory = folder()
      const survivor = yield* Effect.promise(() => startChild(directory))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const venue = yield* EmbeddedVenue.start({ dataDirectory: directory })
          assert.strictEqual(yield* venue.pid, survivor.child.pid)
          assert.deepStrictEqual(
            [venue.connection.url, Redacted.value(venue.connection.key)],
            [survivor.client.url, survivor.client.key]
          )
          yield* venue.stop
        })
      )
      assert.strictEqual(yield* Effect.promise(() => survivor.ended), 0)
    })
  )

  it.live("states why it does not start", () =>
    Effect.gen(function* () {
      const directory = folder()
      writeFileSync(join(directory, "venue.key"), "", { mode: 0o600 })
      const error = yield* Effect.flip(Effect.scoped(EmbeddedVenue.start({ dataDirectory: directory })))
      assert.match(error.message, /^The simulated venue does not start: .*venue\.key is empty/)
    })
  )
})

/** Whether a process runs on a directory. */
const isUsed = (directory: string): boolean =>
  readdirSync("/proc").some((entry) => {
    if (!/^\d+$/.test(entry) || !isRunning(Number(entry))) return false
    try {
      return readFileSync(`/proc/${entry}/cmdline`, "utf8").includes(`\0${directory}\0`)
    } catch {
      return false // The process has ended in the meantime.
    }
  })

/** A folder whose simulator ran and ended, and the path of its seat. */
const leftFolder = Effect.gen(function* () {
  const directory = folder()
  const child = yield* Effect.promise(() => startChild(directory))
  child.child.kill("SIGTERM")
  yield* Effect.promise(() => child.ended)
  const { seat } = JSON.parse(readFileSync(join(directory, "venue.json"), "utf8")) as { readonly seat: string }
  return { directory, seat }
})

/** Concurrent, because almost all of their time is the wait for a start. */
describe.concurrent("a simulated venue that neither becomes ready nor ends", () => {
  it.live("is ended after a bounded time, and the start fails with a sentence", () =>
    Effect.gen(function* () {
      const directory = folder()
      execFileSync("mkfifo", ["-m", "600", join(directory, "venue.key")])
      const error = yield* Effect.flip(
        Effect.scoped(EmbeddedVenue.start({ dataDirectory: directory, startMillis: 3_000 }))
      )
      assert.match(
        error.message,
        /^The simulated venue does not start: .* nor ended within 3 s\. Its log is .*venue\.log\.$/
      )
      assert.isFalse(isUsed(directory))
    })
  )

  it.live.runIf(isDeep)(
    "is started again while supervised, and each attempt is logged",
    ({ onTestFinished }) =>
      Effect.gen(function* () {
        expectLog(/nor ended within 12 s/, onTestFinished)
        expectLog(/the simulated venue (ended unexpectedly|runs again)/, onTestFinished)
        const directory = folder()
        const [begun, kept] = [join(directory, "begun.json"), join(directory, "kept.json")]
        yield* Effect.scoped(
          Effect.gen(function* () {
            const venue = yield* EmbeddedVenue.start({ dataDirectory: directory, startMillis: 12_000 })
            const ask = queryVenue(venue.connection, "/venue/v1/clock", { timeoutMillis: 5_000 })
            const first = yield* venue.pid
            renameSync(begun, kept)
            execFileSync("mkfifo", [begun])
            process.kill(first, "SIGKILL")
            yield* until(Effect.map(venue.pid, (pid) => pid !== first && pid !== 0))
            const second = yield* venue.pid
            yield* until(Effect.sync(() => !isRunning(second)))
            renameSync(kept, begun)
            yield* until(Effect.isSuccess(ask))
          })
        )
        assert.isFalse(isUsed(directory))
      }),
    120_000
  )

  it.live.runIf(isDeep)("a silent program on its socket gets as long as a start may take", () =>
    Effect.gen(function* () {
      const { directory, seat } = yield* leftFolder
      servers.push(createServer((socket) => void socket.on("error", () => undefined)).listen(seat))
      const error = yield* Effect.flip(
        Effect.scoped(EmbeddedVenue.start({ dataDirectory: directory, startMillis: 1_500 }))
      )
      assert.match(error.message, /^Whoever holds the socket/)
    })
  )
})

describe("the socket of an embedded venue", () => {
  it.live("a program on the socket that does not prove itself by the key is refused, and receives nothing", () =>
    Effect.gen(function* () {
      const { directory, seat } = yield* leftFolder
      const asked: Array<string> = []
      const web = createServer((socket) => void socket.on("data", (piece) => asked.push(piece.toString("utf8"))))
      servers.push(web.listen(0, "127.0.0.1"))
      yield* Effect.promise(() => once(web, "listening"))
      const { port } = web.address() as { readonly port: number }
      const seen: Array<string> = []
      const holder = { pid: process.pid, url: `http://127.0.0.1:${port}`, version: 1, proof: "0".repeat(64) }
      const impostor = createServer((socket) => {
        socket.on("error", () => undefined)
        socket.on("data", (piece) => {
          seen.push(piece.toString("utf8"))
          socket.end(JSON.stringify(holder))
        })
      })
      servers.push(impostor.listen(seat))
      const error = yield* Effect.flip(Effect.scoped(EmbeddedVenue.start({ dataDirectory: directory })))
      assert.match(
        error.message,
        /^Another program holds the socket @\S+ of the simulated venue in .* by the key there: end it/
      )
      const key = readFileSync(join(directory, "venue.key"), "utf8").trim()
      assert.isFalse(seen.some((text) => text.includes(key)))
      assert.deepStrictEqual(asked, [])
    })
  )

  it.live("a simulator of another version is ended, and one of this version is started", () =>
    Effect.gen(function* () {
      expectLog(/the service ends a simulated venue that it can't use/)
      const { directory } = yield* leftFolder
      const seatModule = pathToFileURL(join(import.meta.dirname, "../../simulator/venue/server/seat.ts")).href
      const program = `
        import { readFileSync } from "node:fs"
        const { takeSeat } = await import(${JSON.stringify(seatModule)})
        const seat = await takeSeat(${JSON.stringify(directory)})
        const key = readFileSync(${JSON.stringify(join(directory, "venue.key"))}, "utf8").trim()
        seat.announce({ pid: process.pid, url: "http://127.0.0.1:9", version: 99 }, key)
        setInterval(() => {}, 1_000)
        process.stdout.write("seated")`
      const older = spawn(process.execPath, ["--input-type=module", "-e", program], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      const ended = once(older, "close")
      yield* Effect.promise(() => once(older.stdout, "data"))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const venue = yield* EmbeddedVenue.start({ dataDirectory: directory })
          assert.deepStrictEqual(yield* Effect.promise(() => ended), [null, "SIGTERM"])
          assert.notStrictEqual(yield* venue.pid, older.pid)
          yield* queryVenue(venue.connection, "/venue/v1/clock", { timeoutMillis: 5_000 })
        })
      )
    })
  )
})
