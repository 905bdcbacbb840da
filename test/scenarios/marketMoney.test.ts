/**
 * Money under marks: the value of holdings in balances (F23, STS-10), the counted value of deposits for the source of
 * wealth (F25), and the risk state that clients show once a venue is attached (A1-12).
 */
import { assert, describe, it } from "@effect/vitest"
import { get } from "../support/Builders.ts"
import { openScenario } from "../support/Scenario.ts"
import { market, ScriptedVenue, ticker } from "../support/ScriptedVenue.ts"

const spot = { last: null, bestBid: null, bestAsk: null, openInterest: null, funding: null, index: null }
const venue = new ScriptedVenue()
venue.listing = {
  ...venue.listing,
  markets: ["BTC-USDC", "EUR-USDC"].map((symbol) => market(symbol, { family: "SPOT" }))
}
venue.greeting = [
  ticker("BTC-USDC", 1, Date.now(), { ...spot, mark: "60000" }),
  ticker("EUR-USDC", 1, 1_000, { ...spot, mark: "1.1" })
]
const { service, key, fresh } = await openScenario({
  layerVenue: venue.layer,
  partner: { custody: "BROKER", collateralAsset: "" }
})

const deposit = (clientId: number, currency: string, amount: string) =>
  service.call("POST", `/partner/v1/clients/${clientId}/deposits`, {
    key,
    body: { partnerRef: fresh(), currency, amount }
  })
const balances = async (clientId: number) => (await get(service, key, `/clients/${clientId}/balances`)).json
const marked = async () => {
  while ((await get(service, key, "/ticker?symbol=EUR-USDC")).status !== 200) await new Promise(setImmediate)
}

describe("money under marks", () => {
  it("balances: marks, values and the portfolio, whose parts add up", async () => {
    await marked()
    const clientId = await service.client(key)
    for (const [currency, amount] of [
      ["USDC", "100"],
      ["BTC", "0.1"],
      ["EUR", "10"],
      ["USD1", "5"]
    ] as const) {
      assert.strictEqual((await deposit(clientId, currency, amount)).status, 201)
    }
    const { balances: lines, portfolio, portfolioValue } = await balances(clientId)
    const seen = lines.map(({ currency, mark, markFresh, value }: Record<string, unknown>) => [
      currency,
      mark,
      markFresh,
      value
    ])
    assert.deepStrictEqual(seen, [
      ["USDC", "1", true, "100.000000"],
      ["BTC", "60000.0", true, "6000.000000"],
      ["EUR", "1.1", false, "11.000000"],
      ["USD1", "1", false, "5.000000"]
    ])
    assert.deepInclude(portfolio, { cashTotal: "100.000000", holdingsValue: "6016.000000", holdingsValued: true })
    assert.strictEqual(portfolioValue, "6116.000000")
  })

  it("F25: a deposit counts at its mark, which its posting stores; the deposit that reaches the threshold is refused", async () => {
    await marked()
    const clientId = await service.client(key)
    assert.strictEqual((await deposit(clientId, "BTC", "0.1")).status, 201)
    const { postings } = (await get(service, key, `/clients/${clientId}/ledger`)).json.data
    assert.deepInclude(postings[0].refs, { mark: "60000.0", valueUsdc: "6000.000000" })
    assert.strictEqual((await deposit(clientId, "BTC", "0.15")).json.code, 4030)
    assert.strictEqual((await deposit(clientId, "BTC", "0.14999999")).status, 201)
    // An asset without any value counts as reaching it.
    assert.strictEqual((await deposit(await service.client(key), "SOL", "0.1")).json.code, 4030)
  })

  it("A1-12: with a venue attached the risk state is shown", async () => {
    const clientId = await service.client(key)
    assert.strictEqual((await get(service, key, `/clients/${clientId}`)).json.data.riskState, "NORMAL")
  })
})
