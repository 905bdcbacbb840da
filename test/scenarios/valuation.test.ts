/**
 * Values that are unknown, and known again: an asset that never had a mark is null, counts zero in every sum and is
 * reported as unvalued, in balances, overview, ledger and audit, until it has a mark (F23, STS-9, STS-10, A2-61); and
 * refusals of the account reads.
 */
import { assert, describe, it } from "@effect/vitest"
import { get, query } from "../support/Builders.ts"
import { openScenario } from "../support/Scenario.ts"
import { market, ScriptedVenue, ticker } from "../support/ScriptedVenue.ts"
import { startService } from "../support/Service.ts"

const none = { last: null, bestBid: null, bestAsk: null, openInterest: null, funding: null, index: null }
const venue = new ScriptedVenue()
venue.listing = {
  ...venue.listing,
  markets: ["BTC-USDC", "SOL-USDC"].map((symbol) => market(symbol, { family: "SPOT" }))
}
venue.greeting = [ticker("BTC-USDC", 1, Date.now(), { ...none, mark: "60000" })]
const { service, key, adjust } = await openScenario({
  layerVenue: venue.layer,
  partner: { custody: "BROKER", collateralAsset: "" }
})
while ((await get(service, key, "/ticker?symbol=BTC-USDC")).status !== 200) await new Promise(setImmediate)

const read = async (clientId: number, path: string) => (await get(service, key, `/clients/${clientId}${path}`)).json
const lineOf = async (clientId: number, currency: string) =>
  (await read(clientId, "/balances")).balances.find((line: { readonly currency: string }) => line.currency === currency)
const overviewOf = async (clientId: number) => (await read(clientId, "/account/overview")).data

describe("an asset without a mark", () => {
  it("is null and counts zero, is reported, and has a value once it has a mark", async () => {
    const clientId = await service.client(key)
    await adjust(clientId, "100.000000")
    await adjust(clientId, "0.10000000", "BTC")
    await adjust(clientId, "2.000000000", "SOL")
    await adjust(clientId, "10.00", "EUR")
    const { portfolio, portfolioValue } = await read(clientId, "/balances")
    assert.deepInclude(portfolio, { holdingsValue: "6010.000000", holdingsValued: false })
    assert.strictEqual(portfolioValue, "6110.000000")
    assert.deepInclude(await lineOf(clientId, "SOL"), {
      total: "2.000000000",
      mark: null,
      markFresh: false,
      value: null
    })
    const { holdings, allocation, equity, verificationLevel } = await overviewOf(clientId)
    assert.deepStrictEqual(holdings, [
      {
        asset: "BTC",
        qty: "0.10000000",
        avgCost: "60000.000000",
        cost: "6000.000000",
        value: "6000.000000",
        unrealizedPnl: "0.000000"
      },
      { asset: "SOL", qty: "2.000000000", avgCost: null, cost: null, value: null, unrealizedPnl: null },
      {
        asset: "EUR",
        qty: "10.00",
        avgCost: "1.000000",
        cost: "10.000000",
        value: "10.000000",
        unrealizedPnl: "0.000000"
      }
    ])
    assert.deepStrictEqual(allocation, [
      { bucket: "CASH", value: "100.000000", pct: "1.64" },
      { bucket: "BTC", value: "6000.000000", pct: "98.20" },
      { bucket: "EUR", value: "10.000000", pct: "0.16" }
    ])
    assert.deepStrictEqual([equity, verificationLevel], ["100.000000", "MICA"])
    const { postings } = (await read(clientId, "/ledger")).data
    const valued = postings.map(({ currency, refs }: { currency: string; refs: Record<string, unknown> }) => [
      currency,
      refs["mark"],
      refs["valueUsdc"]
    ])
    assert.deepStrictEqual(valued, [
      ["EUR", "1", "10.000000"],
      ["SOL", null, null],
      ["BTC", "60000.0", "6000.000000"],
      ["USDC", undefined, undefined]
    ])
    const notes = await query<{ readonly reason: string }>(
      service,
      `SELECT reason FROM audit WHERE action = 'ledger.unvalued' AND client_id = ${clientId}`
    )
    assert.lengthOf(notes, 1)
    assert.include(notes[0]?.reason, "SOL has no value known")
    venue.publish(ticker("SOL-USDC", 1, Date.now(), { ...none, mark: "150" }))
    while ((await lineOf(clientId, "SOL")).mark === null) await new Promise(setImmediate)
    const after = await read(clientId, "/balances")
    assert.deepInclude(after.portfolio, { holdingsValue: "6310.000000", holdingsValued: true })
    assert.strictEqual(after.portfolioValue, "6410.000000")
    // The cost of the holding stays unknown for ever.
    assert.deepInclude((await overviewOf(clientId)).holdings[1], {
      value: "300.000000",
      cost: null,
      unrealizedPnl: null
    })
  })

  it("a correction that removes an asset again is valued too, against the client", async () => {
    const clientId = await service.client(key)
    await adjust(clientId, "0.00000003", "BTC")
    await adjust(clientId, "-0.00000001", "BTC")
    const { postings } = (await read(clientId, "/ledger")).data
    assert.deepStrictEqual(
      postings.map(({ refs }: { refs: Record<string, unknown> }) => refs["valueUsdc"]),
      ["-0.000600", "0.001800"]
    )
    assert.deepInclude((await overviewOf(clientId)).holdings[0], { qty: "0.00000002", cost: "0.001200" })
  })
})

describe("an overview", () => {
  it("of a client that has nothing has every figure, and nothing in its lists", async () => {
    const clientId = await service.client(key)
    const { asOf, ...figures } = await overviewOf(clientId)
    const zero = "0.000000"
    assert.isBelow(Math.abs(asOf - Date.now()), 60_000)
    assert.deepStrictEqual(figures, {
      currency: "USDC",
      equity: zero,
      cash: zero,
      freeMargin: zero,
      initialMargin: zero,
      unrealizedPnl: zero,
      holdings: [],
      staked: [],
      realized: { fills: zero, spot: zero, barrier: zero, staking: zero, funding: zero, total: zero },
      commission: { fills: zero, barrier: zero, staking: zero, total: zero },
      counts: { fills: 0, barrierContracts: 0, swapTakes: 0 },
      wins: 0,
      losses: 0,
      allocation: [],
      verificationLevel: "MICA"
    })
  })

  it("answers 503 without a venue, while balances and summary continue", async () => {
    const alone = await startService()
    const { key: theirs } = await alone.partner()
    const clientId = await alone.client(theirs)
    const { status, json } = await get(alone, theirs, `/clients/${clientId}/account/overview`)
    assert.deepStrictEqual([status, json.code, json.msg], [503, 5030, "No venue is attached to this service."])
    for (const path of ["balances", "account/summary"])
      assert.strictEqual((await get(alone, theirs, `/clients/${clientId}/${path}`)).status, 200)
    await alone.stop()
  })
})

const beyond = "99999999999999999999"
const wrongs: ReadonlyArray<readonly [path: string, name: string, values: ReadonlyArray<string>]> = [
  ["ledger", "limit", ["0", "501", "-1", "1.5", "01", "+1", "1e2", "", "%20", "abc", beyond, "%00", "١"]],
  ["ledger", "before", ["0", "-5", "1.0", "x", "", "0x10", beyond, "9223372036854775808", "null", "%00"]],
  ["balances", "at", ["-1", "1.5", "01", "", "now", beyond, "9007199254740992", "1e3", "%00"]],
  ["notifications", "since", ["-1", "1.5", "01", "", "yesterday", beyond, "9007199254740992", "%00"]],
  ["notifications", "after", ["", "x", "MS4x", "%00", "a".repeat(4_000)]]
]

describe("refusals of the account reads", () => {
  it.each(wrongs.flatMap(([path, name, values]) => values.map((value) => [path, name, value] as const)))(
    "%s?%s=%.20s: 400, keyed by the parameter",
    async (path, name, value) => {
      const { status, json } = await get(service, key, `/clients/${await anybody}/${path}?${name}=${value}`)
      assert.deepStrictEqual([status, json.code, Object.keys(json.data.errors)], [400, 4000, [name]])
    }
  )

  it.each([
    "ledger?limit=500",
    "ledger?before=9007199254740991",
    "balances?at=9007199254740991",
    "notifications?since=0"
  ])("%s is taken", async (path) => {
    assert.strictEqual((await get(service, key, `/clients/${await anybody}/${path}`)).status, 200)
  })

  it.each(["0", "-1", "01", "1.0", "abc", "9223372036854775808", beyond, "999999", "%00"])(
    "client %s is not found by any of them, whatever else is wrong",
    async (id) => {
      for (const path of [
        "balances?at=x",
        "account/summary",
        "account/overview",
        "ledger?limit=0",
        "notifications?since=x"
      ]) {
        const { status, json } = await get(service, key, `/clients/${id}/${path}`)
        assert.deepStrictEqual([status, json.code], [404, 4004], path)
      }
    }
  )
})

const anybody = service.client(key)
