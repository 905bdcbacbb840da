/**
 * Money at its limits: one deposit reference sent several times at once, and balances near 64 bits, whose reversal must
 * always fit (doc 3, Money write gates; A3-01, A3-02, A3-05; F2, F25; D10).
 */
import { assert, describe, it } from "@effect/vitest"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { Deposits } from "../../src/runtime/services/money/deposit/Deposits.ts"
import { type FinanceRuling, Withdrawals } from "../../src/runtime/services/money/withdrawal/Withdrawals.ts"
import { collateral, get, query, rowsOf } from "../support/Builders.ts"
import { finance, operator, startService } from "../support/Service.ts"
import { Adjustments } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { Effect } from "effect"
import { broker, openScenario } from "../support/Scenario.ts"

const { service, partner, fresh } = await openScenario({ partner: broker })

const most = "92233720368.54775807"

describe("money at the edges", () => {
  const post = (clientId: number, path: string, body: object = {}, key = partner.key) =>
    service.call("POST", `/partner/v1/clients/${clientId}/${path}`, { key, body })
  const deposit = (clientId: number, amount: string, currency = "BTC", partnerRef = fresh(), key = partner.key) =>
    post(clientId, "deposits", { partnerRef, currency, amount }, key)
  const withdraw = async (clientId: number, amount: string): Promise<number> => {
    const answer = await post(clientId, "withdrawals", { partnerRef: fresh(), currency: "BTC", amount })
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.json.data.requestId
  }
  const adjust = (clientId: number, amount: string) =>
    service.run(
      Effect.provide(
        Adjustments.use((books) =>
          books.adjust(operator, String(clientId), { currency: "BTC", amount, reason: "test" })
        ),
        Adjustments.layer
      )
    )
  const decide = (requestId: number, ruling: FinanceRuling) =>
    service.run(Withdrawals.use((withdrawals) => withdrawals.rule(finance, requestId, ruling)))
  const confirm = (noticeId: number) =>
    service.run(Deposits.use((deposits) => deposits.confirm(finance, noticeId, null)))
  const cash = async (clientId: number) =>
    (await get(service, partner.key, `/clients/${clientId}/balances`)).json.balances.find(
      (line: { readonly currency: string }) => line.currency === "BTC"
    )?.cash
  /** A client with an approved source of wealth, which an asset without a value requires (F25). */
  const wealthy = async (key = partner.key): Promise<number> => {
    const clientId = await service.client(key)
    const path = `/partner/v1/clients/${clientId}/mifid`
    assert.strictEqual((await service.call("PUT", path, { key, body: sampleMifid() })).status, 200)
    return clientId
  }
  const holding = async (amount: string): Promise<number> => {
    const clientId = await wealthy()
    assert.isTrue((await adjust(clientId, amount)).ok)
    return clientId
  }

  it.each([
    ["the threshold of the source of wealth", "USDC", "9000", {}],
    ["64 bits", "BTC", "50000000000", {}],
    ["the threshold, where a sandbox confirms at once", "USDC", "9000", { sandbox: true }]
  ])(
    "A3-01: four filings of one reference at once, of which two would pass %s: one notice, three replays",
    async (_, currency, amount, over) => {
      const own = await service.partner({ ...broker, ...over })
      for (let round = 0; round < 10; round++) {
        const clientId = currency === "BTC" ? await wealthy(own.key) : await service.client(own.key)
        const partnerRef = fresh()
        const answers = await Promise.all(
          Array.from({ length: 4 }, () => deposit(clientId, amount, currency, partnerRef, own.key))
        )
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 201], answers[0]?.text)
        assert.strictEqual(new Set(answers.map(({ json }) => json.data.noticeId)).size, 1)
        assert.lengthOf(await rowsOf(service, "depositNotices", "client_id = $1", [BigInt(clientId)]), 1)
      }
    }
  )

  it.each(["BTC", "ETH", "SOL", "BNB", "XRP"])("F25: %s has no value, so it requires the block", async (currency) => {
    const poor = await service.client(partner.key)
    for (const amount of ["1000", "0.000001"]) {
      const stopped = await deposit(poor, amount, currency)
      assert.deepStrictEqual([stopped.status, stopped.json.data.missingBlocks], [403, ["SOURCE_OF_WEALTH"]])
    }
    const { noticeId } = (await deposit(await wealthy(), "1000", currency)).json.data
    assert.isTrue((await confirm(noticeId)).ok)
    const audit = await rowsOf(service, "audit", "object = $1", [`depositNotice:${noticeId}`])
    assert.deepStrictEqual(
      audit.flatMap(({ action, after }) => (action === "deposit.unvalued" ? [after] : [])),
      ["15000.000000 USDC"]
    )
  })

  it("F2: no receipt is booked that would prevent the release of a reserve", async () => {
    const clientId = await holding(most)
    const requestId = await withdraw(clientId, most)
    const filed = await deposit(clientId, "0.00000001")
    assert.deepStrictEqual([filed.status, Object.keys(filed.json.data.errors)], [400, ["amount"]])
    const adjusted = await adjust(clientId, "0.00000001")
    assert.isTrue(!adjusted.ok && adjusted.refusal._tag === "Invalid")
    assert.strictEqual((await post(clientId, `withdrawals/${requestId}/cancel`)).status, 200)
    assert.strictEqual(await cash(clientId), most)
  })

  it("D10: an approved withdrawal counts until it is paid", async () => {
    const clientId = await holding(most)
    const [one, two] = [await withdraw(clientId, "92233720000"), await withdraw(clientId, "368.54775807")]
    for (const requestId of [one, two]) assert.isTrue((await decide(requestId, { to: "APPROVED" })).ok)
    assert.strictEqual((await deposit(clientId, "1")).status, 400)
    assert.isFalse((await adjust(clientId, "1")).ok)
    assert.isTrue((await decide(two, { to: "PAID" })).ok)
    assert.strictEqual((await deposit(clientId, "368.54775808")).status, 400)
    assert.strictEqual((await deposit(clientId, "368.54775807")).status, 201)
    assert.isTrue((await decide(one, { to: "FAILED", reason: "refused by the bank" })).ok)
    assert.strictEqual(await cash(clientId), "92233720000.00000000")
  })

  it("A3-05: a notice whose place was taken meanwhile stays PENDING when finance confirms it", async () => {
    const clientId = await holding("92233720000")
    const { noticeId } = (await deposit(clientId, "368.54775807")).json.data
    const requestId = await withdraw(clientId, "92233720000")
    assert.isTrue((await adjust(clientId, "1")).ok)
    const stopped = await confirm(noticeId)
    assert.isTrue(!stopped.ok && stopped.refusal._tag === "Conflict")
    assert.isTrue((await adjust(clientId, "-1")).ok)
    assert.isTrue((await confirm(noticeId)).ok)
    assert.isTrue((await decide(requestId, { to: "REJECTED", reason: "r" })).ok)
    assert.strictEqual(await cash(clientId), most)
  })
})

describe("money at the edges after a start", () => {
  it("F2: a collateral deposit leaves room for the reserve", async () => {
    const first = await startService()
    const { key, partnerId } = await first.partner({ custody: "PARTNER" })
    const clientId = await first.client(key)
    await query(
      first,
      "INSERT INTO balances (client_id, currency, partner_id, cash, reserved, deposited) VALUES ($1, 'USDC', $2, 0, 9223372036854000000, 0)",
      [BigInt(clientId), BigInt(partnerId)]
    )
    const second = await startService({ database: first.database })
    const report = (amount: string) =>
      collateral(second, key, clientId, { partnerRef: `c-${amount}`, direction: "DEPOSIT", amount })
    assert.strictEqual((await report("0.775808")).status, 400)
    assert.strictEqual((await report("0.775807")).status, 201)
    await second.stop()
    await first.stop()
  })
})
