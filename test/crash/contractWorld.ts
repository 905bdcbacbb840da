/**
 * A real service, its simulated venue and a database of its own, with traders of knock-out contracts: what crash tests of
 * contracts consist of, and what must hold of both sides in the end (D4, D5).
 */
import { assert, vi } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor } from "../../src/machines/appropriateness/scoring.ts"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import type { VenueContract } from "../../src/machines/venue/venueObjects.ts"
import type { Answer } from "../http/callServer.ts"
import { knockOut } from "../support/barrierVenue.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { makeTestDatabase } from "../support/TestDatabase.ts"
import type { VenueClient } from "../venue/venueClient.ts"
import type { ServiceOptions } from "./ServiceProcess.ts"
import { venueSide } from "./venueSide.ts"

export interface Trader {
  readonly id: number
  readonly uid: string
  /** Of its partner. */
  readonly key: string
}

interface Quote {
  readonly quoteId: number
  readonly acceptable: boolean
}

/** A contract here, with what is booked of it. */
export interface BookedContract {
  readonly id: bigint
  readonly client_id: bigint
  readonly state: string
  readonly venue_contract_id: string
  readonly commissions: bigint
  readonly settlements: bigint
}

const booked = (type: string): string =>
  `(SELECT count(*) FROM ledger_transactions l WHERE l.type = '${type}' AND l.refs->>'contractId' = c.id::text)`

const contractsText = `SELECT c.id, c.client_id, c.state, c.context->>'venueContractId' AS venue_contract_id,
  ${booked("COMMISSION")} AS commissions, ${booked("BARRIER_SETTLE")} AS settlements FROM barrier_contracts c ORDER BY c.id`

/** Services on `dataDir`, or on folders beside it, share the database. */
export const makeContractWorld = async (name: string) => {
  const folder = mkdtempSync(join(tmpdir(), `brokerage-${name}-`))
  const dataDir = join(folder, "data")
  const venue = venueSide(dataDir)
  const database = await makeTestDatabase()
  const services: Array<RealService> = []
  let persons = 0

  const start = async (options: Partial<ServiceOptions> = {}): Promise<RealService> => {
    const service = await startRealService({ dataDir, databaseUrl: Redacted.value(database.url), ...options })
    services.push(service)
    return service
  }

  const query = <Row extends object>(statement: string): Promise<ReadonlyArray<Row>> =>
    Effect.runPromise(
      Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe<Row>(statement)).pipe(
        Effect.provide(PgClient.layer({ url: database.url, maxConnections: 1 }), { local: true })
      )
    )

  /** A client at level MICA_MIFID with so much money: for many contracts, unless it says otherwise. */
  const trader = async (service: RealService, key: string, amount = "100000.00"): Promise<Trader> => {
    const person = sampleOnboarding(++persons, name.toUpperCase(), Date.now())
    const { clientId: id, clientUid: uid } = dataOf(await service.call(key, "POST", "/clients", person))
    const send = async (method: string, path: string, body: object): Promise<void> =>
      void dataOf(await service.call(key, method, `/clients/${id}${path}`, body))
    await send("POST", "/appropriateness", { version: 1, answers: answersFor(questionnaire1, "PASS") })
    await send("PUT", "/mifid", sampleMifid())
    await send("POST", "/collateral", { partnerRef: `first-${id}`, direction: "DEPOSIT", amount })
    return { id, uid, key }
  }

  const post = (
    service: RealService,
    { id, key }: Trader,
    path: string,
    body: object,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<Answer> => service.call(key, "POST", `/clients/${id}${path}`, body, headers)

  /** A quote of the request that can be taken now. */
  const quoteOf = (service: RealService, { id, key }: Trader, rfqId: number): Promise<number> =>
    vi.waitFor(
      async () => {
        const { quotes } = dataOf(await service.call(key, "GET", `/clients/${id}/rfq/${rfqId}`))
        const live = (quotes as ReadonlyArray<Quote>).find(({ acceptable }) => acceptable)
        if (live === undefined) throw new Error(`no quote of request ${rfqId} can be taken`)
        return live.quoteId
      },
      { timeout: 20_000, interval: 50 }
    )

  /** A request to open, made as soon as the market is live, with a quote that can be taken now. */
  const quoted = async (service: RealService, trader: Trader, body: object) => {
    const made = async () => dataOf(await post(service, trader, "/rfq", body)) as { readonly rfqId: number }
    const { rfqId } = await vi.waitFor(made, { timeout: 20_000, interval: 100 })
    return { rfqId, quoteId: await quoteOf(service, trader, rfqId) }
  }

  /** The contracts, once nothing is in flight; with `openRequests` requests may still be open. */
  const atRest = (about: string, openRequests = false): Promise<ReadonlyArray<BookedContract>> =>
    vi.waitFor(
      async () => {
        const waiting = openRequests
          ? "state = 'CREATING' OR (state = 'OPEN' AND context->>'accepting' IS NOT NULL)"
          : "state IN ('CREATING', 'OPEN')"
        const left = await query(`SELECT ref FROM venue_calls UNION ALL SELECT id::text FROM rfqs WHERE ${waiting}`)
        assert.deepStrictEqual(left, [], about)
        return await query<BookedContract>(contractsText)
      },
      { timeout: 90_000, interval: 250 }
    )

  /** These accounts as the venue's books have them: each contract once here, with its state there, charged and settled once. */
  const hold = async (
    client: VenueClient,
    traders: ReadonlyArray<Trader>,
    all: ReadonlyArray<BookedContract>,
    about: string
  ): Promise<void> => {
    const rows = all.filter((row) => traders.some(({ id }) => BigInt(id) === row.client_id))
    const [stamp] = await query<{ readonly venue_name: string }>("SELECT venue_name FROM service_stamp")
    const answers = await Promise.all(
      traders.map(({ uid }) => client.ask(`/venue/v1/accounts/${stamp?.venue_name}:${uid}`))
    )
    const there = answers.flatMap(({ json }) => json.contracts as ReadonlyArray<VenueContract>)
    assert.sameMembers(
      there.map(({ id }) => String(id)),
      rows.filter(({ state }) => state === "OPEN").map((row) => row.venue_contract_id),
      about
    )
    assert.strictEqual(new Set(rows.map((row) => row.venue_contract_id)).size, rows.length, about)
    for (const { id, state, commissions, settlements } of rows) {
      assert.deepStrictEqual([commissions, settlements], [1n, state === "OPEN" ? 0n : 1n], `contract ${id}, ${about}`)
    }
  }

  return {
    dataDir,
    folder,
    venue,
    start,
    query,
    trader,
    post,
    quoteOf,
    quoted,
    atRest,
    hold,
    /** Waits until the service has frozen itself at its point (`arm` with "stop"). */
    frozen: (service: RealService, millis: number): Promise<void> =>
      vi.waitFor(() => assert.match(stateOf(service.pid), /^[Tt]/), { timeout: millis, interval: 10 }),
    price: (service: RealService, to: string) => service.done("sim", "venue", "price", knockOut, to),
    /** The books, and both sides. */
    verify: async (service: RealService, about: string): Promise<void> => {
      for (const command of ["sim", "ledger"]) {
        const { status, stderr } = await service.cli(command, "verify")
        assert.strictEqual(status, 0, `${command} verify, ${about}: ${stderr}`)
      }
    },
    end: async (): Promise<void> => {
      for (const service of services.splice(0)) await service.stop()
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** As `ps` names it: T is stopped. */
const stateOf = (pid: number): string => execFileSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" })

export type ContractWorld = Awaited<ReturnType<typeof makeContractWorld>>
