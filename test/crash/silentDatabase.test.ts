/**
 * The network path to the database stops carrying data without closing connections, in each form, with a cold or a warm
 * pool. Meanwhile every route answers, with 503 where it needs the database. Afterwards reads and writes recover by
 * themselves, and no acknowledged write is lost. SIGTERM ends the service during the silence (SC-PLT-05).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import type { Answer } from "../http/callServer.ts"
import { type CuttingProxy, openProxy, type Silence, silences } from "../runtime/engine/cuttingProxy.ts"
import { isDeep, played } from "../support/every.ts"
import { clusterOf, pausePostgres } from "./postmaster.ts"
import { spawnService } from "./ServiceProcess.ts"
import { venuePid } from "./venueSeat.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { firstCopy } from "../support/storedNight.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const pools = ["warm", "cold"] as const
type Pool = (typeof pools)[number]
/** `end`: SIGTERM arrives during the silence. Otherwise the path recovers. */
const outcomes = ["back", "end"] as const
const forms = ["csv", "pdf"] as const
type FileForm = (typeof forms)[number]
const day = 86_400_000
type Cell = readonly [silence: Silence, pool: Pool, outcome: (typeof outcomes)[number]]

const folder = mkdtempSync(join(tmpdir(), "brokerage-silent-"))
let database: TestDatabase
let proxy: CuttingProxy
let service: RealService
let key: string
let clientId: number
let statementId: number
let deposits = 0

const start = async (): Promise<void> => {
  service = await startRealService({ dataDir: join(folder, "data"), databaseUrl: Redacted.value(proxy.url) })
}

beforeAll(async () => {
  database = await makeTestDatabase()
  proxy = await openProxy(database.url)
  await start()
  key = await service.partner("SILENT")
  const onboarded = await service.call(key, "POST", "/clients", sampleOnboarding(1, "silent", Date.now()))
  clientId = dataOf(onboarded).clientId as number
  dataOf(await deposit(`silent-${++deposits}`))
  statementId = await statement("small")
}, 120_000)
afterAll(async () => {
  proxy.fallSilent(null)
  await service.stop()
  await proxy.close()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

/** Reads that need the database, for each surface and each kind of read. */
const reads: Readonly<Record<string, () => Promise<Answer>>> = {
  clients: () => service.call(key, "GET", "/clients"),
  settlement: () => service.call(key, "GET", "/settlement"),
  audit: () => service.read("/operator/v1/audit"),
  machines: () => service.read("/operator/v1/machines"),
  csv: () => file("csv"),
  pdf: () => file("pdf"),
  proof: () => service.read("/operator/v1/ledger/verify"),
  export: () => service.read("/operator/v1/ledger/export?part=accounts"),
  health: () => service.read("/healthz")
}
const deposit = (partnerRef: string): Promise<Answer> =>
  service.call(
    key,
    "POST",
    `/clients/${clientId}/collateral`,
    { partnerRef, direction: "DEPOSIT", amount: "1.00" },
    { "idempotency-key": partnerRef }
  )

/** Makes a statement over the whole life of the account. */
const statement = async (idempotencyKey: string): Promise<number> => {
  const midnight = Date.now() - (Date.now() % day)
  const body = { kind: "ACCOUNT", from: midnight - day, to: midnight + day }
  const headers = { "idempotency-key": idempotencyKey }
  const made = await service.call(key, "POST", `/clients/${clientId}/statements`, body, headers)
  assert.strictEqual(made.status, 200, made.text)
  return (made.json as { readonly statementId: number }).statementId
}
const file = (form: FileForm, more: Parameters<RealService["call"]>[5] = {}): Promise<Answer> =>
  service.call(key, "GET", `/clients/${clientId}/statements/${statementId}/${form}`, undefined, {}, more)

/** The pool's connections that are not silent. The journal and other users have application names of their own. */
const pooled = (): number => proxy.passing("application_name\0brokerage\0")
const poolSize = 8
/**
 * The longest shutdown, wall ms. In `npm test` other files take half of the processor time, so twice the promised 15 s pass; a
 * wait without a limit would take longer still.
 */
const stopLimit = isDeep ? 15_000 : 30_000

const prepared: Readonly<Record<Pool, () => Promise<void>>> = {
  warm: () =>
    vi.waitFor(
      async () => {
        await Promise.all(Array.from({ length: 4 * poolSize }, () => reads["clients"]?.()))
        assert.strictEqual(pooled(), poolSize)
      },
      { timeout: 30_000, interval: 20 }
    ),
  // The pool closes idle connections. The service's own query each second needs few.
  cold: () => vi.waitFor(() => assert.isAtMost(pooled(), 2), { timeout: 60_000, interval: 50 })
}

const isAway = ({ status, json }: Answer): boolean =>
  status === 503 && (json as { readonly code?: unknown }).code === 5030

const play = async ([silence, pool, outcome]: Cell): Promise<void> => {
  await prepared[pool]()
  proxy.fallSilent(silence)
  const partnerRef = `silent-${++deposits}`
  const asked = Object.entries(reads).map(async ([name, read]) => [name, await read()] as const)
  const writing = deposit(partnerRef)
  if (outcome === "end") {
    // The stop cuts some of these requests.
    const settled = Promise.allSettled([...asked, writing])
    const stopped = performance.now()
    const { code } = await service.kill("SIGTERM")
    assert.strictEqual(code, 0)
    assert.isBelow(performance.now() - stopped, stopLimit)
    await settled
    proxy.fallSilent(null)
    await service.stop()
    await start()
  } else {
    for (const [name, answer] of await Promise.all(asked)) assert.isTrue(isAway(answer), `${name}: ${answer.text}`)
    assert.isTrue(isAway(await writing))
    assert.isTrue(isAway(await service.read("/healthz")))
    proxy.fallSilent(null)
  }
  await vi.waitFor(
    async () => {
      for (const [name, read] of Object.entries(reads)) assert.strictEqual((await read()).status, 200, name)
      assert.strictEqual((await deposit(partnerRef)).status, 201)
    },
    { timeout: 30_000, interval: 100 }
  )
  assert.strictEqual(dataOf(await service.read(`/operator/v1/clients/${clientId}`)).cashUsdc, `${deposits}.000000`)
}

const every: ReadonlyArray<Cell> = silences.flatMap((silence) =>
  pools.flatMap((pool) => outcomes.map((outcome): Cell => [silence, pool, outcome]))
)
const title = ([silence, pool, outcome]: Cell): string =>
  `silent (${silence}), the pool ${pool}: ${outcome === "back" ? "everything comes back" : "SIGTERM ends the service"}`

describe("a network path to the database that falls silent", () => {
  it.each(
    played<Cell>({
      usual: [["both", "warm", "back"]],
      deep: every
    }).map((cell) => ({ cell, title: title(cell) }))
  )("$title", { timeout: 120_000 }, ({ cell }) => play(cell))
})

/** Longer than any deadline of a read or of a batch, wall ms. */
const stopMillis = 9_000

describe.runIf(isDeep)(
  "a process that is stopped for longer than its timeouts, with a batch and reads in flight",
  () => {
    it("receives the answers that have arrived, and keeps its connections", { timeout: 60_000 }, async () => {
      await prepared.warm()
      const connections = (): ReadonlyArray<number> => [proxy.opened(), proxy.open("brokerage-journal")]
      const before = connections()
      const stopped = new Promise<void>((resolve) =>
        proxy.whenNext("brokerage-journal", () => {
          service.signal("SIGSTOP")
          resolve()
        })
      )
      const asked = ["clients", "settlement", "audit", "machines"].map(
        async (name) => [name, await reads[name]?.()] as const
      )
      const writing = deposit(`silent-${++deposits}`)
      await stopped
      await new Promise((resolve) => setTimeout(resolve, stopMillis))
      service.signal("SIGCONT")
      assert.strictEqual((await writing).status, 201)
      for (const [name, answer] of await Promise.all(asked))
        assert.strictEqual(answer?.status, 200, `${name}: ${answer?.text}`)
      assert.deepStrictEqual(connections(), before)
    })
  }
)

describe("the embedded database is frozen", () => {
  const frozen = ["the database", "the database and the simulated venue"] as const
  it.runIf(isDeep).each(frozen)("SIGTERM ends the service: %s", { timeout: 120_000 }, async (kind) => {
    const options = { dataDir: join(folder, kind.replaceAll(" ", "-")) }
    const own = await startRealService(options)
    const resume = pausePostgres(clusterOf(options.dataDir))
    if (kind !== frozen[0]) process.kill(await venuePid(options.dataDir), "SIGSTOP")
    const asked = Promise.allSettled([own.read("/operator/v1/audit"), own.read("/operator/v1/ledger/verify")])
    const stopped = performance.now()
    const { code } = await own.kill("SIGTERM")
    assert.strictEqual(code, 0)
    assert.isBelow(performance.now() - stopped, stopLimit)
    await asked
    resume()
    const again = await startRealService(options)
    assert.strictEqual((await again.read("/operator/v1/ledger/verify")).status, 200)
    await again.stop()
  })
})

describe("SIGTERM during the start", () => {
  let own: TestDatabase
  let way: CuttingProxy
  beforeAll(async () => {
    own = await makeTestDatabase()
    way = await openProxy(own.url)
  })
  afterAll(async () => {
    await way.close()
    await own.drop()
  })
  const options = () => ({ dataDir: join(folder, "stopped"), databaseUrl: Redacted.value(way.url) })
  const begin = () => {
    const child = spawnService(options())
    return { child, exited: new Promise<number | null>((resolve) => child.once("exit", resolve)) }
  }
  const endsInTime = async (exited: Promise<number | null>): Promise<void> => {
    const stopped = performance.now()
    assert.strictEqual(await exited, 0)
    assert.isBelow(performance.now() - stopped, stopLimit)
  }

  it("ends the start while another session locks the table of the migrations", { timeout: 60_000 }, () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const holder = yield* PgConnection.make({ url: own.url })
          yield* holder.query("BEGIN")
          yield* holder.query("LOCK TABLE schema_migrations IN ACCESS EXCLUSIVE MODE")
          const waiting = `SELECT 1 FROM pg_locks WHERE relation = 'schema_migrations'::regclass AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
          const { child, exited } = begin()
          yield* Effect.promise(() =>
            vi.waitFor(async () => assert.lengthOf((await Effect.runPromise(holder.query(waiting))).rows, 1), {
              timeout: 30_000,
              interval: 20
            })
          )
          child.kill("SIGTERM")
          yield* Effect.promise(() => endsInTime(exited))
        })
      )
    )
  )

  /** The connections of a start, in their order: its own, the journal's and the pool's. */
  it.runIf(isDeep).each(["brokerage-start", "brokerage-journal", "brokerage\0"])(
    "ends the start when the path falls silent with the first request of %j",
    { timeout: 60_000 },
    async (application) => {
      const { child, exited } = begin()
      await new Promise<void>((resolve) =>
        way.whenNext(`application_name\0${application}`, () => {
          way.fallSilent("both")
          child.kill("SIGTERM")
          resolve()
        })
      )
      await endsInTime(exited)
      way.fallSilent(null)
      const whole = await startRealService(options())
      assert.strictEqual((await whole.read("/healthz")).status, 200)
      await whole.stop()
    }
  )
})

/** The number of copies of the client's first deposit in the ledger: their export has far more bytes than one read. */
const copies = 20_000
const storeCopies = Effect.gen(function* () {
  const connection = yield* PgConnection.make({ url: database.url })
  yield* connection.query(`INSERT INTO ledger_transactions (tx_id, key, type, actor, reason, client_id, partner_id, refs, ts)
    SELECT ${firstCopy} + g, t.key || ':' || g, t.type, t.actor, t.reason, t.client_id, t.partner_id, t.refs, t.ts
      FROM (SELECT * FROM ledger_transactions WHERE client_id = ${clientId} ORDER BY tx_id LIMIT 1) t,
           generate_series(1, ${copies}) AS g`)
  yield* connection.query(`INSERT INTO postings (posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)
    SELECT ${firstCopy} + 2 * g + row_number() OVER (PARTITION BY g ORDER BY p.posting_id), ${firstCopy} + g, p.account,
           p.client_id, p.partner_id, p.currency, p.kind, p.amount
      FROM postings p, generate_series(1, ${copies}) AS g
     WHERE p.tx_id = (SELECT min(tx_id) FROM ledger_transactions WHERE client_id = ${clientId})`)
})

describe.runIf(isDeep)("the path falls silent in the middle of a file", () => {
  beforeAll(async () => {
    await Effect.runPromise(Effect.scoped(storeCopies))
    statementId = await statement("large")
  }, 120_000)

  it.each(forms)(
    "%s: the connection breaks, and no incomplete file looks whole",
    { timeout: 120_000 },
    async (form) => {
      const whole = await file(form)
      assert.strictEqual(whole.status, 200)
      const cut = await file(form, { begun: () => proxy.fallSilent("both") }).then(
        ({ text }) => `${text.length} of ${whole.text.length}`,
        (error: NodeJS.ErrnoException) => error.code
      )
      assert.strictEqual(cut, "ECONNRESET")
      proxy.fallSilent(null)
      await vi.waitFor(async () => assert.strictEqual((await file(form)).text, whole.text), {
        timeout: 30_000,
        interval: 100
      })
    }
  )
})
