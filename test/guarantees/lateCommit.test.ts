/**
 * A commit whose caller got "unknown outcome", and that proves to be committed, has all consequences of committed rows:
 * a revoked key opens nothing, a listed name is found, changed limits block no partner (architecture, Engine: output
 * gate, live views). The database is behind a proxy that drops the answer to the commit and refuses connections until
 * the caller's timeout.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import type { DispatchError } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { Journal } from "../../src/runtime/engine/journal/Journal.ts"
import { Partners } from "../../src/runtime/services/lifecycle/Partners.ts"
import { WatchLists } from "../../src/runtime/services/screening/WatchLists.ts"
import { type CuttingProxy, openProxy } from "../runtime/engine/cuttingProxy.ts"
import { testSealing } from "../runtime/engine/fixtures.ts"
import { operator, type Service, startService } from "../support/Service.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

describe("late commit", () => {
  let database: TestDatabase
  let proxy: CuttingProxy
  let service: Service

  beforeAll(async () => {
    database = await makeTestDatabase()
    proxy = await openProxy(database.url)
    service = await startService({ database: { url: proxy.url, sealing: testSealing } })
  })
  afterAll(async () => {
    await service.stop()
    await proxy.close()
    await database.drop()
  })

  type Services = Partners | WatchLists | Journal

  /** Runs a command that is committed while its answer is lost, and waits until the service has its database again. */
  const withLostAnswer = async <A>(command: Effect.Effect<A, DispatchError, Services>, tries = 3): Promise<void> => {
    const outcome: DispatchError = await service.run(
      Effect.gen(function* () {
        proxy.cutNext("answer", "brokerage-journal")
        proxy.letIn(false)
        const failure = yield* Effect.flip(command)
        proxy.letIn(true)
        const journal = yield* Journal
        yield* Effect.sync(() => journal.accepting()).pipe(
          Effect.repeat({ until: (accepting) => accepting, schedule: Schedule.spaced(10) }),
          Effect.timeout("30 seconds")
        )
        return failure
      }).pipe(Effect.provide(WatchLists.layer)) as Effect.Effect<DispatchError, never, never>
    )
    // The proxy cut the answer to the journal's ownership check instead, so the command has changed nothing.
    if (outcome._tag === "Unavailable" && !outcome.unknown && tries > 1) return withLostAnswer(command, tries - 1)
    assert.deepInclude(outcome, { _tag: "Unavailable", unknown: true })
  }

  it("a revoked key opens nothing", async () => {
    const { key, keyId } = await service.partner({ code: "LATEKEY" })
    assert.strictEqual((await service.call("GET", "/partner/v1/me", { key })).status, 200)
    await withLostAnswer(Effect.flatMap(Partners, (partners) => partners.revokeKey(operator, keyId, "lost")))
    assert.strictEqual((await service.call("GET", "/partner/v1/me", { key })).status, 401)
  })

  it("changed limits apply and block no partner; a listed name is found", async () => {
    const { key, code } = await service.partner({ code: "LATELIM" })
    const clientId = await service.client(key)
    await withLostAnswer(Effect.flatMap(Partners, (partners) => partners.limits(operator, code, { trade: 777 })))
    const booked = await service.call("POST", `/partner/v1/clients/${clientId}/collateral`, {
      key,
      body: { partnerRef: "after", direction: "DEPOSIT", amount: "1.00" }
    })
    assert.deepStrictEqual([booked.status, booked.headers["ratelimit-limit"]], [201, "777"])
    await withLostAnswer(
      Effect.flatMap(WatchLists, (lists) => lists.add(operator, { name: "Quirin Zebrowski", list: "SANCTIONS" }))
    )
    const body = sampleOnboarding(4_000, "late", Date.now())
    const person = { ...body.kyc.personalInfo, first_name: "Quirin", last_name: "Zebrowski" }
    const onboarded = await service.call("POST", "/partner/v1/clients", {
      key,
      body: { ...body, kyc: { ...body.kyc, personalInfo: person } }
    })
    assert.strictEqual(onboarded.json.data.review.reason, "SCREENING_HIT")
  })
})
