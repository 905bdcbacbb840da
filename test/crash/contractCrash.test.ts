/**
 * A trader against the real service and the real simulated venue, with kill -9 of the one, the other or both while requests,
 * accepts and ends of contracts are in flight and answers are lost: at most one contract, one commission and one settlement of
 * each, and in the end both sides say the same (A2-26, D4, D5).
 */
import { afterAll, afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor } from "../../src/machines/appropriateness/scoring.ts"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import type { VenueContract } from "../../src/machines/venue/venueObjects.ts"
import { knockOut } from "../support/barrierVenue.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { venueSide } from "./venueSide.ts"

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000)
const rounds = 4
const folder = mkdtempSync(join(tmpdir(), "brokerage-contract-crash-"))
const dataDir = join(folder, "data")
const venue = venueSide(dataDir)

let database: TestDatabase
const open: Array<RealService> = []

const start = async (): Promise<RealService> => {
  const service = await startRealService({ dataDir, databaseUrl: Redacted.value(database.url) })
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

const query = <Row extends object>(statement: string): Promise<ReadonlyArray<Row>> =>
  Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe<Row>(statement)).pipe(
      Effect.provide(PgClient.layer({ url: database.url, maxConnections: 1 }), { local: true })
    )
  )
const wait = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

interface Trader {
  readonly id: number
  readonly uid: string
  readonly key: string
}

/** A client at level MICA_MIFID with money for many contracts, while the market's price is held. */
const trader = async (service: RealService): Promise<Trader> => {
  const key = await service.partner("TRADE")
  const { clientId: id, clientUid: uid } = dataOf(
    await service.call(key, "POST", "/clients", sampleOnboarding(1, "TRADE", Date.now()))
  )
  const send = async (method: string, path: string, body: object): Promise<void> =>
    void dataOf(await service.call(key, method, `/clients/${id}${path}`, body))
  await send("POST", "/appropriateness", { version: 1, answers: answersFor(questionnaire1, "PASS") })
  await send("PUT", "/mifid", sampleMifid())
  await send("POST", "/collateral", { partnerRef: "first", direction: "DEPOSIT", amount: "100000.00" })
  return { id, uid, key }
}

/** Requests near and far, and requests to close what is open; their answers may die with either process. */
const trades = async (service: RealService, { id, key }: Trader, random: SeededRandom): Promise<unknown> => {
  const asked = Array.from({ length: 4 }, () => ({
    symbol: knockOut,
    side: "BUY",
    qty: "0.01",
    barrier: { level: String(59_000 - random.between(0, 9) * 50), takeProfit: "61500" },
    expiresInMs: random.pick([2_000, 8_000])
  }))
  const held = await query<{ readonly id: bigint }>("SELECT id FROM barrier_contracts WHERE state = 'OPEN' LIMIT 2")
  return Promise.allSettled([
    ...asked.map((body) => service.call(key, "POST", `/clients/${id}/rfq`, body)),
    ...held.map((row) => service.call(key, "POST", `/clients/${id}/barriers/${row.id}/close`, {}))
  ])
}

interface Row {
  readonly id: bigint
  readonly state: string
  readonly venue_contract_id: string
  readonly commissions: bigint
  readonly settlements: bigint
}

const booked = (type: string): string =>
  `(SELECT count(*) FROM ledger_transactions l WHERE l.type = '${type}' AND l.refs->>'contractId' = c.id::text)`

/** The contracts, once nothing is in flight and no request is open. */
const atRest = (): Promise<ReadonlyArray<Row>> =>
  vi.waitFor(
    async () => {
      const left = await query(
        "SELECT ref FROM venue_calls UNION ALL SELECT id::text FROM rfqs WHERE state IN ('CREATING', 'OPEN')"
      )
      assert.deepStrictEqual(left, [], `seed ${seed}`)
      return await query<Row>(
        `SELECT c.id, c.state, c.context->>'venueContractId' AS venue_contract_id, ${booked("COMMISSION")} AS commissions,
           ${booked("BARRIER_SETTLE")} AS settlements FROM barrier_contracts c ORDER BY c.id`
      )
    },
    { timeout: 90_000, interval: 500 }
  )

/** The account as the venue's books have it: each contract once here, with its state there. */
const hold = async ({ uid }: Trader, rows: ReadonlyArray<Row>): Promise<void> => {
  const [stamp] = await query<{ readonly venue_name: string }>("SELECT venue_name FROM service_stamp")
  const answer = await venue.client().ask(`/venue/v1/accounts/${stamp?.venue_name}:${uid}`)
  const there = answer.json.contracts as ReadonlyArray<VenueContract>
  const open = rows.filter(({ state }) => state === "OPEN").map((row) => row.venue_contract_id)
  assert.sameMembers(
    there.map(({ id }) => String(id)),
    open,
    `seed ${seed}`
  )
  assert.strictEqual(new Set(rows.map((row) => row.venue_contract_id)).size, rows.length, `seed ${seed}`)
  for (const { id, state, commissions, settlements } of rows) {
    assert.deepStrictEqual([commissions, settlements], [1n, state === "OPEN" ? 0n : 1n], `contract ${id}, seed ${seed}`)
  }
}

describe("knock-out contracts over crashes", () => {
  it("A2-26, D5: each is opened once, charged once and settled once", { timeout: 300_000 }, async () => {
    const random = new SeededRandom(seed)
    let service = await start()
    await venue.together(service)
    const price = (to: string) => service.done("sim", "venue", "price", knockOut, to)
    await price("60000")
    const client = await trader(service)
    for (let round = 0; round < rounds; round++) {
      const kind = random.pick(["timeout-after", "timeout-before", "reset", "drop-events", null] as const)
      const route = random.pick(["rfq", "accept"] as const)
      if (kind !== null)
        await service.done(
          "sim",
          "venue",
          "fault",
          kind,
          "--route",
          kind === "drop-events" ? "events" : route,
          "--times",
          "3"
        )
      const trading = trades(service, client, random)
      await wait(random.between(200, 2_500))
      // Now and then the price goes through the barriers while the blow falls.
      const falls = round % 2 === 1
      const moved = falls ? service.cli("sim", "venue", "price", knockOut, "58000") : Promise.resolve(null)
      const victim = random.pick(["service", "venue", "both"] as const)
      if (victim !== "service") process.kill(await venue.pid(), "SIGKILL")
      if (victim !== "venue") {
        await service.kill("SIGKILL")
        await service.stop()
        service = await start()
      }
      await Promise.allSettled([trading, moved])
      await venue.together(service)
      if (falls) {
        await price("58000")
        await price("60000")
      }
    }
    await service.done("sim", "venue", "clear")
    await price("60000")
    await trades(service, client, random)
    assert.isAbove((await atRest()).length, 0, `seed ${seed}`)
    // Events that were dropped are read again once the next one shows the gap.
    await vi.waitFor(async () => hold(client, await atRest()), { timeout: 60_000, interval: 500 })
    // What is left ends with one move.
    await price("57000")
    const ended = await vi.waitFor(
      async () => {
        const all = await atRest()
        assert.notInclude(
          all.map(({ state }) => state),
          "OPEN"
        )
        return all
      },
      { timeout: 60_000, interval: 250 }
    )
    await hold(client, ended)
    for (const verify of ["sim", "ledger"]) {
      const { status, stderr } = await service.cli(verify, "verify")
      assert.strictEqual(status, 0, `${verify} verify, seed ${seed}: ${stderr}`)
    }
    await service.stop()
  })
})
