/**
 * An end-of-day run of statements on the real service, killed with SIGKILL after the models of a page and before its
 * commit. The next process continues with that page, and each client has one statement and one notification (STS-29;
 * Proof: crash runs).
 */
import { PgConnection } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { firstCopy, storeNight } from "../support/storedNight.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-night-"))
const dataDir = join(folder, "data")
/** More than six pages. */
const clients = 400
const trades = 5
const day = 86_400_000

let database: TestDatabase
let service: RealService | null = null
const start = async (killAt?: { readonly point: string; readonly times: number }): Promise<RealService> => {
  const databaseUrl = Redacted.value(database.url)
  service = await startRealService({ dataDir, databaseUrl, ...(killAt === undefined ? {} : { killAt }) })
  return service
}
const query = async <Row extends object>(text: string): Promise<ReadonlyArray<Row>> => {
  const asked = Effect.flatMap(PgConnection.make({ url: database.url }), (connection) => connection.query(text))
  return (await Effect.runPromise(Effect.scoped(asked))).rows as unknown as ReadonlyArray<Row>
}

beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(async () => {
  await service?.stop()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

describe("an end-of-day run that is killed", () => {
  it(
    "STS-29: continues from its last page, each statement is made once and published once",
    { timeout: 180_000 },
    async () => {
      const first = await start()
      const key = await first.partner("NIGHT")
      const onboarded = await first.call(key, "POST", "/clients", sampleOnboarding(1, "night", Date.now()))
      const clientId = dataOf(onboarded).clientId as number
      const midnight = Date.now() - (Date.now() % day)
      await storeNight(query, { clientId, orderId: 0, clients, trades, at: midnight + day - 3_600_000 })
      await first.stop()

      for (const times of [1, 3]) {
        const dying = await start({ point: "models-written", times })
        // The process may end before the command has its answer.
        if (times === 1) await dying.cli("sim", "clock", "advance", "26h")
        assert.strictEqual((await dying.ended()).signal, "SIGKILL")
        await dying.stop()
      }
      await start()
      await vi.waitFor(
        async () => {
          const [job] = await query<{ readonly made: bigint; readonly ended_at: bigint | null }>(
            // In the last two hours of a day the clock passes another midnight, after which another end-of-day run
            // without clients follows.
            `SELECT made, ended_at FROM statement_jobs WHERE name = 'TRANSACTIONS' AND period_from = ${midnight}`
          )
          assert.deepStrictEqual([Number(job?.made), job?.ended_at === null], [clients, false])
        },
        { timeout: 60_000, interval: 100 }
      )
      const [made] = await query<Record<string, bigint>>(
        `SELECT count(*) AS rows, count(DISTINCT client_id) AS clients, sum((context->>'rows')::int) AS executions
         FROM statements WHERE client_id > ${firstCopy}`
      )
      assert.deepStrictEqual(
        [Number(made?.["rows"]), Number(made?.["clients"]), Number(made?.["executions"])],
        [clients, clients, clients * trades]
      )
      const [told] = await query<Record<string, bigint>>(
        `SELECT count(*) AS rows, count(DISTINCT n.ref) AS refs FROM notifications n
         JOIN statements s ON s.id::text = n.ref AND s.client_id = n.client_id WHERE n.kind = 'STATEMENT_READY'`
      )
      assert.deepStrictEqual([Number(told?.["rows"]), Number(told?.["refs"])], [clients, clients])
    }
  )
})
