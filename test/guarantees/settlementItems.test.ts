/**
 * A settlement item exists if and only if its posting exists, and only once (doc 3, Settlement item; F28): both are one
 * commit, whatever is refused or interrupted, and `ledger verify` finds every violation.
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { Journal } from "../../src/runtime/engine/journal/Journal.ts"
import { settlementChecks } from "../../src/runtime/store/checks/settlementChecks.ts"
import { Adjustments } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { type CuttingProxy, openProxy } from "../runtime/engine/cuttingProxy.ts"
import { testSealing } from "../runtime/engine/fixtures.ts"
import { brokenInvariants, collateral, query, rowCounts, rowsOf } from "../support/Builders.ts"
import { operator, type Service, startService } from "../support/Service.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { expectLog } from "../support/expectLog.ts"

describe("settlement items", () => {
  let database: TestDatabase
  let proxy: CuttingProxy
  let service: Service
  let clientId: number

  beforeAll(async () => {
    database = await makeTestDatabase()
    proxy = await openProxy(database.url)
    service = await startService({ database: { url: proxy.url, sealing: testSealing } })
    const { key } = await service.partner()
    clientId = await service.client(key)
    await collateral(service, key, clientId, { partnerRef: "in", direction: "DEPOSIT", amount: "1000" })
    for (const amount of ["5", "-2.5"]) await service.run(adjusting(amount))
  })
  afterEach(async () => assert.deepStrictEqual(await brokenInvariants(service), []))
  afterAll(async () => {
    await service.stop()
    await proxy.close()
    await database.drop()
  })

  const adjusting = (amount: string) =>
    Effect.flatMap(Adjustments, (adjustments) =>
      adjustments.adjust(operator, String(clientId), { currency: "USDC", amount, reason: "test" })
    ).pipe(Effect.provide(Adjustments.layer))

  it.each([
    ["item", "settlement_items"],
    ["posting", "postings"],
    ["event", "events"]
  ])("SC-SET-07: a refused %s leaves no trace of the correction", async (_what, table) => {
    expectLog(/a commit was refused by the database/)
    const rule = table === "events" ? "name <> 'settlement.item_created'" : "amount <> 666000000"
    await query(service, `ALTER TABLE ${table} ADD CONSTRAINT refused CHECK (${rule}) NOT VALID`)
    const before = await rowCounts(service)
    const failure = await service.run(Effect.flip(adjusting("666")))
    await query(service, `ALTER TABLE ${table} DROP CONSTRAINT refused`)
    assert.strictEqual(failure._tag, "CommitRejected")
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it.each([
    ["before the server has the commit", "request", 0],
    ["after the server has committed", "answer", 1]
  ] as const)(
    "SC-SET-07: cut %s, the posting and its item are both stored or both not",
    async (_when, what, committed) => {
      const count = async () => ({
        postings: (await rowsOf(service, "ledgerTransactions", "type = 'MANUAL'")).length,
        items: (await rowsOf(service, "settlementItems")).length,
        events: (await rowsOf(service, "events", "name = 'settlement.item_created'")).length
      })
      // A new database session first sends other queries.
      await service.run(adjusting("1"))
      const before = await count()
      await service.run(
        Effect.gen(function* () {
          proxy.cutNext(what, "brokerage-journal")
          proxy.letIn(false)
          const failure = yield* Effect.flip(adjusting("1"))
          proxy.letIn(true)
          assert.strictEqual(failure._tag, "Unavailable")
          const journal = yield* Journal
          yield* Effect.sync(() => journal.accepting()).pipe(
            Effect.repeat({ until: (accepting) => accepting, schedule: Schedule.spaced(10) }),
            Effect.timeout("30 seconds")
          )
        })
      )
      assert.deepStrictEqual(await count(), {
        postings: before.postings + committed,
        items: before.items + committed,
        events: before.events + committed
      })
    }
  )

  describe("ledger verify", () => {
    const check = (beginning: string) =>
      settlementChecks.find(({ name }) => name.startsWith(beginning))?.name ?? beginning
    const fits = check("every settlement item has a posting")
    const exists = check("every economic posting")
    const adds = check("client cash under PARTNER custody")
    const owned = check("every settlement item belongs to its client's partner")
    const sane = check("every settlement item has a state")
    beforeAll(() => query(service, "CREATE TABLE kept AS TABLE settlement_items"))
    afterEach(async () => {
      await query(service, "TRUNCATE settlement_items")
      await query(service, "INSERT INTO settlement_items TABLE kept")
    })
    const set = (change: string) => `UPDATE settlement_items SET ${change} WHERE id = (SELECT min(id) FROM kept)`

    it.each([
      [
        "an item without posting",
        "INSERT INTO settlement_items SELECT id + 9000, partner_id, client_id, shard, state, version, context, type, currency, amount, tx_id + 9000, occurred_at FROM kept LIMIT 1",
        [fits, adds, sane]
      ],
      ["a posting without item", "DELETE FROM settlement_items WHERE id = (SELECT min(id) FROM kept)", [exists, adds]],
      [
        "a second item of another type",
        "INSERT INTO settlement_items SELECT id + 9000, partner_id, client_id, shard, state, version, context, 'PNL', currency, amount, tx_id, occurred_at FROM kept LIMIT 1",
        [fits, exists, adds]
      ],
      ["another amount", set("amount = amount + 1"), [fits, adds, sane]],
      ["another client", set("client_id = client_id + 1"), [fits, owned]],
      ["another type", set("type = 'PNL'"), [fits]],
      ["an undeclared state", set("state = 'LOST'"), [sane]],
      ["SETTLED without a report", set("state = 'SETTLED'"), [sane]],
      ["PENDING after a report", set("context = (context::jsonb || '{\"reports\": 1}')::json"), [sane]]
    ])("finds %s", async (_title, statement, names) => {
      await query(service, statement)
      const broken = await brokenInvariants(service)
      assert.deepStrictEqual(
        broken.map((sentence) => names.find((name) => sentence.startsWith(`${name}: `)) ?? sentence),
        names as never
      )
    })
  })
})
