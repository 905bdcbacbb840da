/**
 * Statements while the service or its database is killed with -9: in the middle of a model, and between the models of
 * an end-of-day run and their commit (STS-21, STS-22, STS-29). Callers get 503 with Retry-After and no partial result.
 * The repeated request under its key makes one statement, an end-of-day run continues, and models without a statement
 * are deleted.
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { Answer } from "../http/callServer.ts"
import type { RealService } from "../support/RealService.ts"
import { mayLog } from "../support/expectLog.ts"
import { firstCopy, storeNight } from "../support/storedNight.ts"
import { killPostmaster } from "./postmaster.ts"
import { readyAgain } from "./strike.ts"
import { makeTradeWorld, type Trader, type TradeWorld } from "./tradeWorld.ts"

const day = 86_400_000
const armed = { killAt: { point: "on-signal", times: 1 } }
/** More than three pages. */
const clients = 200
const trades = 3

let world: TradeWorld
let service: RealService
let partner: string

beforeAll(async () => {
  world = await makeTradeWorld("statement-build", { ownServer: true })
  service = await world.start(armed)
  partner = await service.partner("BUILD")
}, 120_000)
afterAll(() => world.end(), 60_000)

/** Kills the database while the service is frozen. The database runs again when the service resumes. */
const databaseDies = async (): Promise<void> => {
  mayLog(/The embedded PostgreSQL does not start/)
  mayLog(/the embedded PostgreSQL ended unexpectedly/)
  mayLog(/the embedded PostgreSQL runs again/)
  const killed = killPostmaster(world.cluster)
  service.signal("SIGCONT")
  await Effect.runPromise(readyAgain(world, killed))
}

const count = async (text: string): Promise<number> => {
  const [row] = await world.query<{ readonly n: bigint }>(`SELECT count(*) AS n FROM ${text}`)
  return Number(row?.n)
}
const ask = (trader: Trader, month: number): Promise<Answer> => {
  const from = Date.now() - (month + 1) * 30 * day
  const body = { kind: "ACCOUNT", from: from - (from % day), to: from - (from % day) + 60 * day }
  return world.post(service, trader, "/statements", body, { "idempotency-key": `build-${month}` })
}

/**
 * Checks that the repeated request under the key has made one statement whose content matches its hash, and that the
 * key returns it from now on.
 */
const madeOnce = async (trader: Trader, month: number): Promise<void> => {
  const made = await vi.waitFor(
    async () => {
      const answer = await ask(trader, month)
      assert.strictEqual(answer.status, 200, answer.text)
      return answer
    },
    { timeout: 60_000, interval: 200 }
  )
  const { statementId, sha256 } = JSON.parse(made.text) as { readonly statementId: number; readonly sha256: string }
  assert.strictEqual((await ask(trader, month)).text, made.text)
  assert.strictEqual(await count(`statements WHERE client_id = ${trader.id}`), 1)
  const { text } = await service.call(trader.key, "GET", `/clients/${trader.id}/statements/${statementId}`)
  const model = text.slice(text.indexOf('"model":') + '"model":'.length, -1)
  assert.strictEqual(createHash("sha256").update(model).digest("hex"), sha256)
}

describe("a build that is killed in the middle", () => {
  it("STS-22: with the service: the repeated request under its key makes one statement, and the partial model is swept", async () => {
    const trader = await world.trader(service, partner)
    await service.arm("piece-written", "kill")
    const asked = ask(trader, 1).catch(() => null)
    assert.strictEqual((await service.ended()).signal, "SIGKILL")
    assert.isNull(await asked)
    const left = `statement_pieces WHERE client_id = ${trader.id}
      AND model_id NOT IN (SELECT model_id FROM statements WHERE client_id = ${trader.id})`
    assert.strictEqual(await count(left), 1, "the piece that was written")
    await world.query(`UPDATE statement_pieces SET stored_at = stored_at - ${day + 3_600_000}`)
    await service.stop()
    service = await world.start(armed)
    await vi.waitFor(async () => assert.strictEqual(await count(left), 0), { timeout: 20_000, interval: 100 })
    await madeOnce(trader, 1)
    assert.strictEqual(await count(left), 0)
    await world.verify(service, "after a killed build")
  }, 240_000)

  it("STS-21: with the database: 503 with Retry-After, and the same request makes one statement", async () => {
    const trader = await world.trader(service, partner)
    await service.arm("piece-written", "stop")
    const asked = ask(trader, 2)
    await world.frozen(service, 30_000)
    await databaseDies()
    const answer = await asked
    assert.deepStrictEqual([answer.status, answer.headers["retry-after"]], [503, "1"], answer.text)
    assert.strictEqual(await count(`statements WHERE client_id = ${trader.id}`), 0)
    await madeOnce(trader, 2)
    await world.verify(service, "after a lost database")
  }, 240_000)
})

describe("an end-of-day run whose database is killed", () => {
  it(
    "STS-29: continues with its page: each statement is made once and published once",
    { timeout: 300_000 },
    async () => {
      const { id } = await world.trader(service, partner)
      const midnight = Date.now() - (Date.now() % day)
      await storeNight((text) => world.query(text), {
        clientId: id,
        orderId: 0,
        clients,
        trades,
        at: midnight + day - 3_600_000
      })
      await service.arm("models-written", "stop")
      const advancing = service.cli("sim", "clock", "advance", "26h")
      await world.frozen(service, 60_000)
      await databaseDies()
      await advancing
      await vi.waitFor(
        async () => {
          const [job] = await world.query<{ readonly made: bigint; readonly ended_at: bigint | null }>(
            // In the last two hours of a day the clock passes another midnight, after which another end-of-day run
            // without clients follows.
            `SELECT made, ended_at FROM statement_jobs WHERE name = 'TRANSACTIONS' AND period_from = ${midnight}`
          )
          assert.deepStrictEqual([Number(job?.made), job?.ended_at === null], [clients, false])
        },
        { timeout: 90_000, interval: 100 }
      )
      const night = `statements s WHERE client_id > ${firstCopy}`
      const [made] = await world.query<Record<string, bigint>>(
        `SELECT count(*) AS rows, count(DISTINCT client_id) AS clients, sum((context->>'rows')::int) AS executions,
              count((SELECT 1 FROM notifications n WHERE n.client_id = s.client_id AND n.ref = s.id::text)) AS notified FROM ${night}`
      )
      assert.deepStrictEqual(Object.fromEntries(Object.entries(made ?? {}).map(([name, n]) => [name, Number(n)])), {
        rows: clients,
        clients,
        executions: clients * trades,
        notified: clients
      })
      assert.strictEqual(await count("statement_job_failures"), 0, "nobody failed because the database was away")
    }
  )
})
