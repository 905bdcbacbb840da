/**
 * The thirteen market-data routes over the whole service (doc 2, Market data): shapes, nulls, orders, bounds, and their
 * answers while the venue is unavailable (A2-01..A2-12, A2-56, A2-113, A2-114). Every answer is checked against the
 * published document (support/describedBodies.ts).
 */
import { assert, describe, it } from "@effect/vitest"
import { get } from "../support/Builders.ts"
import { type ServiceOptions, startService } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"
import { book, market, ScriptedVenue, stakingMarket, ticker, trades } from "../support/ScriptedVenue.ts"

const venue = new ScriptedVenue()
const now = Date.now()
const minute = 60_000
const open = Math.floor(now / minute) * minute
venue.at = now
venue.listing = {
  version: 1,
  at: now,
  markets: [
    market("BTC-USDC-PERP", { displayName: "Bitcoin perpetual" }),
    market("EUR-USDC", {
      family: "SPOT",
      assetClass: "fx",
      priceTick: "0.0001",
      qtyStep: "1",
      fundingIntervalHours: 0
    }),
    market("BTC-USDC-KO", { family: "BARRIER", minNotional: "100", fundingIntervalHours: 0 }),
    market("ETH-USDC-PERP", { halt: { since: now, message: "Halted by the venue." } }),
    market("OLD-USDC-PERP", { delisted: true })
  ],
  stakingMarkets: [stakingMarket("BTC-SWAP"), stakingMarket("OLD-SWAP", { delisted: true })]
}
const offer = (id: number, rateBps: number, tenorDays: number, symbol = "BTC-SWAP") => ({
  id,
  symbol,
  rateBps,
  tenorDays,
  qty: "2",
  remainingQty: "1.5",
  minQty: "0.001",
  createdAt: now,
  expiryAt: now + 86_400_000
})
venue.offers = [offer(1, 400, 30), offer(2, 500, 30), offer(3, 900, 1), { ...offer(4, 1, 1), expiryAt: now }]
const barrier = { last: null, bestBid: null, bestAsk: null, volume24h: "0", openInterest: null, funding: null }
venue.greeting = [
  ticker("BTC-USDC-PERP", 41, now),
  ticker("EUR-USDC", 1, now, {
    last: null,
    mark: "1.08",
    index: "1.0801",
    bestBid: null,
    bestAsk: "1.0802",
    volume24h: "0",
    openInterest: null,
    funding: null
  }),
  ticker("BTC-USDC-KO", 7, now, { ...barrier, mark: "60000", index: "59999.9" }),
  book("BTC-USDC-PERP", 9, now, {
    bids: [
      ["60000", "1"],
      ["59999.9", "2"]
    ],
    asks: [["60000.1", "0.5"]]
  }),
  book("EUR-USDC", 3, now, { bids: [], asks: [] }),
  trades("BTC-USDC-PERP", 5, now, [
    { id: 12, side: "SELL" },
    { id: 11, flags: ["LIQUIDATION"] }
  ]),
  trades("EUR-USDC", 1, now, []),
  trades("BTC-USDC-KO", 1, now, [{ id: 13 }])
]

const { service, key } = await openScenario({ layerVenue: venue.layer })

/** Another service with a partner, which the caller stops. */
const openOther = async (options: ServiceOptions) => {
  const other = await startService(options)
  return { service: other, key: (await other.partner()).key }
}
const read = (path: string) => get(service, key, path)
const data = async (path: string) => {
  const { status, text, json } = await read(path)
  assert.strictEqual(status, 200, text)
  return json
}
/** Waits until a path answers with this status: the feed connects while the service starts. */
const answers = async (path: string, status: number) => {
  for (;;) {
    const answer = await read(path)
    if (answer.status === status) return answer
    await new Promise(setImmediate)
  }
}

describe("market data", () => {
  it("/instruments: every listed market, staking at the end (A2-113)", async () => {
    await answers("/ticker?symbol=BTC-USDC-KO", 200)
    const { instruments } = await data("/instruments")
    assert.deepStrictEqual(instruments, [
      { symbol: "BTC-USDC-PERP", family: "PERP", displayName: "Bitcoin perpetual", assetClass: "crypto" },
      { symbol: "EUR-USDC", family: "SPOT", displayName: "EUR-USDC", assetClass: "fx" },
      { symbol: "BTC-USDC-KO", family: "BARRIER", displayName: "BTC-USDC-KO", assetClass: "crypto" },
      { symbol: "ETH-USDC-PERP", family: "PERP", displayName: "ETH-USDC-PERP", assetClass: "crypto" },
      { symbol: "BTC-SWAP", family: "STAKING", displayName: "BTC-SWAP", assetClass: "crypto" }
    ])
  })

  it("/ticker: msg, sequence and time beside the data; nulls by family (A2-02, A2-113)", async () => {
    assert.deepStrictEqual(await data("/ticker?symbol=BTC-USDC-PERP"), {
      code: 0,
      msg: "ok",
      data: {
        symbol: "BTC-USDC-PERP",
        lastPrice: "60000.5",
        markPrice: "60000.0",
        indexPrice: "59999.9",
        bestBid: "59999.9",
        bestAsk: "60000.1",
        volume24h: "12.5000",
        openInterest: "3.0000",
        fundingRate: "0.0001",
        fundingRatePct: "0.01",
        predictedFundingRate: "-0.00012",
        nextFundingTs: now + 1_000
      },
      asOfSeq: 41,
      ts: now
    })
    const none = { fundingRate: null, fundingRatePct: null, predictedFundingRate: null, nextFundingTs: 0 }
    assert.deepInclude((await data("/ticker?symbol=EUR-USDC")).data, {
      ...none,
      lastPrice: null,
      markPrice: "1.0800",
      bestBid: null,
      volume24h: "0",
      openInterest: null
    })
    assert.deepInclude((await data("/ticker?symbol=BTC-USDC-KO")).data, {
      ...none,
      lastPrice: "60000.0",
      bestBid: null,
      bestAsk: null,
      openInterest: null
    })
  })

  it("/tickers: a row for every listed market, prices null where none are known (A2-03)", async () => {
    const { tickers, asOf } = await data("/tickers")
    assert.isAtLeast(asOf, now)
    assert.deepStrictEqual(
      tickers.map((row: { symbol: string; markPrice: string | null; volume24h: string | null }) => [
        row.symbol,
        row.markPrice,
        row.volume24h
      ]),
      [
        ["BTC-USDC-PERP", "60000.0", "12.5000"],
        ["EUR-USDC", "1.0800", "0"],
        ["BTC-USDC-KO", "60000.0", "0"],
        ["ETH-USDC-PERP", null, null],
        ["BTC-SWAP", null, "0"]
      ]
    )
  })

  it("/orderbook: the best levels with their own checksum; a barrier market has none (A2-06, A2-113)", async () => {
    const whole = await data("/orderbook?symbol=BTC-USDC-PERP")
    assert.deepInclude(whole, {
      bids: [
        ["60000.0", "1.0000"],
        ["59999.9", "2.0000"]
      ],
      asks: [["60000.1", "0.5000"]],
      asOfSeq: 9,
      ts: now
    })
    const best = await data("/orderbook?symbol=BTC-USDC-PERP&depth=1")
    assert.strictEqual(best.bids.length, 1)
    assert.notStrictEqual(best.checksum, whole.checksum)
    assert.deepInclude(await data("/orderbook?symbol=EUR-USDC&depth=100"), { bids: [], asks: [], checksum: 0 })
    assert.deepInclude(await data("/orderbook?symbol=BTC-USDC-KO"), { bids: [], asks: [], checksum: 0, asOfSeq: 7 })
  })

  it("/market-trades: newest first, the taker's side, flags (A2-07)", async () => {
    const { trades: rows, asOfSeq } = await data("/market-trades?symbol=BTC-USDC-PERP")
    assert.strictEqual(asOfSeq, 5)
    assert.deepStrictEqual(rows[0], { tradeId: 12, price: "60000.1", qty: "0.5000", side: "SELL", flags: [], ts: now })
    assert.deepStrictEqual(rows[1].flags, ["LIQUIDATION"])
    assert.strictEqual((await data("/market-trades?symbol=BTC-USDC-PERP&limit=1")).trades.length, 1)
    assert.deepStrictEqual((await data("/market-trades?symbol=EUR-USDC")).trades, [])
  })

  it("/index-price and /funding", async () => {
    assert.deepStrictEqual(await data("/index-price?symbol=BTC-USDC-KO"), {
      symbol: "BTC-USDC-KO",
      indexPrice: "59999.9",
      ts: now
    })
    assert.deepStrictEqual(await data("/funding?symbol=BTC-USDC-PERP"), {
      symbol: "BTC-USDC-PERP",
      fundingRate: "0.0001",
      fundingRatePct: "0.01",
      predictedFundingRate: "-0.00012",
      predictedFundingRatePct: "-0.012",
      fundingRateAnnualizedPct: "10.95",
      fundingIntervalHours: 8,
      settleCcy: "USDC",
      nextFundingTs: now + 1_000,
      funding: { schedule: ["00:00", "08:00", "16:00"], intervalHours: 8 }
    })
    assert.deepInclude(await data("/funding?symbol=BTC-USDC-KO"), {
      fundingRate: null,
      predictedFundingRatePct: null,
      fundingRateAnnualizedPct: null,
      fundingIntervalHours: 0,
      nextFundingTs: 0
    })
  })

  it("/market-info: tiers, schedule and commission; barrier and spot blocks (A2-08..A2-10, A2-18)", async () => {
    const perpetual = await data("/market-info?symbol=BTC-USDC-PERP")
    assert.deepInclude(perpetual, {
      priceTick: "0.1",
      minQty: "0.0001",
      maxQty: "100.0000",
      minNotional: "5.000000",
      priceBandBps: 1_000,
      leverageSchedule: { RETAIL: 10, PROFESSIONAL: 50 },
      commission: { feeModel: "commission", commissionBps: 5, venueFees: { includedInCommission: true } }
    })
    assert.deepStrictEqual(
      perpetual.riskTiers.map((row: { notionalTo: string | null; maxLeverage: number }) => [
        row.notionalTo,
        row.maxLeverage
      ]),
      [
        ["500000.000000", 50],
        ["2000000.000000", 20],
        ["10000000.000000", 10],
        [null, 5]
      ]
    )
    const knockOut = await data("/market-info?symbol=BTC-USDC-KO")
    assert.deepInclude(knockOut, {
      knockOutRebateBps: 500,
      strictTakeProfitPremiumBps: 4_000,
      barrierPremiumBps: 9_500,
      barrierMaxLeverage: 1_000,
      kid: null,
      kidStrict: null,
      riskTiers: [],
      leverageSchedule: null
    })
    assert.strictEqual(knockOut.barrierExpiry.maxExplicitMs, 28_800_000)
    assert.strictEqual(knockOut.barrierExpiry.strictMaxExplicitMs, 86_400_000)
    assert.notProperty(perpetual, "kid")
    assert.deepStrictEqual((await data("/market-info?symbol=EUR-USDC")).spot, {
      asset: "EUR",
      displayDecimals: 2,
      quoteCurrency: "USDC",
      prefunded: true
    })
  })

  it("/trading-status: halts of the venue (A2-11)", async () => {
    const { data: status } = await data("/trading-status")
    assert.isTrue(status.halted)
    assert.deepStrictEqual(status.halts, [
      { scope: "ETH-USDC-PERP", since: now, until: null, message: "Halted by the venue." }
    ])
  })

  it("/currencies (A2-12)", async () => {
    const { cash, currencies } = await data("/currencies")
    assert.strictEqual(cash, "USDC")
    assert.strictEqual(currencies.length, 8)
    assert.deepInclude(currencies, { code: "SOL", kind: "ASSET", venueAsset: "SOL", displayDecimals: 4, scale: 9 })
  })

  it("/staking/markets and /staking/offers: by tenor, the better rate first, expired ones left out (A2-56)", async () => {
    const { data: board } = await data("/staking/markets")
    assert.strictEqual(board.markets.length, 1)
    assert.deepInclude(board.markets[0], { maxRatePct: "20.00", takerFeeRate: "0.001", minQty: "0.0010" })
    const { data: offers } = await data("/staking/offers?asset=BTC&symbol=BTC-SWAP")
    assert.deepStrictEqual(
      offers.offers.map((row: { offerId: number }) => row.offerId),
      [3, 2, 1]
    )
    assert.deepInclude(offers.offers[1], { ratePct: "5.00", remainingQty: "1.5000", rewardPerUnit: "0.00410958" })
    assert.isFalse(offers.stale)
    assert.deepStrictEqual((await data("/staking/offers?asset=ETH")).data.offers, [])
  })
})

describe("klines (A2-04, A2-05)", () => {
  const row = (t: number, close: string) => ({
    t,
    open: "60000",
    high: "60001",
    low: "60000",
    close,
    volume: "1",
    trades: 2
  })
  const first = open - 9 * minute
  venue.page = {
    klines: [row(first, "60000.5"), row(open - 2 * minute, "60001")],
    before: null,
    oldestAvailable: first,
    asOf: now
  }
  const klines = async (query: string) => (await data(`/klines?symbol=BTC-USDC-PERP${query}`)).data
  const opens = (page: { klines: ReadonlyArray<{ t: number }> }) => page.klines.map(({ t }) => (t - first) / minute)

  it("fills buckets without trades with the close before them; the open one is partial", async () => {
    const page = await klines("")
    assert.deepStrictEqual(opens(page), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.deepStrictEqual(page.klines[1], {
      t: first + minute,
      open: "60000.5",
      high: "60000.5",
      low: "60000.5",
      close: "60000.5",
      volume: "0",
      trades: 0,
      partial: false
    })
    assert.deepInclude(page.klines[7], { close: "60001.0", volume: "1.0000", trades: 2 })
    assert.deepInclude(page.klines[9], { close: "60001.0", partial: true })
    assert.deepInclude(page, { interval: "1m", intervalMs: minute, hasMore: false, oldestAvailable: first, asOf: now })
  })

  it.each([
    ["the newest without bounds", "&limit=3", [7, 8, 9], true],
    ["the first ones from `from`, rounded down", `&from=${first + 90_000}&limit=2`, [1, 2], true],
    ["from before there was anything", `&from=0&limit=2`, [0, 1], true],
    ["the last ones before `to`", `&to=${first + 5 * minute}&limit=2`, [3, 4], true],
    ["all of a window that fits", `&from=${first + minute}&to=${first + 3 * minute}`, [1, 2], false],
    ["none of an empty window", `&from=${first}&to=${first}`, [], false],
    ["up to the open one of a window that goes on", `&from=${open}&to=${open + 90 * minute}`, [9], false]
  ])("%s", async (_title, query, expected, hasMore) => {
    const page = await klines(query)
    assert.deepStrictEqual([opens(page), page.hasMore], [expected, hasMore])
  })
})

describe("bad input", () => {
  const wanted = "A market symbol is required."
  const ofSymbol = ["ticker", "klines", "orderbook", "market-trades", "index-price", "funding", "market-info"]

  it.each(ofSymbol)("/%s without a symbol, with an empty one, two, or an unknown one", async (route) => {
    for (const query of ["", "?symbol="]) {
      const { status, json } = await read(`/${route}${query}`)
      assert.deepStrictEqual([status, json.code, json.msg], [400, 4000, wanted])
    }
    const twice = await read(`/${route}?symbol=BTC-USDC-PERP&symbol=BTC-USDC-PERP`)
    assert.strictEqual(twice.json.data.errors.symbol, "The parameter symbol must be sent once.")
    for (const symbol of ["btc-perp", "XYZ", "OLD-USDC-PERP", "BTC-SWAP", "__proto__", "%00", "A".repeat(2_000)]) {
      const { status, json } = await read(`/${route}?symbol=${symbol}`)
      assert.deepStrictEqual([status, json.code, json.msg], [404, 4004, "This market is not offered."])
    }
  })

  const limit = (max: number) => `The limit must be a whole number from 1 to ${max}.`
  const millis = (name: string) => `The parameter ${name} must be a whole number of Unix milliseconds.`
  const interval = "The parameter interval must be one of: 1m, 5m, 15m, 30m, 1h, 4h, 1d."
  const depth = "The parameter depth must be one of: 1, 5, 25, 100."
  it.each([
    ["klines", { interval: "1M" }, interval],
    ["klines", { interval: "" }, interval],
    ["klines", { interval: "60000" }, interval],
    ...["0", "1001", "-1", "1.0", "01", "1e2", "x", "", "99999"].map(
      (value) => ["klines", { limit: value }, limit(1_000)] as const
    ),
    ...["-1", "1.5", "x", "", "1e3", "99999999999999999"].flatMap((value) => [
      ["klines", { from: value }, millis("from")] as const,
      ["klines", { to: value }, millis("to")] as const
    ]),
    ["klines", { from: "2", to: "1" }, "The end of the window must not be before its start."],
    ...["0", "501", "x"].map((value) => ["market-trades", { limit: value }, limit(500)] as const),
    ...["0", "2", "24", "26", "99", "101", "01", "5.0", "", "x"].map(
      (value) => ["orderbook", { depth: value }, depth] as const
    ),
    [
      "staking/offers",
      { asset: "btc" },
      "The parameter asset must be one of: USDC, BTC, ETH, SOL, BNB, XRP, EUR, USD1."
    ]
  ] as ReadonlyArray<readonly [string, Readonly<Record<string, string>>, string]>)(
    "/%s %o: %s",
    async (route, parameters, sentence) => {
      const symbol = route.startsWith("staking") ? "BTC-SWAP" : "BTC-USDC-PERP"
      const { status, json } = await read(`/${route}?${new URLSearchParams({ symbol, ...parameters }).toString()}`)
      assert.deepStrictEqual([status, json.code, json.msg], [400, 4000, sentence])
    }
  )

  it.each([
    ["klines", "limit=1"],
    ["klines", "limit=1000"],
    ["market-trades", "limit=1"],
    ["market-trades", "limit=500"],
    ["klines", "from=0&to=0"],
    ["klines", "interval=1d"],
    ["orderbook", "depth=100"]
  ])("/%s accepts %s", async (route, query) => {
    await data(`/${route}?symbol=BTC-USDC-PERP&${query}`)
  })

  it("names every wrong parameter in one answer, before the market is looked up", async () => {
    const { status, json } = await read("/klines?symbol=XYZ&interval=2m&limit=0&from=x")
    assert.strictEqual(status, 400)
    assert.deepStrictEqual(Object.keys(json.data.errors), ["interval", "from", "limit"])
  })

  it("/staking/offers of a market that is not offered", async () => {
    assert.strictEqual((await read("/staking/offers?symbol=OLD-SWAP")).status, 404)
  })
})

describe("without a venue", () => {
  const routes = [
    "/instruments",
    "/ticker?symbol=BTC-USDC-PERP",
    "/tickers",
    "/klines?symbol=BTC-USDC-PERP",
    "/orderbook?symbol=BTC-USDC-PERP",
    "/market-trades?symbol=BTC-USDC-PERP",
    "/index-price?symbol=BTC-USDC-PERP",
    "/funding?symbol=BTC-USDC-PERP",
    "/market-info?symbol=BTC-USDC-PERP",
    "/trading-status",
    "/currencies",
    "/staking/markets",
    "/staking/offers"
  ]
  it("no venue attached: every route answers 503 code 5030; a venue that was never reached: 502 code 5020 (A2-114)", async () => {
    const silent = new ScriptedVenue()
    silent.reachable = false
    for (const [options, expected] of [
      [{}, [503, 5030, "No venue is attached to this service."]],
      [{ layerVenue: silent.layer }, [502, 5020, "The venue can not be reached."]]
    ] as const) {
      const other = await openOther(options)
      for (const path of routes) {
        const { status, json } = await get(other.service, other.key, path)
        assert.deepStrictEqual([path, status, json.code, json.msg], [path, ...expected])
      }
      await other.service.stop()
    }
  })
})
