/**
 * `ledger verify` over the operator surface: one at a time, without a delay for the service, and ended with its caller
 * (operator surface, ledger verify; architecture, HTTP). Reads of one operator take turns.
 */
import { PgConnection } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Exit, Scope } from "effect"
import { readFileSync } from "node:fs"
import { Agent, request } from "node:https"
import { pageBudget } from "../../src/machines/shared/Limits.ts"
import { type Answer, callServer } from "../http/callServer.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

let service: OperatorService
let scope: Scope.Closeable
let holder: PgConnection.PgConnection

beforeAll(async () => {
  service = await startOperatorService()
  scope = await service.run(Scope.make())
  holder = await service.run(PgConnection.make({ url: service.database.url }).pipe(Scope.provide(scope)))
})
afterAll(async () => {
  await service.run(Scope.close(scope, Exit.void))
  await service.stop()
})

/** While `during` runs, a verification waits at its first read of the postings. */
const held = async (during: () => Promise<void>, table = "postings"): Promise<void> => {
  await service.run(holder.query("BEGIN"))
  try {
    await service.run(holder.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`))
    await during()
  } finally {
    await service.run(holder.query("COMMIT"))
  }
}
const waiting = async (table: string): Promise<number> =>
  (await service.run(holder.query(`SELECT 1 FROM pg_locks WHERE relation = '${table}'::regclass AND NOT granted`))).rows
    .length
const waits = (count: number, table = "postings"): Promise<void> =>
  vi.waitFor(async () => assert.strictEqual(await waiting(table), count), { timeout: 20_000 })

describe("operator surface, ledger verify", () => {
  it("two at once take turns, and both are answered", async () => {
    const verify = () => service.done(["ledger", "verify"]).then(({ ok }) => ok as boolean)
    let both: Promise<ReadonlyArray<unknown>> = Promise.resolve([])
    await held(async () => {
      both = Promise.allSettled([verify(), verify()])
      await waits(1)
      // The service works in the meantime.
      assert.strictEqual((await service.partner()).code, "P1")
      assert.strictEqual(await waiting("postings"), 1)
    })
    const answered = { status: "fulfilled", value: true }
    assert.deepStrictEqual(await both, [answered, answered])
  })

  it("a caller that hangs up ends its verification", async () => {
    await held(async () => {
      const call = request(`${service.url}/operator/v1/ledger/verify`, {
        ca: readFileSync(service.caFile),
        headers: { authorization: `Bearer ${service.keys.SUPPORT}` }
      })
      call.on("error", () => undefined)
      call.end()
      await waits(1)
      call.destroy()
      await waits(0)
    })
    assert.isTrue((await service.done(["ledger", "verify"])).ok)
  })
})

describe("reads of one operator", () => {
  it("wait for each other, and leave connections to the reads of another operator", async () => {
    const agent = new Agent({ ca: readFileSync(service.caFile) })
    const port = Number(new URL(service.url).port)
    const read = (path: string, key: string) => callServer(agent, port, "GET", `/operator/v1${path}`, { key })
    let audits: Promise<ReadonlyArray<Answer>> = Promise.resolve([])
    // Five requests of one key at a time, and one whose filter has no index.
    const running = pageBudget.share / pageBudget.operatorRows + 1
    await held(async () => {
      const paths = Array.from({ length: 12 }, (_, n) => (n % 4 === 0 ? "/audit?since=1" : "/audit"))
      audits = Promise.all(paths.map((path) => read(path, service.keys.ADMIN)))
      await waits(running, "audit")
      assert.strictEqual((await read("/clients", service.keys.SUPPORT)).status, 200)
      assert.strictEqual((await read("/markets", service.keys.ADMIN)).status, 200, "a read without a query")
      await waits(running, "audit")
    }, "audit")
    assert.deepStrictEqual(new Set((await audits).map(({ status }) => status)), new Set([200]))
    agent.destroy()
  })
})
