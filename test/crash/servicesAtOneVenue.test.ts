/**
 * Two services with separate databases at one venue, which `sim venue serve` runs, with equal client numbers, lost
 * answers, and kill -9 of one service. Each order is executed once, each service agrees with the venue, and no message
 * is quarantined.
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, afterEach, assert, describe, it, vi } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { VenueClient } from "../venue/venueClient.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-one-venue-"))
const bin = join(import.meta.dirname, "../../bin/brokerage.mjs")
const services: Array<RealService> = []
const databases: Array<TestDatabase> = []
const children: Array<ChildProcess> = []
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop()
  for (const database of databases.splice(0)) await database.drop()
  for (const child of children.splice(0)) child.kill("SIGKILL")
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface ServedVenue {
  readonly url: string
  readonly keyFile: string
}

/** `sim venue serve`, once it is ready. */
const serveVenue = (): Promise<ServedVenue> => {
  const given = ["sim", "venue", "serve", "--json", "--data-dir", join(folder, "venue")]
  const child = spawn(process.execPath, [bin, ...given], { stdio: ["ignore", "pipe", "inherit"] })
  children.push(child)
  return new Promise((resolve, reject) => {
    child.stdout.once("data", (line: Buffer) => resolve(JSON.parse(line.toString("utf8")) as ServedVenue))
    child.once("close", (status) => reject(new Error(`the venue ended (${status})`)))
  })
}

const start = async (name: string, database: TestDatabase, venue: ServedVenue): Promise<RealService> => {
  const service = await startRealService({
    dataDir: join(folder, name),
    databaseUrl: Redacted.value(database.url),
    venue
  })
  services.push(service)
  return service
}

/** A service's first client, and access to its database. */
const opened = async (name: string, venue: ServedVenue) => {
  const database = await makeTestDatabase()
  databases.push(database)
  const service = await start(name, database, venue)
  const key = await service.partner("SAME")
  const data = dataOf(await service.call(key, "POST", "/clients", sampleOnboarding(1, "SAME", Date.now())))
  const rows = <Row extends object>(text: string): Promise<ReadonlyArray<Row>> =>
    Effect.runPromise(
      Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe<Row>(text)).pipe(
        Effect.provide(PgClient.layer({ url: database.url, maxConnections: 1 }), { local: true })
      )
    )
  const [stamp] = await rows<{ readonly venue_name: string }>("SELECT venue_name FROM service_stamp")
  return { database, service, rows, uid: data.clientUid as string, name: stamp?.venue_name ?? "" }
}
type Opened = Awaited<ReturnType<typeof opened>>

/** States of the probes by id, once none is in flight. */
const ended = ({ rows }: Opened): Promise<ReadonlyMap<number, string>> =>
  vi.waitFor(
    async () => {
      const found = await rows<{ readonly id: bigint; readonly state: string }>("SELECT id, state FROM venue_probes")
      const states = new Map(found.map(({ id, state }) => [Number(id), state]))
      assert.notInclude([...states.values()], "IN_FLIGHT")
      return states
    },
    { timeout: 60_000, interval: 250 }
  )

/** The venue's orders of a service's client by ref, with the number of objects that each ref made. */
const ordersAt = async (venue: VenueClient, { name, uid }: Opened): Promise<ReadonlyMap<string, number>> => {
  const { events } = (await venue.ask(`/venue/v1/accounts/${name}:${uid}/events?after=0`)).json
  const orders = new Map<string, Set<number>>()
  for (const { fact } of events as ReadonlyArray<VenueEvent>) {
    if (fact.type !== "order" || fact.order.ref === null) continue
    orders.set(fact.order.ref, (orders.get(fact.order.ref) ?? new Set()).add(fact.order.id))
  }
  return new Map([...orders].map(([ref, ids]) => [ref, ids.size]))
}

describe("two services with databases of their own at one venue", () => {
  it(
    "A2-26: equal accounts and refs of two services stay separate, over lost answers and kill -9",
    { timeout: 240_000 },
    async () => {
      const venue = await serveVenue()
      const one = await opened("one", venue)
      const other = await opened("other", venue)
      assert.strictEqual(one.uid, other.uid)
      assert.notStrictEqual(one.name, other.name)
      await one.service.done("sim", "venue", "fault", "timeout-after", "--route", "order", "--times", "3")
      const probing = Promise.allSettled(
        [one, other].map(({ service, uid }) => service.cli("sim", "venue", "probe", uid, "--calls", "8"))
      )
      const client = new VenueClient(venue.url, readFileSync(venue.keyFile, "utf8").trim())
      await vi.waitFor(async () => assert.isNotEmpty([...(await ordersAt(client, other))]), {
        timeout: 20_000,
        interval: 20
      })
      await other.service.kill("SIGKILL")
      await other.service.stop()
      const again = await start("other", other.database, venue)
      await probing
      for (const [side, service] of [
        [one, one.service],
        [other, again]
      ] as const) {
        const states = await ended(side)
        assert.lengthOf([...states], 8)
        const executed = [...states].filter(([, state]) => state === "EXECUTED").map(([id]) => `${side.name}:P-${id}`)
        assert.isNotEmpty(executed)
        const orders = await ordersAt(client, side)
        assert.sameDeepMembers(
          [...orders],
          executed.map((ref) => [ref, 1])
        )
        assert.deepInclude(await service.done("sim", "verify"), { ok: true, first: null, accounts: 1, eventsBehind: 0 })
        assert.deepStrictEqual((await service.done("venue", "quarantine", "list")).events, [])
      }
      // C4: a jump of one service's clock moves the venue's clock, and the other service's clock follows.
      const offset = async (service: RealService): Promise<number> =>
        (await service.done("sim", "clock", "show")).offsetMillis
      assert.isFalse((await one.service.done("sim", "clock", "advance", "8h")).behind)
      await vi.waitFor(
        async () => assert.isBelow(Math.abs((await offset(again)) - (await offset(one.service))), 5_000),
        {
          timeout: 60_000,
          interval: 100
        }
      )
      for (const service of [one.service, again]) {
        assert.deepStrictEqual((await service.done("venue", "quarantine", "list")).events, [])
      }
      // The name of a database never changes.
      const [stamp] = await other.rows<{ readonly venue_name: string }>("SELECT venue_name FROM service_stamp")
      assert.strictEqual(stamp?.venue_name, other.name)
    }
  )
})
