/** The venue of a service: simulated beside a sandbox, named by --venue-url, or none (operator surface, Service; C4). */
import { PgClient } from "@effect/sql-pg"
import { afterAll, afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runRecorded } from "../operator/operatorHarness.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { startChild } from "../venue/venueChild.ts"
import { VenueClient } from "../venue/venueClient.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-serve-venue-"))
const bin = join(import.meta.dirname, "../../bin/brokerage.mjs")
const hour = 3_600_000
const children: Array<ChildProcess> = []
let database: TestDatabase
let dataDir: string
let made = 0
beforeEach(async () => {
  database = await makeTestDatabase()
  dataDir = join(folder, `data-${++made}`)
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL")
  await database.drop()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Served {
  readonly child: ChildProcess
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly log: () => string
}

/** Runs the service until it is ready; rejects with its log if it ends before. */
const serve = (...args: ReadonlyArray<string>): Promise<Served> => {
  const given = ["--json", "--port", "0", "--data-dir", dataDir, "--database-url", Redacted.value(database.url)]
  const child = spawn(process.execPath, [bin, "serve", ...given, ...args], { stdio: ["ignore", "pipe", "pipe"] })
  children.push(child)
  let log = ""
  child.stderr.on("data", (piece: Buffer) => void (log += piece.toString("utf8")))
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once("close", (code, signal) => resolve(code ?? signal))
  )
  return new Promise((resolve, reject) => {
    child.stdout.once("data", () => resolve({ child, ended, log: () => log }))
    void ended.then((status) => reject(new Error(`ended (${status}): ${log}`)))
  })
}
const end = ({ child, ended }: Served, signal: NodeJS.Signals) => {
  child.kill(signal)
  return ended
}

/** The simulated venue of the data directory. */
const simulated = (): VenueClient => {
  const at = join(dataDir, "venue")
  const { url } = JSON.parse(readFileSync(join(at, "venue.json"), "utf8")) as { readonly url: string }
  return new VenueClient(url, readFileSync(join(at, "venue.key"), "utf8").trim())
}
const startedAt = async (): Promise<number> => (await simulated().show()).startedAt
const offset = async (): Promise<number> => {
  const ran = await runRecorded(["sim", "clock", "show", "--json", "--data-dir", dataDir])
  assert.strictEqual(ran.status, 0, ran.stderr)
  return ran.json.offsetMillis
}
const closeTo = (value: number, expected: number): void => assert.isBelow(Math.abs(value - expected), 60_000)

describe("a sandbox", () => {
  it("C4: finds its venue again after a kill -9 and ends it with itself; the clock that is behind moves to the other", async () => {
    const first = await serve("--sandbox")
    const began = await startedAt()
    assert.strictEqual(await end(first, "SIGKILL"), "SIGKILL")
    const venue = simulated()
    const { now } = (await venue.ask("/venue/v1/clock")).json
    await venue.command({ type: "advance", to: now + 3 * hour })
    const second = await serve("--sandbox")
    assert.include(second.log(), "the service adopted the running simulated venue")
    assert.strictEqual(await startedAt(), began)
    closeTo(await offset(), 3 * hour)
    assert.strictEqual(await end(second, "SIGTERM"), 0)
    await venue.show().then(
      () => assert.fail("the venue still runs"),
      (error: Error) => assert.include(error.message, "ECONNREFUSED")
    )
    // A venue with new books has the present time, not the advanced one.
    rmSync(join(dataDir, "venue"), { recursive: true })
    const third = await serve("--sandbox")
    closeTo((await simulated().ask("/venue/v1/clock")).json.now - Date.now(), 3 * hour)
    closeTo(await offset(), 3 * hour)
    await end(third, "SIGTERM")
  }, 60_000)
})

describe("--venue-url", () => {
  it("names another venue; an unavailable one is connected once it answers", async () => {
    const at = mkdtempSync(join(folder, "venue-"))
    const away = await startChild(at)
    const { now } = (await away.client.ask("/venue/v1/clock")).json
    await away.client.command({ type: "advance", to: now + 2 * hour })
    away.child.kill("SIGTERM")
    await away.ended
    const named = ["--venue-url", away.client.url, "--venue-key-file", join(at, "venue.key")]
    const service = await serve("--sandbox", ...named)
    assert.strictEqual(await offset(), 0)
    assert.include(service.log(), "the venue does not answer yet")
    assert.isFalse(existsSync(join(dataDir, "venue")))
    const back = await startChild(at)
    try {
      while ((await offset()) === 0) await back.client.ask("/venue/v1/clock")
      closeTo(await offset(), 2 * hour)
      assert.strictEqual(await end(service, "SIGTERM"), 0)
      // The service did not start this venue, and must not end it.
      assert.strictEqual((await back.client.ask("/venue/v1/clock")).status, 200)
    } finally {
      back.child.kill("SIGKILL")
      await back.ended
    }
  })
})

describe("outside a sandbox", () => {
  it("no venue is simulated, and open work at a venue stops a start without one", async () => {
    const first = await serve()
    assert.isFalse(existsSync(join(dataDir, "venue")))
    assert.strictEqual(await end(first, "SIGTERM"), 0)
    await Effect.runPromise(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) =>
          sql`INSERT INTO venue_calls (ref, partner_id, client_id, call, request, at)
            VALUES ('r1', 1, 1, 'placeOrder', '{}', 1)`
      ).pipe(Effect.provide(PgClient.layer({ url: database.url, maxConnections: 1 })))
    )
    const sentence = await serve().then(
      () => assert.fail("it started"),
      (error: Error) => error.message
    )
    assert.include(
      sentence,
      "This database has open work at a venue (1 calls in flight): name the venue with --venue-url."
    )
  })
})
