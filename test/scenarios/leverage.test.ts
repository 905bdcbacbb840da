/**
 * The leverage of a client's perpetuals over HTTP (doc 2, Leverage view and its endpoints; A2-10, A2-50, A2-89): read,
 * chosen, refused with its figures, forced. Separate turns make the positions, without trades.
 */
import { assert, describe, it } from "@effect/vitest"
import { setTimeout as pause } from "node:timers/promises"
import { leverageProfiles } from "../../src/machines/market/marketTerms.ts"
import { defaultSettings } from "../../src/runtime/Settings.ts"
import { get, ofClient } from "../support/Builders.ts"
import { inTurn, putPosition } from "../support/orderRows.ts"
import { gold, marginUntil, perp, perpVenue } from "../support/perpVenue.ts"
import { openScenario, openService } from "../support/Scenario.ts"
import { startService } from "../support/Service.ts"

const world = perpVenue()
// Positions without fills.
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue, damaged: true })
const unattached = await openService(startService)

const view = async (clientId: number, query = `?symbol=${perp}`) =>
  get(service, key, `/clients/${clientId}/leverage${query}`)
const choose = (clientId: number, body: object, headers = {}, method = "PUT") =>
  call(method, clientId, "/leverage", { symbol: perp, ...body }, headers)
const rows = async (clientId: number) =>
  (await ofClient(service, "leverages", clientId)).map(({ symbol, leverage }) => [symbol, leverage])

/** A client with this collateral, with a long of 0.1 at 60,000 if `long`, while the mark is live. */
const holder = async (amount: string, { long = true } = {}): Promise<number> => {
  const clientId = await service.client(key)
  assert.strictEqual((await report(clientId, { amount })).status, 201)
  await marginUntil(service, key, clientId, ({ marksFresh }) => marksFresh === true)
  await inTurn(service, clientId, (turn) => {
    if (long) putPosition(turn)
  })
  return clientId
}

describe("leverage", () => {
  it("doc 2, Leverage view: the cap is in force until one is chosen, in each market for itself", async () => {
    const clientId = await holder("1000", { long: false })
    const unchosen = { symbol: perp, leverage: 10, cap: 10, categorization: "RETAIL", chosen: null }
    const { status, json } = await view(clientId)
    assert.deepStrictEqual([status, json], [200, unchosen])
    assert.deepInclude((await view(clientId, `?symbol=${gold}`)).json, { leverage: 20, cap: 20, chosen: null })
    const put = await choose(clientId, { leverage: 4 })
    assert.deepStrictEqual([put.status, put.json], [200, { ...unchosen, leverage: 4, chosen: 4 }])
    assert.deepStrictEqual((await view(clientId)).json, put.json)
    assert.deepInclude((await view(clientId, `?symbol=${gold}`)).json, { leverage: 20, chosen: null })
    const posted = await choose(clientId, { leverage: 7 }, {}, "POST")
    assert.deepInclude(posted.json, { leverage: 7, chosen: 7 })
    assert.deepStrictEqual(await rows(clientId), [[perp, 7]])
  })

  it("doc 2, Endpoints: an invalid choice is refused by its field, a market that is no perpetual is not offered", async () => {
    const clientId = await holder("1000", { long: false })
    const refused = async (body: object) => {
      const { status, json } = await choose(clientId, body)
      return [status, json.code, json.data?.errors?.leverage ?? json.data?.errors ?? json.msg]
    }
    const whole = "The leverage must be a whole number of at least 1."
    for (const leverage of [0, -1, 1.5, "5"]) assert.deepStrictEqual(await refused({ leverage }), [400, 4000, whole])
    assert.deepStrictEqual(await refused({ leverage: 11 }), [
      400,
      4000,
      "The leverage must be at most 10 in this market."
    ])
    for (const symbol of ["BTC-USDC", "BTC-USDC-KO", "NO-SUCH"]) {
      assert.deepStrictEqual((await refused({ symbol, leverage: 2 })).slice(0, 2), [404, 4004])
      assert.strictEqual((await view(clientId, `?symbol=${symbol}`)).status, 404)
    }
    const { status, json } = await view(clientId, "")
    assert.deepStrictEqual([status, json.code, /market symbol is required/.test(json.msg)], [400, 4000, true])
    assert.deepStrictEqual(await rows(clientId), [])
    const other = await service.partner()
    assert.strictEqual((await get(service, other.key, `/clients/${clientId}/leverage?symbol=${perp}`)).status, 404)
    const partner = await unattached.partner()
    const alone = await unattached.client(partner.key)
    assert.strictEqual((await get(unattached, partner.key, `/clients/${alone}/leverage?symbol=${perp}`)).status, 503)
  })

  it("A2-50: a position's margin is refused with its six figures, and applied by force; the view and the margin follow", async () => {
    const clientId = await holder("1000")
    const refused = await choose(clientId, { leverage: 5 })
    assert.deepStrictEqual([refused.status, refused.json.code], [409, 4090])
    assert.deepStrictEqual(refused.json.data, {
      reason: "WOULD_BREACH_MARGIN",
      wouldBreach: true,
      initialMarginAfter: "1200.000000",
      maintenanceMarginAfter: "600.000000",
      freeMarginAfter: "-200.000000",
      marginLevelAfter: "83.33",
      riskStateAfter: "MARGIN_CALL"
    })
    assert.deepInclude((await view(clientId)).json, { leverage: 10, chosen: null })
    assert.deepInclude((await choose(clientId, { leverage: 5, force: true })).json, { leverage: 5, chosen: 5 })
    assert.deepInclude((await get(service, key, `/clients/${clientId}/margin`)).json, {
      initialMargin: "1200.000000",
      freeMargin: "-200.000000",
      riskState: "MARGIN_CALL"
    })
    const client = (await get(service, key, `/clients/${clientId}`)).json.data
    assert.strictEqual(client.riskState, "MARGIN_CALL", "recorded in the same commit")
    // A lower margin is never refused.
    assert.deepInclude((await choose(clientId, { leverage: 6 })).json, { leverage: 6, chosen: 6 })
  })

  it("doc 1, Idempotency: PUT replays its answer, refusals too; the stored choice again is no change", async () => {
    const clientId = await holder("1000")
    const first = await choose(clientId, { leverage: 5 }, { "Idempotency-Key": "a" })
    assert.strictEqual(first.status, 409)
    const chosen = await choose(clientId, { leverage: 8 }, { "Idempotency-Key": "b" })
    assert.deepInclude((await choose(clientId, { leverage: 9 })).json, { chosen: 9 })
    assert.strictEqual((await choose(clientId, { leverage: 5 }, { "Idempotency-Key": "a" })).text, first.text)
    assert.strictEqual((await choose(clientId, { leverage: 8 }, { "Idempotency-Key": "b" })).text, chosen.text)
    assert.strictEqual((await choose(clientId, { leverage: 7 }, { "Idempotency-Key": "b" })).status, 409)
    assert.deepStrictEqual(await rows(clientId), [[perp, 9]])
    const changes = async () =>
      (await ofClient(service, "audit", clientId)).filter(({ action }) => action === "leverage.choose").length
    assert.strictEqual(await changes(), 2)
    assert.strictEqual((await choose(clientId, { leverage: 9 })).status, 200)
    assert.strictEqual(await changes(), 2)
  })

  it("F3: a stale mark of an open position refuses a change, with force too", async () => {
    const clientId = await holder("1000")
    world.price("60000", 20_000)
    await marginUntil(service, key, clientId, ({ marksFresh }) => marksFresh === false)
    const { status, json } = await choose(clientId, { leverage: 9, force: true })
    assert.deepStrictEqual([status, json.code], [400, 4000])
    assert.match(json.msg, /without live prices/)
    assert.deepStrictEqual(await rows(clientId), [])
    world.price("60000")
    await marginUntil(service, key, clientId, ({ marksFresh }) => marksFresh === true)
    assert.strictEqual((await choose(clientId, { leverage: 9 })).status, 200)
  })

  it("A2-89: a loss of ten percent of the margin is published once, the next step when it is reached", async () => {
    const clientId = await holder("5000")
    const told = async () => {
      const { items } = (await get(service, key, `/clients/${clientId}/notifications`)).json.data
      return items.filter(({ kind }: { kind: string }) => kind === "LEVERAGE_LOSS_10")
    }
    const toldUntil = async (count: number) => {
      for (;;) {
        const seen = await told()
        if (seen.length >= count) return seen
        await pause(20)
      }
    }
    world.price("59400")
    const [first] = await toldUntil(1)
    assert.deepInclude(first, { ref: perp, event: null })
    world.price("58700")
    assert.lengthOf(await toldUntil(2), 2)
    const [kept] = await ofClient(service, "lossNotices", clientId)
    assert.deepInclude(kept, { symbol: perp, step: 20 })
    world.price("60000")
    await marginUntil(service, key, clientId, ({ unrealizedPnl }) => unrealizedPnl === "0.000000")
  }, 20_000)
})

describe("another schedule of leverage", () => {
  it("A2-10: a service on the ESMA schedule offers two on crypto, in the view and in the market's terms", async () => {
    const marketTerms = { ...defaultSettings.marketTerms, leverage: leverageProfiles.esma }
    const strict = perpVenue()
    const esma = await startService({ layerVenue: strict.layerVenue, settings: { marketTerms } })
    try {
      const partner = await esma.partner()
      const clientId = await esma.client(partner.key)
      const view = () => get(esma, partner.key, `/clients/${clientId}/leverage?symbol=${perp}`)
      let seen = await view()
      // The venue lists its markets shortly after the start; the test's own timeout ends this wait.
      for (; seen.status !== 200; seen = await view()) await pause(20)
      assert.deepInclude(seen.json, { leverage: 2, cap: 2 })
      const info = await get(esma, partner.key, `/market-info?symbol=${perp}`)
      assert.deepInclude(info.json.leverageSchedule, { RETAIL: 2, PROFESSIONAL: 50 })
    } finally {
      await esma.stop()
    }
  })
})
