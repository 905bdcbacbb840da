/**
 * A bulk report that is interrupted (A1-51, A1-53; doc 3, Settlement reporting rules 2): no entry takes effect twice,
 * and the one answer of the key states the results over all attempts. The service loses its database between two
 * commits of the bulk report, before or after the server has received the second, and never returns: another service
 * takes over.
 */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Option } from "effect"
import { noFacts } from "../../src/machines/market/Facts.ts"
import { ActorHost, Unavailable } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { setPauseTrigger } from "../../src/runtime/engine/PausePoints.ts"
import { Adjustments } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { BulkReports } from "../../src/runtime/services/money/settlement/BulkReports.ts"
import type { Caller } from "../../src/runtime/services/partners/Caller.ts"
import { Directory } from "../../src/runtime/services/partners/Directory.ts"
import { RowReads } from "../../src/runtime/ports/RowReads.ts"
import { type CuttingProxy, openProxy } from "../runtime/engine/cuttingProxy.ts"
import { sampleRows, testSealing } from "../runtime/engine/fixtures.ts"
import { brokenInvariants, rowsOf } from "../support/Builders.ts"
import { type Answer, operator, type Service, startService } from "../support/Service.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

/** More clients than are decided concurrently, so that the bulk report needs several batches of commits. */
const clientCount = 100

describe("a bulk report that dies in the middle", { timeout: 60_000 }, () => {
  let database: TestDatabase
  let proxy: CuttingProxy
  let dying: Service
  let next: Service | null = null
  let key: string

  beforeEach(async () => {
    database = await makeTestDatabase()
    proxy = await openProxy(database.url)
    dying = await startService({ database: { url: proxy.url, sealing: testSealing } })
    key = (await dying.partner()).key
    const clients = await Promise.all(Array.from({ length: clientCount }, () => dying.client(key)))
    await dying.run(
      Effect.flatMap(Adjustments, (adjustments) =>
        Effect.forEach(
          clients,
          (id) => adjustments.adjust(operator, String(id), { currency: "USDC", amount: "1", reason: "t" }),
          { concurrency: 32 }
        )
      ).pipe(Effect.provide(Adjustments.layer))
    )
  })
  afterEach(async () => {
    setPauseTrigger("before-commit", null)
    proxy.letIn(true)
    await next?.stop()
    next = null
    await dying.stop()
    await proxy.close()
    await database.drop()
  })

  const send = (service: Service, items: ReadonlyArray<object>): Promise<Answer> =>
    service.call("POST", "/partner/v1/settlement/report", {
      key,
      body: { items },
      headers: { "idempotency-key": "bulk" }
    })

  it.each(["request", "answer"] as const)(
    "A1-53: cut at the second batch's %s, the retry has the result of all attempts",
    async (what) => {
      const ids = (await rowsOf(dying, "settlementItems")).map(({ id }) => id)
      assert.lengthOf(ids, clientCount)
      // Each item is reported as failed twice and then as settled. If decided again from the start, the first two would
      // be refused.
      const items = ids.flatMap((itemId) => [
        { itemId, status: "FAILED" },
        { itemId, status: "FAILED" },
        { itemId, status: "SETTLED", partnerTxRef: `tx-${itemId}` }
      ])
      let batches = 0
      setPauseTrigger("before-commit", () => {
        if (++batches !== 2) return
        proxy.cutNext(what, "brokerage-journal")
        proxy.letIn(false)
      })
      const first = await send(dying, items)
      setPauseTrigger("before-commit", null)
      assert.deepStrictEqual([first.status, first.json.code], [503, 5030])

      next = await startService({ database: { url: database.url, sealing: testSealing } })
      const done = await rowsOf(next, "bulkReportParts")
      assert.isAbove(done.length, 0)
      assert.isBelow(done.length, clientCount)
      const foreign = await send(next, items.slice(1))
      assert.deepStrictEqual([foreign.status, foreign.json.code], [409, 4092])

      const answer = await send(next, items)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers["idempotency-replayed"], undefined)
      const { results, ...counters } = answer.json.data
      assert.deepStrictEqual(counters, {
        settled: clientCount,
        failed: clientCount,
        unchanged: clientCount,
        refused: 0
      })
      assert.deepStrictEqual(
        results,
        items.map(({ itemId, status }, place) => ({ itemId, ok: true, changed: place % 3 !== 1, status }))
      )
      // The stored parts are those of the first attempt: none was decided again.
      const parts = await rowsOf(next, "bulkReportParts")
      for (const part of done) assert.deepInclude(parts, part)
      for (const row of await rowsOf(next, "settlementItems")) {
        assert.deepStrictEqual([row.state, row.context["reports"]], ["SETTLED", 2])
      }
      const audited = await rowsOf(next, "audit", "action = 'settlement.report'")
      assert.lengthOf(audited, 2 * clientCount)
      const again = await send(next, items)
      assert.deepStrictEqual([again.text, again.headers["idempotency-replayed"]], [answer.text, "true"])
      assert.deepStrictEqual(await brokenInvariants(next), [])
    }
  )
})

describe("a busy client", () => {
  it("delays only itself: other clients are decided, and the request is answered later", async () => {
    const asked: Array<string> = []
    const clients = Array.from({ length: 200 }, (_, n) => n + 1)
    const rows = clients.map((id) => ({ ...sampleRows(id).settlementItems, clientId: id }))
    const unused = () => Effect.die(new Error("not used here"))
    const services = Layer.mergeAll(
      Layer.succeed(ActorHost, {
        dispatch: (command) =>
          Effect.suspend(() => {
            asked.push(command.subject)
            return command.subject === "client:1" ? Effect.fail(new Unavailable({ unknown: false })) : Effect.never
          }).pipe(Effect.timeoutOrElse({ duration: "20 millis", orElse: () => Effect.succeed([] as never) })),
        record: unused,
        read: unused,
        readNow: unused,
        awaitCommitted: unused,
        facts: () => noFacts,
        onCommitted: () => {},
        onCallEnded: () => {},
        onDecided: () => {},
        pressed: () => false,
        stats: () => ({ resident: 0, waiting: 0 }),
        drain: Effect.void
      }),
      BusinessClock.layer(0),
      Layer.succeed(Directory, {} as Directory["Service"]),
      Layer.succeed(RowReads, { among: () => Effect.succeed(rows) } as unknown as RowReads["Service"])
    )
    const caller = { partner: { row: { id: 1 } }, by: operator.by } as unknown as Caller
    const items = clients.map((itemId) => ({ itemId, status: "FAILED" }))
    const exit = await Effect.runPromise(
      Effect.exit(
        Effect.flatMap(BulkReports, (bulk) => bulk.report(caller, { items }, null)).pipe(
          Effect.provide(BulkReports.layer.pipe(Layer.provide(services)))
        )
      )
    )
    const error = Exit.isFailure(exit) ? Option.getOrNull(Cause.findErrorOption(exit.cause)) : null
    assert.strictEqual(error?._tag, "Unavailable")
    assert.sameMembers(
      asked,
      clients.map((id) => `client:${id}`)
    )
  })
})
