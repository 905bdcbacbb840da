/** An answer of each market-data route, as the reference shows them; test/http/openApi.test.ts holds them against their schemas. */
const btc = {
  symbol: "BTC-USDC-PERP",
  lastPrice: "60012.3",
  markPrice: "60010.0",
  indexPrice: "60008.4",
  bestBid: "60009.9",
  bestAsk: "60010.1",
  volume24h: "1520.4210",
  openInterest: "310.0500",
  fundingRate: "0.0001",
  fundingRatePct: "0.01",
  predictedFundingRate: "0.00012",
  nextFundingTs: 1_764_000_000_000
}
const ts = 1_763_985_600_000
const disclosure =
  "The writer of an offer owes notional and reward at maturity without any security: if the writer can not pay, the client may lose all of it."

export const marketExamples = {
  instruments: {
    instruments: [{ symbol: "BTC-USDC-PERP", family: "PERP", displayName: "Bitcoin perpetual", assetClass: "crypto" }]
  },
  ticker: { code: 0, msg: "ok", data: btc, asOfSeq: 48_211, ts },
  tickers: { asOf: ts, tickers: [btc] },
  klines: {
    symbol: "BTC-USDC-PERP",
    interval: "1m",
    intervalMs: 60_000,
    klines: [
      {
        t: ts,
        open: "60001.0",
        high: "60012.3",
        low: "59999.5",
        close: "60012.3",
        volume: "0.7200",
        trades: 14,
        partial: true
      }
    ],
    hasMore: true,
    oldestAvailable: ts - 86_400_000,
    asOf: ts + 21_000
  },
  orderbook: {
    symbol: "BTC-USDC-PERP",
    bids: [["60009.9", "0.5000"]],
    asks: [["60010.1", "0.4000"]],
    checksum: -187_001_429,
    asOfSeq: 912_004,
    ts
  },
  marketTrades: {
    symbol: "BTC-USDC-PERP",
    trades: [{ tradeId: 7_001, price: "60012.3", qty: "0.0200", side: "BUY", flags: [], ts }],
    asOfSeq: 5_210,
    ts
  },
  indexPrice: { symbol: "BTC-USDC-PERP", indexPrice: "60008.4", ts },
  funding: {
    symbol: "BTC-USDC-PERP",
    fundingRate: "0.0001",
    fundingRatePct: "0.01",
    predictedFundingRate: "0.00012",
    predictedFundingRatePct: "0.012",
    fundingRateAnnualizedPct: "10.95",
    fundingIntervalHours: 8,
    settleCcy: "USDC",
    nextFundingTs: 1_764_000_000_000,
    funding: { schedule: ["00:00", "08:00", "16:00"], intervalHours: 8 }
  },
  marketInfo: {
    symbol: "BTC-USDC-PERP",
    family: "PERP",
    displayName: "Bitcoin perpetual",
    assetClass: "crypto",
    priceTick: "0.1",
    qtyStep: "0.0001",
    minQty: "0.0001",
    maxQty: "166.0000",
    minNotional: "5.000000",
    fundingIntervalHours: 8,
    fundingSchedule: ["00:00", "08:00", "16:00"],
    riskTiers: [{ tier: 1, notionalFrom: "0.000000", notionalTo: "500000.000000", maxLeverage: 50 }],
    leverageSchedule: { RETAIL: 10, PROFESSIONAL: 50 },
    commission: { feeModel: "commission", commissionBps: 5, venueFees: { includedInCommission: true } }
  },
  tradingStatus: {
    asOf: ts,
    halted: true,
    halts: [{ scope: "BTC-USDC-PERP", since: ts - 60_000, until: null, message: "Halted by the venue." }]
  },
  currencies: {
    cash: "USDC",
    currencies: [{ code: "USDC", kind: "CASH", venueAsset: "USDC", displayDecimals: 2, scale: 6 }]
  },
  stakingMarkets: {
    markets: [
      {
        symbol: "BTC-SWAP",
        name: "Bitcoin swap",
        asset: "BTC",
        venueAsset: "BTC",
        enabled: true,
        minTenorDays: 1,
        maxTenorDays: 90,
        maxRateBps: 2_000,
        maxRatePct: "20.00",
        minQty: "0.0010",
        qtyStep: "0.0001",
        maxQty: "100.0000",
        takerFeeRate: "0.001",
        displayDecimals: 8,
        commissionRewardBps: 1_000,
        family: "STAKING"
      }
    ],
    disclosure,
    commissionRewardBps: 1_000
  },
  stakingOffers: {
    offers: [
      {
        offerId: 31,
        symbol: "BTC-SWAP",
        name: "Bitcoin swap",
        asset: "BTC",
        venueAsset: "BTC",
        rateBps: 500,
        ratePct: "5.00",
        tenorDays: 30,
        qty: "2.0000",
        remainingQty: "1.5000",
        minQty: "0.0010",
        expiryTs: ts + 86_400_000,
        createdTs: ts,
        rewardPerUnit: "0.00410958",
        commissionRewardBps: 1_000
      }
    ],
    asOf: ts,
    stale: false,
    disclosure,
    commissionRewardBps: 1_000
  }
} as const
