/**
 * A start while the venue is unavailable, or without a venue: holdings and deposits are valued by the last known marks,
 * which are stale (F23, F25, STS-10).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomBytes } from "node:crypto"
import { makeSealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import { get } from "../support/Builders.ts"
import { market, ScriptedVenue, ticker } from "../support/ScriptedVenue.ts"
import { type Service, type ServiceOptions, startService } from "../support/Service.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const sealing = makeSealing({ current: 1, keys: new Map([[1, randomBytes(32)]]) })
const said = Date.now()
let database: TestDatabase
let key = ""
let clientId = 0
let reference = 0

const start = (options: ServiceOptions): Promise<Service> =>
  startService({ ...options, database: { url: database.url, sealing } })
const deposit = (service: Service, currency: string, amount: string) =>
  service.call("POST", `/partner/v1/clients/${clientId}/deposits`, {
    key,
    body: { partnerRef: `D-${++reference}`, currency, amount }
  })
const lineOf = async (service: Service, currency: string) => {
  const { balances } = (await get(service, key, `/clients/${clientId}/balances`)).json
  const { mark, markFresh, value } = balances.find((line: { readonly currency: string }) => line.currency === currency)
  return { mark, markFresh, value }
}

beforeAll(async () => {
  database = await makeTestDatabase()
  const venue = new ScriptedVenue()
  venue.listing = { ...venue.listing, markets: [market("BTC-USDC", { family: "SPOT" })] }
  const none = { last: null, bestBid: null, bestAsk: null, index: null, openInterest: null, funding: null }
  venue.greeting = [ticker("BTC-USDC", 1, said, { ...none, mark: "60000" })]
  const service = await start({ layerVenue: venue.layer })
  key = (await service.partner({ custody: "BROKER", collateralAsset: "" })).key
  clientId = await service.client(key)
  while ((await get(service, key, "/ticker?symbol=BTC-USDC")).status !== 200) await new Promise(setImmediate)
  assert.strictEqual((await deposit(service, "BTC", "0.05")).status, 201)
  await service.stop()
})
afterAll(() => database.drop())

const away = () => {
  const venue = new ScriptedVenue()
  venue.reachable = false
  return { layerVenue: venue.layer }
}

describe("after a restart", () => {
  it.each([
    ["with the venue away", away()],
    ["without a venue", {}]
  ])("%s the last mark values holdings and deposits, stale", async (_title, options) => {
    const service = await start(options)
    const before = (await lineOf(service, "BTC")).value
    assert.strictEqual((await deposit(service, "BTC", "0.05")).status, 201)
    const { postings } = (await get(service, key, `/clients/${clientId}/ledger`)).json.data
    assert.deepInclude(postings[0].refs, { mark: "60000.0", markTs: said, valueUsdc: "3000.000000" })
    assert.deepStrictEqual(await lineOf(service, "BTC"), {
      mark: "60000.0",
      markFresh: false,
      value: (Number(before) + 3_000).toFixed(6)
    })
    // An asset without any mark counts as reaching the threshold.
    assert.strictEqual((await deposit(service, "ETH", "0.01")).json.code, 4030)
    await service.stop()
  })
})
