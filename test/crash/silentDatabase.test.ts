/**
 * A network path to the database falls silent without a closed connection, in each form, with a cold or a warm pool. During the
 * silence every route answers, with 503 where it needs the database. Afterwards reads and writes recover by themselves, and no
 * acknowledged write is lost. SIGTERM ends the service during the silence (SC-PLT-05).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import type { Answer } from "../http/callServer.ts"
import { type CuttingProxy, openProxy, type Silence, silences } from "../runtime/engine/cuttingProxy.ts"
import { played } from "../support/every.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const pools = ["warm", "cold"] as const
type Pool = (typeof pools)[number]
/** `end`: SIGTERM arrives during the silence. Otherwise the path recovers. */
const outcomes = ["back", "end"] as const
type Cell = readonly [silence: Silence, pool: Pool, outcome: (typeof outcomes)[number]]

const folder = mkdtempSync(join(tmpdir(), "brokerage-silent-"))
let database: TestDatabase
let proxy: CuttingProxy
let service: RealService
let key: string
let clientId: number
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

/** The pool's connections that are not silent. The journal and other users have application names of their own. */
const pooled = (): number => proxy.passing("application_name\0brokerage\0")
const poolSize = 8
/** The longest shutdown, wall ms. */
const stopLimit = 15_000

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

describe("a silent way to the database", () => {
  it.each(
    played<Cell>({
      usual: [
        ["both", "warm", "back"],
        ["mid-answer", "warm", "end"]
      ],
      deep: every
    }).map((cell) => ({ cell, title: title(cell) }))
  )("$title", { timeout: 120_000 }, ({ cell }) => play(cell))
})
