/**
 * Venue calls of the real service against the real simulated venue, with kill -9 of one of them or both while calls are
 * in flight and answers are lost. Each probe's order is executed at most once, and in the end both sides report the
 * same outcome (architecture, Engine: venue calls; D6, A2-26).
 */
import { afterAll, afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import type { VenueOutcome } from "../../src/machines/venue/venueCalls.ts"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { runVenue } from "../venue/runningVenue.ts"
import { callsOfClient } from "../../src/runtime/services/venue/CallLanes.ts"
import type { VenueClient } from "../venue/venueClient.ts"
import { venueSide } from "./venueSide.ts"

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000)
const rounds = 8
const folder = mkdtempSync(join(tmpdir(), "brokerage-venue-crash-"))
const dataDir = join(folder, "data")
const { pid: venuePid, together, client: venueClient } = venueSide(dataDir)

let database: TestDatabase
const open: Array<RealService> = []

const start = async (directory = dataDir, venue?: { readonly url: string; readonly keyFile: string }) => {
  const service = await startRealService({
    dataDir: directory,
    databaseUrl: Redacted.value(database.url),
    ...(venue === undefined ? {} : { venue })
  })
  open.push(service)
  return service
}

beforeEach(async () => {
  database = await makeTestDatabase()
})
afterEach(async () => {
  for (const service of open.splice(0)) await service.stop()
  await database.drop()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const wait = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

interface Client {
  readonly id: number
  readonly uid: string
}

const newClient = async (service: RealService, code: string): Promise<Client> => {
  const key = await service.partner(code)
  const data = dataOf(await service.call(key, "POST", "/clients", sampleOnboarding(1, code, Date.now())))
  return { id: data.clientId, uid: data.clientUid }
}

/** States of a client's probes by id. */
const probesOf = async ({ id }: Client): Promise<ReadonlyMap<number, string>> => {
  const rows = await Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, (sql) =>
      sql.unsafe<{ readonly id: bigint; readonly state: string }>(
        "SELECT id, state FROM venue_probes WHERE client_id = $1 ORDER BY id",
        [BigInt(id)]
      )
    ).pipe(Effect.provide(PgClient.layer({ url: database.url, maxConnections: 1 }), { local: true }))
  )
  return new Map(rows.map((row) => [Number(row.id), row.state]))
}

/** The result of `probesOf`, once no probe is in flight. */
const ended = (client: Client): Promise<ReadonlyMap<number, string>> =>
  vi.waitFor(
    async () => {
      const states = await probesOf(client)
      assert.notInclude([...states.values()], "IN_FLIGHT")
      return states
    },
    { timeout: 60_000, interval: 250 }
  )

/** The name of the database at its venue, with which its refs and accounts begin. */
const nameThere = (): Promise<string> =>
  Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, (sql) =>
      sql.unsafe<{ readonly venue_name: string }>("SELECT venue_name FROM service_stamp")
    ).pipe(
      Effect.map(([stamp]) => stamp?.venue_name ?? ""),
      Effect.provide(PgClient.layer({ url: database.url, maxConnections: 1 }), { local: true })
    )
  )

/** Compares the venue's orders with the service's probes. */
const hold = async (venue: VenueClient, { uid }: Client, states: ReadonlyMap<number, string>): Promise<void> => {
  const name = await nameThere()
  const refs = [...states.keys()].map((id) => `${name}:P-${id}`)
  const answer = await venue.ask("/venue/v1/lookups", { refs })
  const outcomes = answer.json.outcomes as ReadonlyArray<VenueOutcome>
  const found = await venue.ask(`/venue/v1/accounts/${name}:${uid}/events?after=0`)
  const events = (found.status === 200 ? found.json.events : []) as ReadonlyArray<VenueEvent>
  const orders = new Map<string, Set<number>>()
  for (const { fact } of events) {
    if (fact.type !== "order" || fact.order.ref === null) continue
    orders.set(fact.order.ref, (orders.get(fact.order.ref) ?? new Set()).add(fact.order.id))
  }
  for (const [index, [id, state]] of [...states].entries()) {
    assert.strictEqual(outcomes[index]?.outcome, state, `probe ${id}, seed ${seed}`)
    assert.strictEqual(
      orders.get(`${name}:P-${id}`)?.size ?? 0,
      state === "EXECUTED" ? 1 : 0,
      `probe ${id}, seed ${seed}`
    )
  }
}

describe("venue calls over crashes", () => {
  it("A2-26: each call is executed once and has the same outcome on both sides", { timeout: 300_000 }, async () => {
    const random = new SeededRandom(seed)
    let service = await start()
    await together(service)
    const client = await newClient(service, "CRASH")
    for (let round = 0; round < rounds; round++) {
      const kind = random.pick(["timeout-after", "timeout-before", "reset", "http-500", null] as const)
      if (kind !== null) await service.done("sim", "venue", "fault", kind, "--route", "order", "--times", "3")
      // A kill of either process may lose their answers.
      const probing = Promise.allSettled(
        [1, 2].map(() => service.cli("sim", "venue", "probe", client.uid, "--calls", "6"))
      )
      await wait(random.between(0, 1_200))
      const victim = random.pick(["service", "venue", "both"] as const)
      if (victim !== "service") process.kill(await venuePid(), "SIGKILL")
      if (victim !== "venue") {
        await service.kill("SIGKILL")
        await service.stop()
        service = await start()
      }
      await probing
      // The restarted processes answer again.
      await together(service)
    }
    await service.done("sim", "venue", "clear")
    await service.done("sim", "venue", "probe", client.uid, "--calls", "1")
    const states = await ended(client)
    // The calls of one command are stored together.
    assert.isAtLeast(states.size, 12)
    assert.include([...states.values()], "EXECUTED")
    await hold(venueClient(), client, states)
    await service.stop()
  })

  it(
    "a service that is frozen during a call and resumed after a takeover sends no call",
    { timeout: 180_000 },
    async () => {
      const { client: venue, url, keyFile, end } = await runVenue()
      const first = join(folder, "first")
      const older = await start(first, { url, keyFile })
      const client = await newClient(older, "FROZEN")
      const name = await nameThere()
      const slow = {
        type: "fault",
        kind: "slow",
        route: "order",
        symbol: null,
        forMillis: null,
        times: callsOfClient,
        delayMillis: 2_000
      }
      assert.strictEqual((await venue.ask("/venue/v1/control", slow)).status, 200)
      const asked = older.cli("sim", "venue", "probe", client.uid, "--calls", String(callsOfClient + 3))
      // The limit of concurrent calls is reached at the venue, whose answers are slow; the other three calls are not
      // sent yet.
      await vi.waitFor(
        async () => {
          const found = await venue.ask(`/venue/v1/accounts/${name}:${client.uid}/events?after=0`)
          assert.isTrue(found.status === 200 && found.json.events.length >= callsOfClient)
        },
        { timeout: 20_000, interval: 20 }
      )
      older.signal("SIGSTOP")
      const second = join(folder, "second")
      mkdirSync(second, { recursive: true, mode: 0o700 })
      for (const name of ["encryption.keys", "operator.key"]) copyFileSync(join(first, name), join(second, name))
      await start(second, { url, keyFile })
      const mine = await ended(client)
      const made = Array.from({ length: callsOfClient }, () => "EXECUTED")
      assert.deepStrictEqual([...mine.values()], [...made, "VOID", "VOID", "VOID"])
      older.signal("SIGCONT")
      assert.strictEqual((await older.ended()).signal, null)
      await asked
      await hold(venue, client, mine)
      await end()
    }
  )
})
