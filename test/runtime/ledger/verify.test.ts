/**
 * `ledger verify` on a working service: no false break while writers continue, every kind of break found, and a
 * statement that ends with its caller (operator surface, ledger verify; A2-62).
 */
import { PgConnection } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it, onTestFinished, vi } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { type LedgerReport, verifyLedger } from "../../../src/runtime/ledger/verify.ts"
import { Adjustments } from "../../../src/runtime/services/money/ledger/Adjustments.ts"
import { Payouts } from "../../../src/runtime/services/money/ledger/Payouts.ts"
import { brokenInvariants, collateral, query } from "../../support/Builders.ts"
import { isDeep, played } from "../../support/every.ts"
import { operator, type Service, startService } from "../../support/Service.ts"
import { marginPlants, moreMarginPlants, rightMargins } from "./marginPlants.ts"
import { moreOrderPlants, orderPlants } from "./orderPlants.ts"
import { moreStatementPlants, statementPlants } from "./statementPlants.ts"
import { swapPlants } from "./swapPlants.ts"

const runs = isDeep ? 20 : 6
/** Further breaks of a check: `npm test` plants every fourth. */
const someOf = <A>(plants: ReadonlyArray<A>): ReadonlyArray<A> =>
  played({ usual: plants.filter((_, at) => at % 4 === 0), deep: plants })

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
/** A correction and a payout, each with its reference, in another currency than USDC, which no route pays out. */
const payOutOnce = async (clientId: number) => {
  const order = { currency: "EUR", amount: "4", reason: "test", reference: "once" }
  const books = Layer.merge(Adjustments.layer, Payouts.layer)
  const both = Effect.gen(function* () {
    const booked = yield* (yield* Adjustments).adjust(operator, String(clientId), order)
    const paid = yield* (yield* Payouts).pay(operator, String(clientId), order)
    return [booked.ok, paid.ok]
  })
  assert.deepStrictEqual(await service.run(Effect.provide(both, books)), [true, true])
}
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
  // One CONFIRMED and one PENDING deposit notice, one PAID and one REQUESTED withdrawal request.
  for (const sandbox of [true, false]) {
    const broker = await service.partner({ custody: "BROKER", collateralAsset: "", sandbox })
    const clientId = await service.client(broker.key)
    const path = `/partner/v1/clients/${clientId}`
    const body = { partnerRef: "d", currency: "EUR", amount: "5" }
    await service.call("POST", `${path}/deposits`, { key: broker.key, body })
    await adjust(clientId, "2")
    const asked = { partnerRef: "w", currency: "USDC", amount: "1", destination: { iban: "DE1" } }
    await service.call("POST", `${path}/withdrawals`, { key: broker.key, body: asked })
  }
  await payOutOnce(clients[0] as number)
  const stated = { kind: "ACCOUNT", from: Date.now() - 1_000_000, to: Date.now() }
  const made = await service.call("POST", `/partner/v1/clients/${clients[0]}/statements`, { key, body: stated })
  assert.strictEqual(made.status, 200, made.text)
})
afterAll(() => service.stop())

describe("findings of ledger verify", () => {
  // The plants by the name of the check that finds them: the change of the database, and its reversal.
  const aPosting = "(SELECT max(posting_id) FROM postings WHERE client_id IS NULL)"
  const anItem = "(SELECT min(id) FROM settlement_items)"
  const withoutItem = [
    `CREATE TABLE kept AS SELECT * FROM settlement_items WHERE id = ${anItem}; DELETE FROM settlement_items WHERE id = (SELECT id FROM kept)`,
    "INSERT INTO settlement_items SELECT * FROM kept; DROP TABLE kept"
  ] as const
  const keptClaims = "DELETE FROM claims WHERE name IN (SELECT name FROM kept)"
  const ofAnother = (table: string) =>
    [
      `UPDATE ${table} SET partner_id = partner_id + 1000 WHERE id = (SELECT min(id) FROM ${table})`,
      `UPDATE ${table} SET partner_id = partner_id - 1000 WHERE partner_id > 1000`
    ] as const
  const partner1 = "(SELECT partner_id FROM clients WHERE id = 1)"
  const contract = (partner: string, premium = "28.500000"): string =>
    `INSERT INTO barrier_contracts VALUES (999999999, ${partner}, 1, 'OPEN', '1', '{"premium":"${premium}","commission":"0.120000"}', 999999998, 'BTC-USDC-KO', 'USDC', 28500000, 120000, 1, NULL, NULL)`
  const noContract = "DELETE FROM barrier_contracts WHERE id = 999999999"
  const request = (partner: string, state: string): string =>
    `INSERT INTO rfqs VALUES (999999999, ${partner}, 1, '${state}', '1', '{"contractId":999999998}', 'BTC-USDC-KO', 'USDC', 1, 1, NULL, false)`
  const noRequest = "DELETE FROM rfqs WHERE id = 999999999"
  const funded = (key: string, amount: number): string =>
    `INSERT INTO ledger_transactions SELECT 999999999, '${key}', 'FUNDING', actor, reason, 1, partner_id,
       '{"symbol":"X","settledAt":8,"qty":"1","fundingPerUnit":"0.00000500","side":"LONG"}', ts FROM ledger_transactions LIMIT 1; INSERT INTO postings SELECT 999999999, tx_id, 'client:1', 1, partner_id, 'USDC', 'cash', ${amount}
       FROM ledger_transactions WHERE tx_id = 999999999`
  const notFunded =
    "DELETE FROM postings WHERE tx_id = 999999999; DELETE FROM ledger_transactions WHERE tx_id = 999999999"
  const plants: Readonly<Record<string, readonly [plant: string, undo: string]>> = {
    ...orderPlants,
    ...marginPlants,
    ...swapPlants,
    ...statementPlants,
    "every contract has one commission posting and, once ended, one settlement posting": [
      contract(partner1),
      noContract
    ],
    "every contract shows its booked figures, and has a result exactly if it has ended": [
      contract(partner1, "28.500001"),
      noContract
    ],
    "every ACCEPTED opening request has exactly one contract": [request(partner1, "ACCEPTED"), noRequest],
    "every request for quotes belongs to its client's partner": [request("999", "EXPIRED"), noRequest],
    "every knock-out contract belongs to its client's partner": [contract("999"), noContract],
    "every transaction sums to zero per currency": [
      `UPDATE postings SET amount = amount + 1 WHERE posting_id = ${aPosting}`,
      `UPDATE postings SET amount = amount - 1 WHERE posting_id = ${aPosting}`
    ],
    "every posting belongs to a transaction and every transaction has postings": [
      "INSERT INTO ledger_transactions SELECT 999999999, 'planted', type, actor, reason, client_id, partner_id, refs, ts FROM ledger_transactions LIMIT 1",
      "DELETE FROM ledger_transactions WHERE tx_id = 999999999"
    ],
    "every client's cash and reserve equal the sums of its postings": [
      "UPDATE balances SET cash = cash + 1 WHERE client_id = 1",
      "UPDATE balances SET cash = cash - 1 WHERE client_id = 1"
    ],
    "every client's balance with the venue equals its postings in the venue account": [
      "UPDATE balances SET from_venue = from_venue + 1 WHERE client_id = 1",
      "UPDATE balances SET from_venue = from_venue - 1 WHERE client_id = 1"
    ],
    "funding is posted once per client, market and stamp, and once per late trade": [
      funded("funding:X:8", -5),
      notFunded
    ],
    "every funding posting equals quantity times rate, with one rate per market and stamp": [
      funded("funding:X:8:1", 5),
      notFunded
    ],
    "every client's funding equals the sum of its funding postings": [
      "UPDATE balances SET funding = funding + 1 WHERE client_id = 1",
      "UPDATE balances SET funding = funding - 1 WHERE client_id = 1"
    ],
    "no reserve is negative": [
      "ALTER TABLE balances DROP CONSTRAINT balances_reserved_check; UPDATE balances SET reserved = -1 WHERE client_id = 1",
      "UPDATE balances SET reserved = 0 WHERE client_id = 1; ALTER TABLE balances ADD CHECK (reserved >= 0)"
    ],
    "every BOOKED collateral report has exactly one posting, every REFUSED report none": [
      "UPDATE collateral_reports SET state = 'REFUSED' WHERE id = (SELECT min(id) FROM collateral_reports)",
      "UPDATE collateral_reports SET state = 'BOOKED' WHERE id = (SELECT min(id) FROM collateral_reports)"
    ],
    "every CONFIRMED deposit notice has exactly one posting, every other notice none": [
      "UPDATE deposit_notices SET client_id = client_id + 1 WHERE state = 'CONFIRMED'",
      "UPDATE deposit_notices SET client_id = client_id - 1 WHERE state = 'CONFIRMED'"
    ],
    "every client's reserve equals the sum of its REQUESTED withdrawals and the holds of its orders and takes": [
      "UPDATE withdrawal_requests SET amount = amount + 1 WHERE state = 'REQUESTED'",
      "UPDATE withdrawal_requests SET amount = amount - 1 WHERE state = 'REQUESTED'"
    ],
    "every withdrawal request has exactly the postings of its state": [
      "UPDATE withdrawal_requests SET state = 'CANCELLED' WHERE state = 'REQUESTED'",
      "UPDATE withdrawal_requests SET state = 'REQUESTED' WHERE state = 'CANCELLED'"
    ],
    "every withdrawal request has a state that fits its steps, and shows its stored amount": [
      "UPDATE withdrawal_requests SET paid_at = 1 WHERE state = 'REQUESTED'",
      "UPDATE withdrawal_requests SET paid_at = NULL WHERE state = 'REQUESTED'"
    ],
    "every withdrawal posting without a request belongs to a payout with both steps": [
      "UPDATE ledger_transactions SET key = 'payout:' || key WHERE key LIKE 'withdrawal:%:out'",
      "UPDATE ledger_transactions SET key = substr(key, 8) WHERE key LIKE 'payout:withdrawal:%'"
    ],
    "every corrected payout is fully reversed and booked again as a debt of the partner": [
      "UPDATE ledger_transactions SET key = 'payout:' || tx_id || ':owed' WHERE key = 'manual:' || tx_id",
      "UPDATE ledger_transactions SET key = 'manual:' || tx_id WHERE key = 'payout:' || tx_id || ':owed'"
    ],
    "every approval matches the command, arguments and requester in the audit": [
      `INSERT INTO approvals (id, state, version, context, command, args, requested_by, requested_at)
         VALUES (998, 'PENDING', '1', '{"requestedBy": 1, "argumentsHash": "a1"}', 'ledger adjust', '{}', 1, 1)`,
      "DELETE FROM approvals WHERE id = 998"
    ],
    "every deposit notice has a state that fits its decision, and shows its stored amount": [
      "UPDATE deposit_notices SET decided_at = 1 WHERE state = 'PENDING'",
      "UPDATE deposit_notices SET decided_at = NULL WHERE state = 'PENDING'"
    ],
    "partner_custody equals the negative of the collateral booked for the partner's clients": [
      "UPDATE postings SET partner_id = partner_id + 1000 WHERE posting_id = (SELECT min(posting_id) FROM postings WHERE account LIKE 'partner_custody:%')",
      "UPDATE postings SET partner_id = partner_id - 1000 WHERE partner_id > 1000"
    ],
    "every settlement item has a posting with its type, client and amount": [
      `UPDATE settlement_items SET client_id = client_id + 1 WHERE id = ${anItem}`,
      `UPDATE settlement_items SET client_id = client_id - 1 WHERE id = ${anItem}`
    ],
    "every economic posting under PARTNER custody has exactly one settlement item": withoutItem,
    "every transaction type fits the custody model at its booking": [
      "INSERT INTO custody_changes VALUES (999999999, 1, 'BROKER', 'PARTNER', 'EURD', 'planted', 'ADMIN', 1)",
      "DELETE FROM custody_changes WHERE id = 999999999"
    ],
    "every partner's custody changes form a chain that ends at its current model": [
      "INSERT INTO custody_changes VALUES (999999999, 1, 'PARTNER', 'BROKER', '', 'planted', 'ADMIN', 1)",
      "DELETE FROM custody_changes WHERE id = 999999999"
    ],
    "client cash under PARTNER custody equals the collateral held plus the net of all settlement items": withoutItem,
    "every settlement item has a state that fits its reports, and shows its stored amount": [
      `UPDATE settlement_items SET state = 'SETTLED' WHERE id = ${anItem}`,
      `UPDATE settlement_items SET state = 'PENDING' WHERE id = ${anItem}`
    ],
    "the totals of settlement items per day and state equal the items": [
      "UPDATE settlement_totals SET debits = debits + 1",
      "UPDATE settlement_totals SET debits = debits - 1"
    ],
    "the totals of clients' postings per day, currency and type equal the postings": [
      "UPDATE posting_totals SET amount = amount + 1",
      "UPDATE posting_totals SET amount = amount - 1"
    ],
    "every interfirm record holds its reference, and every such reference names its record": [
      "INSERT INTO claims VALUES ('interfirm:1:nowhere', 999999999)",
      "DELETE FROM claims WHERE owner = 999999999"
    ],
    "every client's lifetime deposits equal the sum of its deposit values": [
      "UPDATE balances SET deposited = deposited + 1 WHERE client_id = 1 AND currency = 'USDC'",
      "UPDATE balances SET deposited = deposited - 1 WHERE client_id = 1 AND currency = 'USDC'"
    ],
    "every deposit, withdrawal and collateral report holds its reference, and every reference names its row": [
      "UPDATE claims SET owner = owner + 1000000 WHERE name LIKE 'withdrawal:%:w'",
      "UPDATE claims SET owner = owner - 1000000 WHERE name LIKE 'withdrawal:%:w'"
    ],
    "every settlement item has the time of its transaction": [
      `UPDATE settlement_items SET occurred_at = occurred_at + 1 WHERE id = ${anItem}`,
      `UPDATE settlement_items SET occurred_at = occurred_at - 1 WHERE id = ${anItem}`
    ],
    "every collateral report belongs to its client's partner": [
      "UPDATE collateral_reports SET partner_id = partner_id + 1 WHERE state = 'BOOKED'",
      "UPDATE collateral_reports SET partner_id = partner_id - 1 WHERE state = 'BOOKED'"
    ],
    "every collateral posting belongs to a BOOKED report or a payout": [
      "UPDATE ledger_transactions SET key = 'x' || key WHERE tx_id = (SELECT min(tx_id) FROM ledger_transactions WHERE key LIKE 'collateral:%')",
      "UPDATE ledger_transactions SET key = ltrim(key, 'x') WHERE key LIKE 'xcollateral:%'"
    ],
    "every venue misfit belongs to its client's partner": [
      "INSERT INTO venue_misfits (id, partner_id, client_id, state, version, context, ref, worth, break_id, at, market) SELECT 999, partner_id + 1000, id, 'ENDED', '1', '{}', 'O-1', 1, NULL, 0, '{}' FROM clients WHERE id = 1",
      "DELETE FROM venue_misfits WHERE id = 999"
    ],
    "every balance belongs to its client's partner": [
      "UPDATE balances SET partner_id = partner_id + 1000 WHERE client_id = 1",
      "UPDATE balances SET partner_id = partner_id - 1000 WHERE client_id = 1"
    ],
    "every deposit notice belongs to its client's partner": ofAnother("deposit_notices"),
    "every withdrawal request belongs to its client's partner": ofAnother("withdrawal_requests"),
    "every settlement item belongs to its client's partner": ofAnother("settlement_items"),
    "every other client record belongs to its client's partner": ofAnother("decisions"),
    "every client belongs to the partner that its postings name": ofAnother("clients"),
    "every payout and correction holds its reference, and every reference names its transaction": [
      `CREATE TABLE kept AS SELECT * FROM claims WHERE name LIKE 'payout:%'; ${keptClaims}`,
      "INSERT INTO claims SELECT * FROM kept; DROP TABLE kept"
    ],
    "every approval use in the audit holds its claim, and every such claim belongs to a GRANTED approval": [
      "INSERT INTO claims VALUES ('approval:999', 999)",
      "DELETE FROM claims WHERE name = 'approval:999'"
    ],
    "every withdrawal request shows the destination it was filed with": [
      "UPDATE withdrawal_requests SET destination = NULL WHERE state = 'REQUESTED'",
      "UPDATE withdrawal_requests SET destination = (SELECT destination FROM kept_destinations) WHERE state = 'REQUESTED'"
    ],
    "every partner's event numbers have no gap": [
      "UPDATE events SET seq = seq + 1 WHERE seq = (SELECT max(seq) FROM events)",
      "UPDATE events SET seq = seq - 1 WHERE seq = (SELECT max(seq) FROM events)"
    ],
    "every claimed client reference and e-mail address belongs to a client": [
      "INSERT INTO claims VALUES ('email:nobody@mail.example', 999999999)",
      "DELETE FROM claims WHERE owner = 999999999"
    ],
    "every audit row, decision, transaction, posting, interfirm record and custody change is sealed": [
      "INSERT INTO decisions SELECT 999999999, partner_id, client_id, decision, reason, decided_by, decided_at FROM decisions LIMIT 1",
      "DELETE FROM decisions WHERE id = 999999999"
    ],
    "the chain of seals is complete and matches every sealed row": [
      "UPDATE audit SET key_label = key_label || 'x' WHERE id = (SELECT max(id) FROM audit)",
      "UPDATE audit SET key_label = rtrim(key_label, 'x') WHERE id = (SELECT max(id) FROM audit)"
    ]
  }
  beforeAll(() =>
    query(
      service,
      "CREATE TABLE kept_destinations AS SELECT destination FROM withdrawal_requests WHERE state = 'REQUESTED'"
    )
  )
  const run = async (statements: string): Promise<void> => {
    for (const statement of statements.split("; ")) await query(service, statement)
  }

  /**
   * The report on books with a planted break. A deep run proves after each break that it is undone, `npm test` only at
   * the end.
   */
  const judged = async (plant: string, undo: string): Promise<LedgerReport> => {
    await run(plant)
    const report = await service.run(verifyLedger).finally(() => run(undo))
    if (isDeep) assert.deepStrictEqual(await brokenInvariants(service), [])
    return report
  }

  /** The triggers of the tables whose rows must not change. */
  const guards = async (are: "ENABLE" | "DISABLE"): Promise<void> => {
    for (const table of ["postings", "ledger_transactions", "events", "audit", "decisions", "custody_changes"])
      await query(service, `ALTER TABLE ${table} ${are} TRIGGER USER`)
  }
  beforeAll(() => guards("DISABLE"))
  afterAll(() => guards("ENABLE"))

  it("A2-62: every check has a planted break below", async () => {
    const { checks } = await service.run(verifyLedger)
    assert.sameMembers(
      checks.map(({ name }) => name),
      Object.keys(plants)
    )
  })

  it.each(Object.entries(plants).map(([name, [plant, undo]]) => ({ name, plant, undo })))(
    "A2-62: a planted break is found: $name",
    async ({ name, plant, undo }) => {
      const report = await judged(plant, undo)
      const found = report.checks.find((check) => check.name === name)
      assert.isFalse(report.ok)
      assert.isFalse(found?.ok)
      assert.isNotNull(found?.detail)
    }
  )

  it.each(someOf(moreOrderPlants))("A2-44, F20, STS-11: of orders, %s: %s", async (name, _what, plant, undo) => {
    const { checks } = await judged(plant, undo)
    assert.isNotNull(checks.find((check) => check.name.startsWith(name))?.detail)
  })

  it.each(someOf(moreMarginPlants))("F9, F10: of close-outs, %s: %s", async (name, _what, plant, undo) => {
    const { checks } = await judged(plant, undo)
    assert.isNotNull(checks.find((check) => check.name.startsWith(name))?.detail)
  })

  it.each(someOf(moreStatementPlants))("D20, STS-22: of statements, %s: %s", async (name, _what, plant, undo) => {
    const { checks } = await judged(plant, undo)
    assert.isNotNull(checks.find((check) => check.name.startsWith(name))?.detail)
  })

  it.each(someOf(rightMargins))("F9, F10: no break of %s: %s", async (name, _why, plant, undo) => {
    const { checks } = await judged(plant, undo)
    const found = checks.find((check) => check.name.startsWith(name))
    assert.deepStrictEqual([found?.ok, found?.detail], [true, null])
  })

  const once = "every payout and correction holds its reference, and every reference names its transaction"
  const approved = "every approval use in the audit holds its claim, and every such claim belongs to a GRANTED approval"
  const anAudit = (id: number, after: string) =>
    `INSERT INTO audit (id, ts, role, key_label, request_id, object, action, after) VALUES (${id}, 1, 'ADMIN', 'k', 'r', 'approval:999', 'approval.used', '${after}')`
  const anApproval =
    "INSERT INTO approvals VALUES (999, 'GRANTED', '1', '{}', 'ledger adjust', '{}', 1, 1); INSERT INTO claims VALUES ('approval:999', 999)"
  const gone = "DELETE FROM approvals WHERE id = 999; DELETE FROM claims WHERE name = 'approval:999'"
  const deletions = [
    {
      what: "a correction's reference is deleted",
      check: once,
      plant: `CREATE TABLE kept AS SELECT * FROM claims WHERE name LIKE 'manual:%'; ${keptClaims}`,
      undo: "INSERT INTO claims SELECT * FROM kept; DROP TABLE kept"
    },
    {
      what: "a payout's reference is another transaction's",
      check: once,
      plant: "UPDATE claims SET owner = owner + 1000000 WHERE name LIKE 'payout:%'",
      undo: "UPDATE claims SET owner = owner - 1000000 WHERE name LIKE 'payout:%'"
    },
    {
      what: "the fact of a refused command is deleted",
      check: approved,
      plant: anAudit(999999999, "COMMAND_REFUSED"),
      undo: "DELETE FROM audit WHERE id = 999999999"
    },
    {
      what: "a refused command's fact says that it was done",
      check: approved,
      plant: `${anApproval}; ${anAudit(999999999, "COMMAND_REFUSED")}`,
      undo: `${gone}; DELETE FROM audit WHERE id = 999999999`
    }
  ]
  it.each(deletions)("A2-62: $what: found", async ({ check, plant, undo }) => {
    const report = await judged(plant, undo)
    assert.isFalse(report.checks.find(({ name }) => name === check)?.ok)
  })

  it("operator surface, Four eyes: an approval that its command used is no break", async () => {
    const report = await judged(anApproval, gone)
    assert.isTrue(report.checks.find(({ name }) => name === approved)?.ok)
  })

  it("A2-62: nothing is found once each break is removed", async () =>
    assert.deepStrictEqual(await brokenInvariants(service), []))
})

// This part is last, because each of its runs adds rows that later checks would read.
describe("ledger verify beside writers", () => {
  it("architecture 5: a caller that disconnects ends its statement, and the connection stays usable", async () => {
    const scope = await service.run(Scope.make())
    const holder = await service.run(PgConnection.make({ url: service.database.url }).pipe(Scope.provide(scope)))
    await service.run(
      Effect.andThen(holder.query("BEGIN"), holder.query("LOCK TABLE postings IN ACCESS EXCLUSIVE MODE"))
    )
    const waiting = async () =>
      (await service.run(holder.query("SELECT 1 FROM pg_locks WHERE relation = 'postings'::regclass AND NOT granted")))
        .rows
    const verifying = await service.run(Effect.forkDetach(verifyLedger))
    await vi.waitFor(async () => assert.lengthOf(await waiting(), 1), { timeout: 10_000 })
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

  it(
    `A2-62: ${runs} runs while money moves find nothing wrong, and every figure is of one time`,
    { timeout: 180_000 },
    async () => {
      const writers = new Writers(20)
      // Also after a failed run: otherwise all later tests would find the writers' rows.
      onTestFinished(() => writers.end())
      const lanes = clients.map((clientId) =>
        writers.lane(async (n) => {
          const booked = await Promise.all([deposit(clientId, `lane-${clientId}-${n}`), adjust(clientId, "0.5")])
          assert.strictEqual(booked[0].status, 201)
          if (n % 10 === 0) await service.client(key)
        })
      )
      const figures: Array<number> = []
      for (let run = 0; run < runs; run++) {
        const before = writers.written
        writers.goOn()
        const report = await service.run(verifyLedger)
        assert.deepStrictEqual(
          report.checks.filter(({ ok }) => !ok),
          []
        )
        figures.push(Number(report.checks[0]?.figure))
        await vi.waitFor(() => assert.isAbove(writers.written, before), { timeout: 20_000 })
      }
      writers.end()
      await Promise.all(lanes)
      assert.isAbove(new Set(figures).size, runs / 2)
      assert.deepStrictEqual(
        figures,
        figures.toSorted((a, b) => a - b)
      )
    }
  )
})

/** Writers that run a number of rounds on each request, so that later runs do not have to read more. */
class Writers {
  written = 0
  private allowed = 0
  private ended = false
  private more = Promise.withResolvers<void>()
  private readonly rounds: number

  constructor(rounds: number) {
    this.rounds = rounds
  }

  goOn(): void {
    this.allowed += this.rounds
    this.tell()
  }

  end(): void {
    this.ended = true
    this.tell()
  }

  async lane(round: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; !this.ended;) {
      if (n >= this.allowed) {
        await this.more.promise
        continue
      }
      await round(n++)
      this.written++
    }
  }

  private tell(): void {
    this.more.resolve()
    this.more = Promise.withResolvers()
  }
}
