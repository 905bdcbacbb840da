/**
 * `ledger verify` over the operator surface: one at a time, without a hold on the service, and gone with its caller
 * (operator surface, ledger verify; architecture, HTTP).
 */
import { PgConnection } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { readFileSync } from "node:fs"
import { request } from "node:https"
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

/** While it is held, a verification waits at its first look at the postings. */
const hold = () =>
  service.run(Effect.andThen(holder.query("BEGIN"), holder.query("LOCK TABLE postings IN ACCESS EXCLUSIVE MODE")))
const release = () => service.run(holder.query("COMMIT"))
const waiting = async (): Promise<number> =>
  (await service.run(holder.query("SELECT 1 FROM pg_locks WHERE relation = 'postings'::regclass AND NOT granted"))).rows
    .length

describe("operator surface, ledger verify", () => {
  it("two at once take turns, and both are answered", async () => {
    await hold()
    const both = Promise.all([service.done(["ledger", "verify"]), service.done(["ledger", "verify"])])
    await vi.waitFor(async () => assert.strictEqual(await waiting(), 1), { timeout: 10_000 })
    // The service goes on meanwhile.
    assert.strictEqual((await service.partner()).code, "P1")
    assert.strictEqual(await waiting(), 1)
    await release()
    assert.deepStrictEqual(
      (await both).map(({ ok }) => ok),
      [true, true]
    )
  })

  it("a caller that hangs up ends its verification", async () => {
    await hold()
    const call = request(`${service.url}/operator/v1/ledger/verify`, {
      ca: readFileSync(service.caFile),
      headers: { authorization: `Bearer ${service.keys.SUPPORT}` }
    })
    call.on("error", () => undefined)
    call.end()
    await vi.waitFor(async () => assert.strictEqual(await waiting(), 1), { timeout: 10_000 })
    call.destroy()
    await vi.waitFor(async () => assert.strictEqual(await waiting(), 0), { timeout: 3_000 })
    await release()
    assert.isTrue((await service.done(["ledger", "verify"])).ok)
  })
})
