/**
 * GET /settlement, /settlement/summary and /settlement/interfirm on the real service (doc 3, Settlement report and
 * Settlement summary; A3-22..A3-25, A3-41, A3-42), and their cost on large books.
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { Interfirm } from "../../src/runtime/services/money/settlement/Interfirm.ts"
import { reportStatement, summaryStatement } from "../../src/runtime/store/reads/settlementReads.ts"
import { advance, collateral, dayMillis, get, query } from "../support/Builders.ts"
import { type Answer, operator, type Service, startService } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { adjust, service, now } = await openScenario()

type Partner = Awaited<ReturnType<Service["partner"]>>

const zero = { count: 0, amount: "0.000000", credits: "0.000000", debits: "0.000000" }
const nothingOwed = {
  currency: "USDC",
  owedToPartner: "0.000000",
  owedByPartner: "0.000000",
  net: "0.000000",
  settlementsRecorded: "0.000000",
  outstanding: "0.000000"
}

describe("settlement report and summary", () => {
  const record = async ({ code }: Partner, txRef: string, amount: string, periodFrom: number, periodTo: number) => {
    const verdict = await service.run(
      Effect.flatMap(Interfirm, (interfirm) =>
        interfirm.record(operator, code, { amount, periodFrom, periodTo, txRef })
      ).pipe(Effect.provide(Interfirm.layer))
    )
    if (!verdict.ok) throw new Error(JSON.stringify(verdict.refusal))
  }
  const summary = ({ key }: Partner, search = ""): Promise<Answer> => get(service, key, `/settlement/summary${search}`)
  const report = ({ key }: Partner, search = ""): Promise<Answer> => get(service, key, `/settlement${search}`)
  const usdc = async (partner: Partner, search = "") => (await summary(partner, search)).json.data.currencies[0]

  it("A3-24: a partner without anything has one row of USDC with zeros, and the definitions", async () => {
    const partner = await service.partner()
    const { json } = await summary(partner)
    const { asOf, definitions, ...rest } = json.data
    assert.deepStrictEqual(rest, {
      from: 0,
      to: asOf,
      custodyModel: "PARTNER",
      collateralAsset: "EURD",
      currencies: [
        {
          currency: "USDC",
          pending: zero,
          settled: zero,
          failed: zero,
          collateralHeld: "0.000000",
          clientCash: "0.000000",
          interfirm: nothingOwed
        }
      ]
    })
    assert.match(definitions.clientCash, /Under PARTNER custody: collateralHeld plus the net/)
    for (const name of [
      "pending",
      "custodyModel",
      "collateralHeld",
      "clientCash",
      ...Object.keys(nothingOwed).slice(1)
    ]) {
      assert.isString(definitions[name], name)
    }
    const { data } = (await report(partner)).json
    assert.deepStrictEqual(data.interfirm, nothingOwed)
    assert.deepStrictEqual(data.currencies, [
      {
        currency: "USDC",
        depositsConfirmed: "0.000000",
        withdrawalsPaid: "0.000000",
        commissions: "0.000000",
        realizedPnl: "0.000000",
        closingClientCash: "0.000000"
      }
    ])
  })

  it("doc 3: under BROKER custody interfirm is null and the asset empty; other currencies show when they moved", async () => {
    const partner = await service.partner({ custody: "BROKER", collateralAsset: "" })
    const clientId = await service.client(partner.key)
    await adjust(clientId, "2.5", "EUR")
    const { data } = (await report(partner)).json
    assert.deepStrictEqual([data.custodyModel, data.collateralAsset, data.interfirm], ["BROKER", "", null])
    assert.deepStrictEqual(
      data.currencies.map(({ currency, closingClientCash }: Record<string, string>) => [currency, closingClientCash]),
      [
        ["USDC", "0.000000"],
        ["EUR", "2.50"]
      ]
    )
    assert.strictEqual((await usdc(partner)).clientCash, "0.000000")
  })

  it("A3-41: under BROKER custody deposits count when confirmed and withdrawals when paid, by currency", async () => {
    const partner = await service.partner({ custody: "BROKER", collateralAsset: "" })
    const clientId = await service.client(partner.key)
    // A sandbox partner's notices and requests are decided inside the POST.
    const move = async (route: "deposits" | "withdrawals", amount: string, currency: string) => {
      const body = { partnerRef: `${route} ${amount} ${currency}`, currency, amount }
      const answer = await service.call("POST", `/partner/v1/clients/${clientId}/${route}`, { key: partner.key, body })
      assert.strictEqual(answer.status, 201, answer.text)
    }
    await move("deposits", "100", "USDC")
    await move("deposits", "7.5", "EUR")
    const between = await now()
    await advance(service, dayMillis)
    await move("deposits", "20", "USDC")
    await move("withdrawals", "30", "USDC")
    const shown = async (search = "") =>
      (await report(partner, search)).json.data.currencies.map((row: Record<string, string>) => [
        row.currency,
        row.depositsConfirmed,
        row.withdrawalsPaid,
        row.closingClientCash
      ])
    assert.deepStrictEqual(await shown(), [
      ["USDC", "120.000000", "30.000000", "90.000000"],
      ["EUR", "7.50", "0.00", "7.50"]
    ])
    assert.deepStrictEqual(await shown(`?to=${between}`), [
      ["USDC", "100.000000", "0.000000", "100.000000"],
      ["EUR", "7.50", "0.00", "7.50"]
    ])
    assert.deepStrictEqual(await shown(`?from=${between + 1}`), [
      ["USDC", "20.000000", "30.000000", "90.000000"],
      ["EUR", "0.00", "0.00", "7.50"]
    ])
  })

  it("SET-001, SC-SET-10: items of every status, overlapping records in full", async () => {
    const partner = await service.partner()
    const clientId = await service.client(partner.key)
    await collateral(service, partner.key, clientId, { partnerRef: "in", direction: "DEPOSIT", amount: "1000" })
    for (const amount of ["120.50", "-30.25", "-10.00", "5.00"]) await adjust(clientId, amount)
    await record(partner, "one", "50.00", 100, 200)
    await record(partner, "two", "7.00", 201, 300)
    const ids = (await get(service, partner.key, "/settlement/items")).json.data.items.map(
      ({ itemId }: { itemId: number }) => itemId
    )
    const items = [
      { itemId: ids[0], status: "FAILED" },
      { itemId: ids[1], status: "SETTLED", partnerTxRef: "t" }
    ]
    await service.call("POST", "/partner/v1/settlement/report", { key: partner.key, body: { items } })
    const all = await usdc(partner, "?from=150")
    assert.deepStrictEqual(all, {
      currency: "USDC",
      pending: { count: 2, amount: "90.250000", credits: "120.500000", debits: "30.250000" },
      settled: { count: 1, amount: "-10.000000", credits: "0.000000", debits: "10.000000" },
      failed: { count: 1, amount: "5.000000", credits: "5.000000", debits: "0.000000" },
      collateralHeld: "1000.000000",
      clientCash: "1085.250000",
      interfirm: {
        currency: "USDC",
        owedToPartner: "125.500000",
        owedByPartner: "40.250000",
        net: "85.250000",
        settlementsRecorded: "57.000000",
        outstanding: "28.250000"
      }
    })
    const recorded = async (search: string) => (await usdc(partner, search)).interfirm.settlementsRecorded
    for (const [search, sum] of [
      ["?from=150&to=200", "50.000000"],
      ["?from=200&to=201", "57.000000"],
      ["?from=201&to=201", "7.000000"],
      ["?from=301", "0.000000"],
      ["?to=99", "0.000000"],
      ["?to=100", "50.000000"]
    ] as const) {
      assert.strictEqual(await recorded(search), sum, search)
      assert.strictEqual((await report(partner, search)).json.data.interfirm.settlementsRecorded, sum, search)
    }
  })

  it("A3-22: windows by posting time, inclusive, over days and parts of days; closing cash as of the end", async () => {
    const partner = await service.partner()
    const clientId = await service.client(partner.key)
    const times: Array<number> = []
    for (const amount of ["1", "20", "-3"]) {
      if (times.length > 0) await advance(service, 1.4 * dayMillis)
      await adjust(clientId, amount)
      times.push((await get(service, partner.key, "/settlement/items?limit=1")).json.data.items[0].occurredAt)
    }
    const [t0 = 0, t1 = 0, t2 = 0] = times
    const figures = async (from: number, to: number) => {
      const search = `?from=${from}&to=${to}`
      const [{ pending }, { data }] = [await usdc(partner, search), (await report(partner, search)).json]
      assert.strictEqual(data.interfirm.net, (await usdc(partner, search)).interfirm.net)
      return [pending.count, pending.amount, data.currencies[0].closingClientCash]
    }
    assert.deepStrictEqual(await figures(0, t0 - 1), [0, "0.000000", "0.000000"])
    assert.deepStrictEqual(await figures(t0, t0), [1, "1.000000", "1.000000"])
    assert.deepStrictEqual(await figures(t0 + 1, t1 - 1), [0, "0.000000", "1.000000"])
    assert.deepStrictEqual(await figures(t0, t1), [2, "21.000000", "21.000000"])
    assert.deepStrictEqual(await figures(t0 + 1, t2), [2, "17.000000", "18.000000"])
    assert.deepStrictEqual(await figures(0, await now()), [3, "18.000000", "18.000000"])
  })

  it("A3-22: an end in the future is now on the report and on the summary; a bad window is refused", async () => {
    const partner = await service.partner()
    const future = (await now()) + dayMillis
    for (const ask of [report, summary]) {
      const shown = (await ask(partner, `?to=${future}`)).json.data
      assert.strictEqual(shown.to, shown.asOf)
      assert.isBelow(shown.to, future)
    }
    for (const route of [report, summary]) {
      for (const search of ["?from=2&to=1", "?from=-1", "?to=1.5", "?from=x", "?from=1&from=2", `?from=${future}`]) {
        const { status, json } = await route(partner, search)
        assert.deepStrictEqual([status, json.code], [400, 4000], search)
      }
    }
  })

  it("A3-42: commissions count charges, realizedPnl the four result types with principal; another partner sees none", async () => {
    const partner = await service.partner()
    const other = await service.partner()
    const ts = await now()
    // No venue produces these yet, so the test writes them in the venue's form.
    const types = {
      COMMISSION: -150,
      PNL: 1_000,
      BARRIER_SETTLE: 20,
      SWAP_SETTLE: 300,
      FUNDING: -4,
      SWAP_PRINCIPAL: -7
    }
    let id = 900_000
    const book = async (of: Partner, type: string, amount: number) => {
      const clientId = BigInt(of.partnerId + 500_000)
      await query(
        service,
        `WITH t AS (INSERT INTO ledger_transactions VALUES ($1, $2, $3, 'system:test', NULL, $4, $5, '{}', $6)),
              day AS (INSERT INTO posting_totals VALUES ($5, 'USDC', $3, $6::bigint / 86400000, $7::bigint))
         INSERT INTO postings VALUES ($1, $1, 'client:x', $4, $5, 'USDC', 'cash', $7), ($1 + 50000, $1, 'house', NULL, $5, 'USDC', 'cash', -$7::bigint)`,
        [BigInt(++id), `planted:${id}`, type, clientId, BigInt(of.partnerId), BigInt(ts), BigInt(amount)]
      )
    }
    try {
      for (const [type, amount] of Object.entries(types)) await book(partner, type, amount)
      await book(other, "COMMISSION", -9)
      const row = (await report(partner)).json.data.currencies[0]
      assert.deepStrictEqual(
        [row.commissions, row.realizedPnl, row.closingClientCash],
        ["0.000150", "0.001316", "0.001159"]
      )
      assert.strictEqual((await report(partner, `?to=${ts - 1}`)).json.data.currencies[0].commissions, "0.000000")
      assert.strictEqual(
        (await report(partner, `?from=${ts}&to=${ts}`)).json.data.currencies[0].commissions,
        "0.000150"
      )
    } finally {
      // The books must be complete for the verification at the end.
      for (const table of ["postings", "ledger_transactions"]) {
        await query(service, `ALTER TABLE ${table} DISABLE TRIGGER USER`)
        await query(service, `DELETE FROM ${table} WHERE tx_id > 900000`)
        await query(service, `ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${table}_insert_only`)
      }
      await query(service, "ALTER TABLE postings ENABLE ALWAYS TRIGGER postings_balance")
      await query(service, "DELETE FROM posting_totals WHERE partner_id IN ($1, $2)", [
        BigInt(partner.partnerId),
        BigInt(other.partnerId)
      ])
    }
  })
})

describe("settlement summary on large books", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  const days = 100
  const count = 100_000

  it("100,000 items in 100 days: totals of days are read, of items only those of the parts of days", async () => {
    const { key, partnerId } = await service.partner()
    const now = await service.run(BusinessClock.useSync((clock) => clock.now()))
    const first = (Math.floor(now / dayMillis) - days) * dayMillis
    await query(
      service,
      `INSERT INTO settlement_items
       SELECT n, $1, 1, 1, CASE n % 3 WHEN 0 THEN 'PENDING' WHEN 1 THEN 'SETTLED' ELSE 'FAILED' END, '1', '{}', 'PNL', 'USDC',
              CASE n % 2 WHEN 0 THEN 3 ELSE -1 END, n, $2 + (n::bigint * ${dayMillis / (count / days)})
         FROM generate_series(0, ${count - 1}) n`,
      [BigInt(partnerId), BigInt(first)]
    )
    await query(service, "ANALYZE settlement_items, settlement_totals")
    const { interfirm, pending, settled, failed } = (await get(service, key, "/settlement/summary")).json.data
      .currencies[0]
    assert.deepStrictEqual([interfirm.owedToPartner, interfirm.owedByPartner], ["0.150000", "0.050000"])
    assert.strictEqual(pending.count + settled.count + failed.count, count)
    // From noon to noon 50 days later: 500 items on either partial day.
    const [from, to] = [first + 10.5 * dayMillis, first + 60.5 * dayMillis - 1]
    const half = (await get(service, key, `/settlement/summary?from=${from}&to=${to}`)).json.data.currencies[0]
    assert.strictEqual(half.pending.count + half.settled.count + half.failed.count, count / 2)

    const day = (at: number) => Math.floor(at / dayMillis)
    const values = [
      partnerId,
      from,
      to,
      day(from) + 1,
      day(to) - 1,
      from,
      (day(from) + 1) * dayMillis - 1,
      day(to) * dayMillis,
      to
    ]
    const read = await service.run(rowsRead(summaryStatement, values))
    assert.isAtMost(read["settlement_items"] ?? 0, 1_000)
    assert.isAtMost(read["settlement_totals"] ?? 0, 3 * days)
    const whole = [partnerId, 0, now, 0, day(now), 1, 0, 1, 0]
    assert.strictEqual((await service.run(rowsRead(summaryStatement, whole)))["settlement_items"] ?? 0, 0)
    assert.strictEqual(
      (await service.run(rowsRead(reportStatement, [...whole, day(now), 1, 0])))["settlement_items"] ?? 0,
      0
    )
  })
})

interface PlanNode {
  readonly "Relation Name"?: string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly Plans?: ReadonlyArray<PlanNode>
}

/** Rows that a statement really reads, by table, including rows that it discards. */
const rowsRead = (statement: string, values: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const [row] = yield* sql.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: PlanNode }> }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`,
      values.map(BigInt)
    )
    const found: Record<string, number> = {}
    const walk = (node: PlanNode): void => {
      const table = node["Relation Name"]
      if (table !== undefined) {
        const rows = (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"]
        found[table] = (found[table] ?? 0) + rows
      }
      for (const below of node.Plans ?? []) walk(below)
    }
    const plans = row?.["QUERY PLAN"]
    for (const { Plan } of typeof plans === "string" ? JSON.parse(plans) : (plans ?? [])) walk(Plan)
    return found
  })
