/**
 * Another session locks a client's row, in psql or in a tool left open. That client's requests get 503 with
 * Retry-After, all other requests succeed, and the refused ones can be sent again. A locked table shows on /healthz
 * (A1-55; decision 11).
 */
import { PgConnection } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { eventually } from "../runtime/engine/eventually.ts"
import { brokenInvariants, collateral, get } from "../support/Builders.ts"
import { type Service, startService } from "../support/Service.ts"

describe("a row that another session has locked", () => {
  let service: Service
  let scope: Scope.Closeable
  let other: PgConnection.PgConnection
  let key: string
  let held: number
  let free: number

  beforeAll(async () => {
    service = await startService()
    key = (await service.partner()).key
    held = await service.client(key)
    free = await service.client(key)
    scope = await service.run(Scope.make())
    other = await service.run(PgConnection.make({ url: service.database.url }).pipe(Scope.provide(scope)))
  })
  afterAll(async () => {
    await service.run(Scope.close(scope, Exit.void))
    await service.stop()
  })

  const hold = (statement: string) => service.run(Effect.andThen(other.query("BEGIN"), other.query(statement)))
  const letGo = () => service.run(other.query("ROLLBACK"))
  const report = (clientId: number, reference: string) =>
    collateral(
      service,
      key,
      clientId,
      { direction: "DEPOSIT", amount: "10.00", sourceAsset: "EURD", partnerRef: reference },
      { "idempotency-key": reference }
    )
  const health = async () => (await service.call("GET", "/healthz")).status
  const cash = async (clientId: number) =>
    (await get(service, key, `/clients/${clientId}`)).json.data.cashUsdc as string

  it("its client gets 503 with Retry-After, other clients are served, and the repeated request is executed once later", async () => {
    await hold(`SELECT FROM subjects WHERE subject = 'client:${held}' FOR UPDATE`)
    const [stopped, served] = await Promise.all([report(held, "h-1"), report(free, "f-1")])
    assert.deepInclude(stopped.json, { code: 5030 })
    assert.strictEqual(stopped.status, 503)
    assert.strictEqual(stopped.headers["retry-after"], "1")
    assert.strictEqual(served.status, 201, served.text)
    assert.strictEqual((await report(held, "h-1")).status, 503)
    assert.strictEqual((await report(free, "f-2")).status, 201)
    // Reads succeed, and the service is healthy.
    assert.strictEqual(await cash(held), "0.000000")
    assert.strictEqual(await health(), 200)
    await letGo()
    await eventually(async () => (await report(held, "h-1")).status === 201)
    assert.strictEqual((await report(held, "h-1")).headers["idempotency-replayed"], "true")
    assert.strictEqual(await cash(held), "10.000000")
    assert.strictEqual(await cash(free), "20.000000")
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })

  it("a locked table: requests that need it get 503 at once, and /healthz shows it until the lock is released", async () => {
    await hold("LOCK TABLE postings IN EXCLUSIVE MODE")
    assert.strictEqual((await report(free, "f-3")).status, 503)
    assert.strictEqual(await health(), 503)
    assert.strictEqual((await report(held, "h-3")).status, 503)
    // A new client needs no posting.
    assert.isAbove(await service.client(key), free)
    await letGo()
    await eventually(async () => (await health()) === 200)
    assert.strictEqual((await report(free, "f-3")).status, 201)
    assert.strictEqual((await report(held, "h-3")).status, 201)
    assert.strictEqual(await cash(free), "30.000000")
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })
})
