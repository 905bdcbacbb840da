/**
 * `ledger verify` beside a service at work: never a false break while writers go on, every kind of break found, and a
 * caller that goes away takes its statement with it (operator surface, ledger verify; A2-62, A3-43).
 */
import { PgConnection } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { verifyLedger } from "../../../src/runtime/ledger/verify.ts"
import { Adjustments } from "../../../src/runtime/services/Adjustments.ts"
import { brokenInvariants, collateral, query } from "../../support/Builders.ts"
import { operator, type Service, startService } from "../../support/Service.ts"

let service: Service
let key: string
const clients: Array<number> = []

const adjust = (clientId: number, amount: string) =>
  service.run(
    Effect.provide(
      Adjustments.use((books) =>
        books.adjust(operator, String(clientId), { currency: "USDC", amount, reason: "test" })
      ),
      Adjustments.layer
    )
  )
const deposit = (clientId: number, partnerRef: string) =>
  collateral(service, key, clientId, { partnerRef, direction: "DEPOSIT", amount: "3" })

beforeAll(async () => {
  service = await startService()
  key = (await service.partner()).key
  for (let n = 0; n < 4; n++) clients.push(await service.client(key))
  for (const clientId of clients) {
    await deposit(clientId, `first-${clientId}`)
    await adjust(clientId, "2")
  }
  await collateral(service, key, clients[0] as number, { partnerRef: "much", direction: "WITHDRAWAL", amount: "900" })
})
afterAll(() => service.stop())

describe("ledger verify", () => {
  it("A3-43: twenty runs while money moves find nothing wrong, and every figure is of one moment", async () => {
    const enough = new AbortController()
    let written = 0
    const lanes = clients.map(async (clientId) => {
      for (let n = 0; !enough.signal.aborted; n++) {
        const booked = await Promise.all([deposit(clientId, `lane-${clientId}-${n}`), adjust(clientId, "0.5")])
        assert.strictEqual(booked[0].status, 201)
        written++
        if (n % 10 === 0) await service.client(key)
      }
    })
    const figures: Array<number> = []
    for (let run = 0; run < 20; run++) {
      const before = written
      const report = await service.run(verifyLedger)
      assert.deepStrictEqual(
        report.checks.filter(({ ok }) => !ok),
        []
      )
      figures.push(Number(report.checks[0]?.figure))
      await vi.waitFor(() => assert.isAbove(written, before))
    }
    enough.abort()
    await Promise.all(lanes)
    assert.isAbove(new Set(figures).size, 10)
    assert.deepStrictEqual(
      figures,
      figures.toSorted((a, b) => a - b)
    )
  })

  // By the name of the check: how it is broken behind the service's back, and how that is undone.
  const aPosting = "(SELECT max(posting_id) FROM postings WHERE client_id IS NULL)"
  const anItem = "(SELECT min(id) FROM settlement_items)"
  const withoutItem = [
    `CREATE TABLE kept AS SELECT * FROM settlement_items WHERE id = ${anItem}; DELETE FROM settlement_items WHERE id = (SELECT id FROM kept)`,
    "INSERT INTO settlement_items SELECT * FROM kept; DROP TABLE kept"
  ] as const
  const plants: Readonly<Record<string, readonly [plant: string, undo: string]>> = {
    "every transaction sums to zero per currency": [
      `UPDATE postings SET amount = amount + 1 WHERE posting_id = ${aPosting}`,
      `UPDATE postings SET amount = amount - 1 WHERE posting_id = ${aPosting}`
    ],
    "every posting belongs to a transaction and every transaction has postings": [
      "INSERT INTO ledger_transactions SELECT 999999999, 'planted', type, actor, reason, client_id, partner_id, refs, ts FROM ledger_transactions LIMIT 1",
      "DELETE FROM ledger_transactions WHERE tx_id = 999999999"
    ],
    "cash and reserved of every client equal the sum of its postings": [
      "UPDATE balances SET cash = cash + 1 WHERE client_id = 1",
      "UPDATE balances SET cash = cash - 1 WHERE client_id = 1"
    ],
    "no reserve is negative": [
      "ALTER TABLE balances DROP CONSTRAINT balances_reserved_check; UPDATE balances SET reserved = -1 WHERE client_id = 1",
      "UPDATE balances SET reserved = 0 WHERE client_id = 1; ALTER TABLE balances ADD CHECK (reserved >= 0)"
    ],
    "every BOOKED collateral report has exactly its posting, no REFUSED one has any": [
      "UPDATE collateral_reports SET state = 'REFUSED' WHERE id = (SELECT min(id) FROM collateral_reports)",
      "UPDATE collateral_reports SET state = 'BOOKED' WHERE id = (SELECT min(id) FROM collateral_reports)"
    ],
    "partner_custody is minus the collateral held for the partner's clients": [
      "UPDATE postings SET partner_id = partner_id + 1000 WHERE posting_id = (SELECT min(posting_id) FROM postings WHERE account LIKE 'partner_custody:%')",
      "UPDATE postings SET partner_id = partner_id - 1000 WHERE partner_id > 1000"
    ],
    "every settlement item has exactly its posting: type, client and amount": [
      `UPDATE settlement_items SET client_id = client_id + 1 WHERE id = ${anItem}`,
      `UPDATE settlement_items SET client_id = client_id - 1 WHERE id = ${anItem}`
    ],
    "every economic posting under PARTNER custody has its settlement item, once": withoutItem,
    "client cash under PARTNER custody equals the collateral held plus the net of all settlement items": withoutItem,
    "every settlement item is in a state its reports can have led to, with the amount it shows": [
      `UPDATE settlement_items SET state = 'SETTLED' WHERE id = ${anItem}`,
      `UPDATE settlement_items SET state = 'PENDING' WHERE id = ${anItem}`
    ],
    "event numbers have no gap per partner": [
      "UPDATE events SET seq = seq + 1 WHERE seq = (SELECT max(seq) FROM events)",
      "UPDATE events SET seq = seq - 1 WHERE seq = (SELECT max(seq) FROM events)"
    ],
    "every claim of a client's reference and e-mail names a client": [
      "INSERT INTO claims VALUES ('email:nobody@mail.example', 999999999)",
      "DELETE FROM claims WHERE owner = 999999999"
    ],
    "the audit chain is whole": [
      "UPDATE audit SET key_label = key_label || 'x' WHERE id = (SELECT max(id) FROM audit)",
      "UPDATE audit SET key_label = rtrim(key_label, 'x') WHERE id = (SELECT max(id) FROM audit)"
    ]
  }
  const run = async (statements: string): Promise<void> => {
    for (const statement of statements.split("; ")) await query(service, statement)
  }

  it("A3-43: every check has a break planted below", async () => {
    for (const table of ["postings", "ledger_transactions", "events", "audit"])
      await query(service, `ALTER TABLE ${table} DISABLE TRIGGER USER`)
    const { checks } = await service.run(verifyLedger)
    assert.sameMembers(
      checks.map(({ name }) => name),
      Object.keys(plants)
    )
  })

  it.each(Object.entries(plants).map(([name, [plant, undo]]) => ({ name, plant, undo })))(
    "A3-43: a planted break is found: $name",
    async ({ name, plant, undo }) => {
      await run(plant)
      const report = await service.run(verifyLedger).finally(() => run(undo))
      const found = report.checks.find((check) => check.name === name)
      assert.isFalse(report.ok)
      assert.isFalse(found?.ok)
      assert.isNotNull(found?.detail)
      assert.deepStrictEqual(await brokenInvariants(service), [])
    }
  )

  it("architecture 5: a caller that goes away ends its statement, and the connection is whole", async () => {
    const scope = await service.run(Scope.make())
    const holder = await service.run(PgConnection.make({ url: service.database.url }).pipe(Scope.provide(scope)))
    await service.run(
      Effect.andThen(holder.query("BEGIN"), holder.query("LOCK TABLE postings IN ACCESS EXCLUSIVE MODE"))
    )
    const waiting = async () =>
      (await service.run(holder.query("SELECT 1 FROM pg_locks WHERE relation = 'postings'::regclass AND NOT granted")))
        .rows
    const verifying = await service.run(Effect.forkDetach(verifyLedger))
    await vi.waitFor(async () => assert.lengthOf(await waiting(), 1))
    await service.run(Fiber.interrupt(verifying))
    assert.lengthOf(await waiting(), 0)
    await service.run(Scope.close(scope, Exit.void))
    assert.deepStrictEqual(await brokenInvariants(service), [])
    const open = await query(
      service,
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'"
    )
    assert.lengthOf(open, 0)
  })
})
