/**
 * Balances at an earlier moment, the account summary, and every currency at its own scale in all reads of money (doc 2,
 * Balances, Other account reads, Endpoints; doc 1, Summary; A1-13, A2-12, A2-60, F2, F23).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Currency, currencyCodes, currencyFacts, scaleOf } from "../../src/machines/shared/Currency.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { Adjustments } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { advance, collateral, dayMillis, get, onboard, person, query } from "../support/Builders.ts"
import { operator, type Service, startService } from "../support/Service.ts"

interface Line {
  readonly currency: Currency
  readonly cash: string
}

/** One smallest unit and a whole number, so that a wrong scale is visible. */
const amounts: Readonly<Record<Exclude<Currency, "USDC">, string>> = {
  BTC: "1.00000001",
  ETH: "2.00000001",
  SOL: "3.000000001",
  BNB: "4.00000001",
  XRP: "5.000001",
  EUR: "6.01",
  USD1: "7.000001"
}

describe("balances at a moment", () => {
  let service: Service
  let key: string
  let id: number
  /** Before the client, then after each step: two reports, the other currencies, a withdrawal. */
  const moments: Array<number> = []
  const now = () => service.run(Effect.map(BusinessClock, (clock) => clock.now()))
  /** Records this moment, and moves the clock by a day. */
  const mark = async () => {
    moments.push(await now())
    await advance(service, dayMillis)
  }
  const adjust = (currency: string, amount: string, client = id) =>
    service.run(
      Effect.provide(
        Effect.flatMap(Adjustments, (adjustments) =>
          adjustments.adjust(operator, String(client), { currency, amount, reason: "test" })
        ),
        Adjustments.layer
      )
    )
  const at = async (moment: number | string) => (await get(service, key, `/clients/${id}/balances?at=${moment}`)).json
  const cashes = (json: { readonly balances: ReadonlyArray<Line> }) =>
    json.balances.map(({ currency, cash }) => [currency, cash])
  const report = (partnerRef: string, direction: string, amount: string) =>
    collateral(service, key, id, { partnerRef, direction, amount })

  beforeAll(async () => {
    service = await startService()
    const partner = await service.partner()
    key = partner.key
    await mark()
    id = (await onboard(service, key, person(1, "at"))).json.data.clientId
    await report("a", "DEPOSIT", "10")
    await mark()
    await report("b", "DEPOSIT", "5.000001")
    await mark()
    for (const [currency, amount] of Object.entries(amounts)) assert.isTrue((await adjust(currency, amount)).ok)
    await mark()
    await report("c", "WITHDRAWAL", "15.000001")
  })
  afterAll(() => service.stop())

  it("Balances: the postings up to the moment, each currency at its scale, USDC first", async () => {
    const others = Object.entries(amounts)
    assert.deepStrictEqual(cashes(await at(moments[0] as number)), [["USDC", "0.000000"]])
    assert.deepStrictEqual(cashes(await at(0)), [["USDC", "0.000000"]])
    assert.deepStrictEqual(cashes(await at(moments[1] as number)), [["USDC", "10.000000"]])
    assert.deepStrictEqual(cashes(await at(moments[2] as number)), [["USDC", "15.000001"]])
    assert.deepStrictEqual(cashes(await at(moments[3] as number)), [["USDC", "15.000001"], ...others])
    assert.deepStrictEqual(cashes(await at(moments[3] as number)), [["USDC", "15.000001"], ...others], "once more")
  })

  it("Balances: the moment itself is inside, the millisecond before is not", async () => {
    const { postings } = (await get(service, key, `/clients/${id}/ledger?limit=500`)).json.data
    const first = postings.at(-1)
    assert.deepStrictEqual(cashes(await at(first.ts)), [["USDC", "10.000000"]])
    assert.deepStrictEqual(cashes(await at(first.ts - 1)), [["USDC", "0.000000"]])
    const last = postings[0]
    assert.deepStrictEqual(cashes(await at(last.ts))[0], ["USDC", "0.000000"])
    assert.deepStrictEqual(cashes(await at(last.ts - 1))[0], ["USDC", "15.000001"])
  })

  it("Balances: a time in the future becomes now; an earlier one has no live figure", async () => {
    const live = (await get(service, key, `/clients/${id}/balances`)).json
    assert.deepStrictEqual(await at((await now()) + dayMillis), live)
    const { balances, portfolio, portfolioValue } = await at(moments[1] as number)
    assert.deepStrictEqual(balances, [
      {
        currency: "USDC",
        kind: "CASH",
        cash: "10.000000",
        reserved: "0.000000",
        total: "10.000000",
        free: "10.000000",
        displayDecimals: 2,
        venueAsset: "USDC",
        equity: null,
        unrealizedPnl: null,
        freeMargin: null,
        mark: "1",
        markFresh: false,
        value: "10.000000",
        valueCurrency: "USDC",
        staked: "0.000000",
        swapClaims: "0.000000",
        stakedValue: "0.000000",
        claimsValue: "0.000000"
      }
    ])
    assert.deepInclude(portfolio, { cashTotal: "10.000000", unrealizedPnl: "0.000000", holdingsValued: true })
    assert.strictEqual(portfolioValue, "10.000000")
  })

  it("SC-PLT-04: a recent booking is in the answer for its moment, under load too", async () => {
    const other = (await onboard(service, key, person(2, "at"))).json.data.clientId
    const sent = Array.from({ length: 20 }, (_, n) =>
      collateral(service, key, other, { partnerRef: `l-${n}`, direction: "DEPOSIT", amount: "1" })
    )
    const asked = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const moment = (await now()) - 1
        return [moment, (await get(service, key, `/clients/${other}/balances?at=${moment}`)).json.balances] as const
      })
    )
    await Promise.all(sent)
    for (const [moment, balances] of asked) {
      assert.deepStrictEqual(
        (await get(service, key, `/clients/${other}/balances?at=${moment}`)).json.balances,
        balances
      )
    }
  })

  it.each(["", "-1", "1.5", "01", "1e3", "0x10", "now", "2026-01-01", "99999999999999999", "+1"])(
    "Endpoints: at=%s is malformed, 400; of an unknown client 404",
    async (text) => {
      const search = `balances?at=${encodeURIComponent(text)}`
      const { status, json } = await get(service, key, `/clients/${id}/${search}`)
      assert.deepStrictEqual([status, json.code, Object.keys(json.data.errors)], [400, 4000, ["at"]])
      assert.strictEqual((await get(service, key, `/clients/999999/${search}`)).status, 404)
    }
  )

  it("Endpoints: two moments are none; a foreign client is unknown", async () => {
    assert.strictEqual((await get(service, key, `/clients/${id}/balances?at=1&at=2`)).status, 400)
    const foreign = await service.partner()
    for (const path of ["balances?at=1", "balances", "account/summary"]) {
      assert.strictEqual((await get(service, foreign.key, `/clients/${id}/${path}`)).status, 404, path)
    }
  })

  it("A2-60: the account summary since the opening; nothing was ever traded", async () => {
    const { createdAt } = (await get(service, key, `/clients/${id}`)).json.data
    const { status, json } = await get(service, key, `/clients/${id}/account/summary`)
    const zero = "0.000000"
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(json, {
      code: 0,
      data: {
        currency: "USDC",
        realizedPnl: zero,
        commissionPaid: zero,
        fundingPaid: zero,
        tradeCount: 0,
        since: new Date(createdAt).toISOString(),
        sinceTs: createdAt,
        realizedTotal: zero,
        realizedByFamily: { fills: zero, spot: zero, barrier: zero, staking: zero },
        commissionByFamily: { fills: zero, barrier: zero, staking: zero },
        counts: { fills: 0, barrierContracts: 0, swapTakes: 0 }
      }
    })
  })

  it.each(Object.entries(amounts))("F2, A2-12: %s has its scale on every read", async (code, amount) => {
    const currency = code as Currency
    const { kind, displayDecimals } = currencyFacts[currency]
    const { balances } = (await get(service, key, `/clients/${id}/balances`)).json
    const line = balances.find((row: Line) => row.currency === currency)
    const zero = amount.replaceAll(/[1-9]/g, "0")
    assert.deepInclude(line, { kind, displayDecimals, cash: amount, reserved: zero, total: amount, free: amount })
    assert.deepInclude(line, { staked: zero, swapClaims: zero, stakedValue: "0.000000" })
    // STS-10: without any mark USD1 and EUR count at par, and assets have no value.
    const value = kind === "CASH" ? `${amount}${"0".repeat(6 - scaleOf(currency))}` : null
    assert.deepInclude(line, { mark: value === null ? null : "1", markFresh: false, value })
    const { postings } = (await get(service, key, `/clients/${id}/ledger`)).json.data
    const posting = postings.find((row: Line) => row.currency === currency)
    assert.deepInclude(posting, { amount, kind: "cash", type: "MANUAL", actor: "ADMIN" })
    const { clientCash } = (await get(service, key, "/summary")).json.data
    assert.deepInclude(clientCash, { currency, cash: amount, reserved: zero, total: amount })
  })

  it("A1-13: the summary has USDC always and another currency while it is not zero, in one order", async () => {
    const codes = async () =>
      (await get(service, key, "/summary")).json.data.clientCash.map((row: Line) => row.currency)
    assert.deepStrictEqual(await codes(), [...currencyCodes])
    assert.isTrue((await adjust("EUR", "-6.01")).ok)
    assert.deepStrictEqual(
      await codes(),
      currencyCodes.filter((currency) => currency !== "EUR")
    )
    const eur = (await get(service, key, `/clients/${id}/balances`)).json.balances.at(-2)
    assert.deepInclude(eur, { currency: "EUR", cash: "0.00", total: "0.00" })
  })

  it("Ledger: pages stay the same while new postings are written", async () => {
    const path = `/clients/${id}/ledger?limit=2`
    const first = (await get(service, key, path)).json.data
    assert.isTrue((await adjust("BTC", "0.5")).ok)
    const second = (await get(service, key, `${path}&before=${first.nextBefore}`)).json.data
    const ids = [...first.postings, ...second.postings].map(({ postingId }) => postingId)
    const all = (await get(service, key, `/clients/${id}/ledger?limit=500`)).json.data.postings
    assert.deepStrictEqual(
      ids,
      all.slice(1, 5).map(({ postingId }: { readonly postingId: number }) => postingId)
    )
  })

  it("Balances: the reserve of the moment is separate from cash", async () => {
    const held = (await onboard(service, key, person(3, "at"))).json.data.clientId
    await collateral(service, key, held, { partnerRef: "h", direction: "DEPOSIT", amount: "9" })
    const moment = await now()
    await query(
      service,
      `INSERT INTO ledger_transactions (tx_id, key, type, actor, client_id, partner_id, refs, ts)
       SELECT 90000001, 'withdrawal:1:reserve', 'WITHDRAWAL_RESERVE', 'system:test', id, partner_id, '{}', $2
         FROM clients WHERE id = $1`,
      [BigInt(held), BigInt(moment)]
    )
    await query(
      service,
      `INSERT INTO postings (posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)
       SELECT 90000000 + n, 90000001, 'client:' || id, id, partner_id, 'USDC', kind, amount
         FROM clients, (VALUES (1, 'cash', -4000000::bigint), (2, 'reserved', 4000000::bigint)) AS leg (n, kind, amount)
        WHERE id = $1`,
      [BigInt(held)]
    )
    await advance(service, 1_000)
    const { balances, portfolio, portfolioValue } = (await get(service, key, `/clients/${held}/balances?at=${moment}`))
      .json
    assert.deepInclude(balances[0], { cash: "5.000000", reserved: "4.000000", total: "9.000000", free: "5.000000" })
    assert.deepInclude(portfolio, { cashTotal: "5.000000", reserved: "4.000000" })
    assert.strictEqual(portfolioValue, "9.000000")
  })

  it("A1-13: the summary counts PENDING notices and REQUESTED and APPROVED requests, of this partner alone", async () => {
    for (const [table, states] of [
      ["deposit_notices", ["PENDING", "CONFIRMED", "REJECTED"]],
      ["withdrawal_requests", ["REQUESTED", "APPROVED", "PAID", "REJECTED", "CANCELLED"]]
    ] as const) {
      for (const [n, state] of states.entries()) {
        await query(
          service,
          `INSERT INTO ${table} (id, partner_id, client_id, shard, state, version, context, currency, amount, created_at)
           SELECT $2, partner_id, id, 0, $3, '1', '{}', 'USDC', 1, 1 FROM clients WHERE id = $1`,
          [BigInt(id), BigInt(90_000_000 + n), state]
        )
      }
    }
    const { pendingDeposits, pendingWithdrawals } = (await get(service, key, "/summary")).json.data
    assert.deepStrictEqual([pendingDeposits, pendingWithdrawals], [1, 2])
    const other = await service.partner()
    const none = (await get(service, other.key, "/summary")).json.data
    assert.deepStrictEqual([none.pendingDeposits, none.pendingWithdrawals], [0, 0])
  })
})
