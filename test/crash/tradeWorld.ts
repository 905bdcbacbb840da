/**
 * A real service, its simulated venue and a separate database, with clients that may trade all products: the common
 * part of the crash tests of contracts and of orders.
 */
import { assert, vi } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor } from "../../src/machines/appropriateness/scoring.ts"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { EmbeddedPostgres } from "../../src/runtime/adapters/EmbeddedPostgres.ts"
import type { Answer } from "../http/callServer.ts"
import { knockOut } from "../support/contractVenue.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { copyCluster } from "../support/testServer.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { clusterOf } from "./postmaster.ts"
import type { ServiceOptions } from "./ServiceProcess.ts"
import { venueSide } from "./venueSide.ts"

export interface Trader {
  readonly id: number
  readonly uid: string
  /** The key of the client's partner. */
  readonly key: string
}

/** `ownServer`: the database has a separate server, which the test may kill. */
interface WorldOptions {
  readonly ownServer?: boolean
}

/** Services on `dataDir`, or on folders beside it, share the database. */
export const makeTradeWorld = async (name: string, { ownServer = false }: WorldOptions = {}) => {
  const folder = mkdtempSync(join(tmpdir(), `brokerage-${name}-`))
  const dataDir = join(folder, "data")
  const venue = venueSide(dataDir)
  const database = await (ownServer ? serverOf(dataDir) : makeTestDatabase())
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

  /** Makes a client at level MICA_MIFID with this amount of money; by default enough for many contracts. */
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

  /** The name of the trader's account at the venue. */
  const accountOf = async ({ uid }: Trader): Promise<string> => {
    const [stamp] = await query<{ readonly venue_name: string }>("SELECT venue_name FROM service_stamp")
    return `${stamp?.venue_name}:${uid}`
  }

  /**
   * Waits until the service has processed all published events of the venue and stored its checkpoint, so that every
   * later event is new. Quotes cause no commit of their client, so only the checkpoint shows that they were read.
   */
  const heard = async (about: string): Promise<void> => {
    const { number: last } = await venue.client().show()
    await vi.waitFor(
      async () => {
        const [row] = await query<{ readonly number: number }>("SELECT number::int FROM venue_cursor")
        assert.isAtLeast(row?.number ?? 0, last, `the venue's events are read, ${about}`)
      },
      { timeout: 90_000, interval: 50 }
    )
  }

  return {
    dataDir,
    folder,
    /** The cluster of the database's server, if it is separate. */
    cluster: clusterOf(dataDir),
    venue,
    start,
    query,
    trader,
    post,
    accountOf,
    heard,
    /** Waits until the service is frozen at its point (`arm` with "stop"). */
    frozen: (service: RealService, millis: number): Promise<void> =>
      vi.waitFor(() => assert.match(stateOf(service.pid), /^[Tt]/), { timeout: millis, interval: 10 }),
    price: (service: RealService, to: string) => service.done("sim", "venue", "price", knockOut, to),
    /** Verifies the books, and the agreement of both sides. */
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

/** A server in the data directory, which is restarted when it dies. */
const serverOf = async (dataDir: string): Promise<TestDatabase> => {
  const scope = await Effect.runPromise(Scope.make())
  await copyCluster(dataDir)
  const starting = EmbeddedPostgres.start({ dataDirectory: join(dataDir, "postgres") })
  const { url } = await Effect.runPromise(Scope.provide(starting, scope))
  return { url, drop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** The state of a process as `ps` names it: T is stopped. */
export const stateOf = (pid: number): string =>
  execFileSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" })

export type TradeWorld = Awaited<ReturnType<typeof makeTradeWorld>>
