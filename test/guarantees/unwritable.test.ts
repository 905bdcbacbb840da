/**
 * A database that can be read but not written, or not even read: read-only, no space for a table, no space for the log.
 * Writes are refused with 503, reads continue, nothing is lost or done twice, and the service recovers by itself
 * (architecture, Start-up: database down; doc 1, error registry 5030). The test has a PostgreSQL server of its own,
 * because it changes its settings and limits. File size limits stand for a full disk, because they need no privilege.
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Schedule, Scope } from "effect"
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedPostgres, type EmbeddedPostgresShape } from "../../src/runtime/adapters/EmbeddedPostgres.ts"
import { makeSealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import { migrate } from "../../src/runtime/migrations/migrate.ts"
import { brokenInvariants, collateral, get, rowsOf } from "../support/Builders.ts"
import { type Answer, type Service, startService } from "../support/Service.ts"
import { expectLog } from "../support/expectLog.ts"

const eventually = <A>(what: string, fact: () => Promise<A | false>): Promise<A> =>
  Effect.runPromise(
    Effect.promise(fact).pipe(
      Effect.filterOrFail(
        (found) => found !== false,
        () => new Error(`waited in vain: ${what}`)
      ),
      Effect.retry(Schedule.max([Schedule.spaced("50 millis"), Schedule.recurs(400)])),
      Effect.map((found) => found as A)
    )
  )

const folder = Fs.mkdtempSync(join(tmpdir(), "brokerage-unwritable-"))
let scope: Scope.Closeable
let postgres: EmbeddedPostgresShape
let service: Service
let key: string
let clientId: number
/** Every report ever sent, by its Idempotency-Key. Each must be booked once in the end. */
const sent = new Set<string>()

const serverLog = (): string => Fs.readFileSync(join(folder, "postgres.log"), "utf8")

/** One statement as the superuser, on a connection of its own. */
const admin = <Row extends object>(statement: string) =>
  Effect.runPromise(
    PgClient.PgClient.use((sql) => sql.unsafe<Row>(statement)).pipe(
      Effect.provide(PgClient.layer({ url: postgres.url, maxConnections: 1, connectTimeout: "5 seconds" }), {
        local: true
      })
    )
  )
const value = async (expression: string): Promise<unknown> =>
  (await admin<{ readonly v: unknown }>(`SELECT ${expression} AS v`))[0]?.v
const journalBackend = async (): Promise<number> =>
  Number(await value("(SELECT pid FROM pg_stat_activity WHERE application_name = 'brokerage-journal')"))
const readOnly = async (on: boolean): Promise<void> => {
  await admin(`ALTER SYSTEM ${on ? "SET default_transaction_read_only = on" : "RESET default_transaction_read_only"}`)
  await admin("SELECT pg_reload_conf()")
}

const report = (name: string): Promise<Answer> => {
  sent.add(name)
  const body = { partnerRef: name, direction: "DEPOSIT", amount: "1" }
  return collateral(service, key, clientId, body, { "idempotency-key": name })
}
const reports = (prefix: string, count: number): Promise<ReadonlyArray<Answer>> =>
  Promise.all(Array.from({ length: count }, (_, n) => report(`${prefix}-${n}`)))

/** A 503 as in the registry: its code, and the time of the retry. */
const assertRefused = (answer: Answer): void => {
  assert.deepStrictEqual([answer.status, answer.json?.code], [503, 5030], answer.text)
  assert.match(String(answer.headers["retry-after"]), /^[1-9][0-9]*$/)
}
const assertReadable = async (): Promise<void> => {
  for (const path of [
    `/clients/${clientId}`,
    `/clients/${clientId}/collateral`,
    `/clients/${clientId}/balances`,
    "/me"
  ])
    assert.strictEqual((await get(service, key, path)).status, 200, path)
  assert.strictEqual((await service.call("GET", "/healthz")).status, 200)
}
/** Sends a report repeatedly, as a partner does, until it is booked. */
const untilBooked = (name: string): Promise<Answer> =>
  eventually(`${name} is booked`, async () => {
    const answer = await report(name)
    if (answer.status === 201) return answer
    assertRefused(answer)
    return false
  })
const untilRefused = (prefix: string): Promise<void> => {
  let n = 0
  return eventually(
    `${prefix} is refused`,
    async () => (await report(`${prefix}-try-${n++}`)).status === 503 && undefined
  )
}
/**
 * Checks that every report ever sent is booked once after a retry, and that the retry of a booked report gets the same
 * bytes.
 */
const assertNothingLost = async (): Promise<void> => {
  for (const name of sent) await untilBooked(name)
  const booked = (await rowsOf(service, "collateralReports")).map(({ context }) => context.partnerRef)
  assert.sameMembers(booked, [...sent])
  assert.strictEqual(
    (await get(service, key, `/clients/${clientId}/balances`)).json.balances[0].cash,
    `${sent.size}.000000`
  )
  assert.deepStrictEqual(await brokenInvariants(service), [])
}

beforeAll(async () => {
  scope = await Effect.runPromise(Scope.make())
  postgres = await Effect.runPromise(EmbeddedPostgres.start({ dataDirectory: folder }).pipe(Scope.provide(scope)))
  await Effect.runPromise(migrate.pipe(Effect.provide(PgClient.layer({ url: postgres.url, maxConnections: 1 }))))
  const sealing = makeSealing({ current: 1, keys: new Map([[1, randomBytes(32)]]) })
  service = await startService({ database: { url: postgres.url, sealing } })
  key = (await service.partner()).key
  clientId = await service.client(key)
})
afterAll(async () => {
  await service.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  Fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

describe("a database that can't be written", { timeout: 120_000 }, () => {
  it("read-only: writes are refused at once without a query each, reads continue, then all is booked", async () => {
    const before = await report("ro-before")
    await readOnly(true)
    await untilRefused("ro")
    const asked = () => serverLog().split("in a read-only transaction").length
    const before200 = asked()
    const refused = await reports("ro", 200)
    refused.forEach(assertRefused)
    await assertReadable()
    assert.isBelow(asked() - before200, 20)
    await readOnly(false)
    await untilBooked("ro-0")
    await assertNothingLost()
    const again = await report("ro-before")
    assert.deepStrictEqual([again.status, again.text], [before.status, before.text])
    assert.strictEqual(again.headers["idempotency-replayed"], "true")
  })

  it("a server that restarts read-only: reads are served, and writes refused until it is writable", async () => {
    await readOnly(true)
    expectLog(/the embedded PostgreSQL (ended unexpectedly|runs again)/)
    const pid = await Effect.runPromise(postgres.pid)
    process.kill(pid, "SIGKILL")
    await eventually("another server", async () => (await Effect.runPromise(postgres.pid)) !== pid)
    // Refused, or answered with an unknown outcome, while the connection is being replaced.
    await untilRefused("back")
    await eventually("reads", async () => (await get(service, key, `/clients/${clientId}`)).status === 200)
    assertRefused(await report("back-1"))
    await assertReadable()
    await readOnly(false)
    await assertNothingLost()
  })

  it("no room for the log: the server ends and restarts, and the service recovers", async () => {
    // A position in the log segment beyond the limit; every table is smaller than the limit.
    await admin("SELECT pg_switch_wal()::text")
    for (let n = 0; n < 10; n++) await admin("SELECT pg_logical_emit_message(true, 'x', repeat('x', 1000000))::text")
    const backend = await journalBackend()
    execFileSync("prlimit", [`--pid=${backend}`, "--fsize=4194304:unlimited"])
    let n = 0
    await eventually("a server without room for its log ends", async () => {
      const { status } = await report(`log-${n++}`)
      assert.include([201, 503], status)
      return serverLog().includes("PANIC")
    })
    await untilBooked(`log-${n}`)
    assert.notStrictEqual(await journalBackend(), backend)
    await assertNothingLost()
  })

  it("no room for a table: writes are refused, reads continue, then all is booked", async () => {
    // A full last page, and tables larger than the limit: the next page finds no space.
    await admin(`INSERT INTO events SELECT 999999, n, 'collateral.booked', null, json_build_object('t', repeat('x', 1900)), 1
                   FROM generate_series(1, 14000) n`)
    await admin("VACUUM events")
    const limit = (size: string) => execFileSync("prlimit", [`--pid=${backend}`, `--fsize=${size}:unlimited`])
    const backend = await journalBackend()
    limit(String(17 * 1024 * 1024))
    await untilRefused("room")
    const refused = await reports("room", 50)
    refused.forEach(assertRefused)
    await assertReadable()
    assert.strictEqual(await journalBackend(), backend)
    limit("unlimited")
    await assertNothingLost()
  })
})
