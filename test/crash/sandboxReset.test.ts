/**
 * `sim reset` on the real service (operator surface, sim reset; decision 30). After one command the service is in its
 * initial state at the same address. If it is killed in between, the next start completes the reset.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { isDeep } from "../support/every.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-reset-"))
const dataDir = join(folder, "data")
const serviceFile = () => JSON.parse(readFileSync(join(dataDir, "service.json"), "utf8")) as object

let database: TestDatabase
let service: RealService

const start = (killAt?: { readonly point: string; readonly times: number }): Promise<RealService> =>
  startRealService({
    dataDir,
    databaseUrl: Redacted.value(database.url),
    ...(killAt === undefined ? {} : { killAt })
  })

/** Makes a partner with a client, and moves the clock two days ahead. Returns the partner's key. */
const live = async (code: string): Promise<string> => {
  const key = await service.partner(code)
  dataOf(await service.call(key, "POST", "/clients", sampleOnboarding(1, code, Date.now())))
  await service.done("sim", "clock", "advance", "2d")
  return key
}

const query = (text: string) =>
  Effect.runPromise(
    Effect.provide(
      Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(text)),
      PgClient.layer({ url: database.url, maxConnections: 1 }),
      { local: true }
    )
  )

interface Told {
  readonly action: string
  readonly keyLabel: string
  readonly before: string
  readonly after: string
}

const resetsTold = async (): Promise<ReadonlyArray<Told>> =>
  ((await service.done("audit", "tail", "--limit", "100")).entries as ReadonlyArray<Told>).filter(
    ({ action }) => action === "sandbox.reset"
  )

/**
 * Checks that only the operator keys are left, and that the audit has one record of the reset. Returns the id of the
 * next operator key.
 */
const assertBegun = async (resets: number, operators: unknown): Promise<number> => {
  const { goes, ...life } = await service.done("sim", "reset", "--dry-run")
  assert.deepInclude(life, { sandbox: true, resets, resetting: false, dryRun: true })
  assert.deepInclude(goes, { partners: 0, clients: 0, ledgerTransactions: 0, webhookDeliveries: 0 })
  assert.deepStrictEqual(await service.done("operator", "list"), operators)
  const clock = await service.done("sim", "clock", "show")
  assert.strictEqual(clock.offsetMillis, 0)
  const told = await resetsTold()
  assert.deepStrictEqual(
    told.map(({ keyLabel, after }) => [keyLabel, after]),
    [["first start", `reset ${resets}`]]
  )
  assert.match(
    told[0]?.before ?? "",
    /^1 client, \d+ ledger transactions, \d+ audit entries, last seal \d+:[0-9a-f]{64}$/
  )
  assert.isTrue((await service.done("ledger", "verify")).ok)
  return assertKeysMove()
}

/** The mailbox of operator keys knows the remaining keys and no others. Returns the id of the next key. */
const assertKeysMove = async (): Promise<number> => {
  const revoke = (id: number) => service.cli("operator", "revoke", String(id), "--reason", "test")
  const admins = async () =>
    ((await service.done("operator", "list")).operators as ReadonlyArray<Operator>).filter(
      ({ role, status }) => role === "ADMIN" && status === "ACTIVE"
    )
  const [first] = await admins()
  assert.strictEqual((await revoke(first?.operatorId ?? 0)).refusal.data.reason, "LAST_ADMIN")
  const { operatorId } = await service.done("operator", "create", "--label", "second", "--role", "ADMIN")
  assert.strictEqual((await revoke(operatorId as number)).status, 0)
  assert.deepStrictEqual(await admins(), [first])
  return operatorId as number
}

interface Operator {
  readonly operatorId: number
  readonly role: string
  readonly status: string
}

beforeAll(async () => {
  database = await makeTestDatabase()
  service = await start({ point: "on-signal", times: 1 })
})
afterAll(async () => {
  await service.stop()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

describe("sim reset", { timeout: 180_000 }, () => {
  it("starts again in the same process at the same address: partners, clients, time and venue are new, operator keys stay", async () => {
    const before = serviceFile()
    const key = await live("OLD")
    const operators = await service.done("operator", "list")
    const answer = await service.done("sim", "reset")
    assert.deepInclude(answer, { resets: 1, resetting: false })
    assert.deepInclude(answer.goes, { partners: 1, clients: 1 })
    assert.deepStrictEqual(serviceFile(), before)
    assert.strictEqual((await service.call(key, "GET", "/clients")).status, 401)
    assert.strictEqual(await assertBegun(1, operators), 2)
  })

  it("killed at its request, and again once the venue is empty: the next start completes the reset, and records it once", async () => {
    await live("NEXT")
    const operators = await service.done("operator", "list")
    await service.arm("reset-asked", "kill")
    assert.strictEqual((await service.cli("sim", "reset")).status, 3)
    await service.ended()
    await service.stop()
    const refused = await start({ point: "venue-emptied", times: 1 }).catch((error: unknown) => String(error))
    assert.include(String(refused), "SIGKILL")
    service = await start()
    await assertBegun(2, operators)
    if (!isDeep) return
    await service.stop()
    service = await start()
    assert.strictEqual((await resetsTold()).length, 1)
  })

  it("a database with foreign objects is not reset", async () => {
    await query("CREATE TABLE somebody_elses (id int)")
    const { status, refusal } = await service.cli("sim", "reset")
    assert.deepStrictEqual([status, refusal.code], [1, 4092])
    assert.include(refusal.msg, "somebody_elses")
    await query("DROP TABLE somebody_elses")
  })
})
