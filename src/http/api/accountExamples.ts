/** What the account routes of the OpenAPI document answer, of one client at one moment: its figures add up. */
const zero = "0.000000"
const asset = {
  equity: null,
  unrealizedPnl: null,
  freeMargin: null,
  valueCurrency: "USDC",
  stakedValue: zero,
  claimsValue: zero
}

/** 500 USDC are set aside for a purchase, a tenth of a bitcoin is held, two ether lie in a swap. */
export const balancesExample = {
  balances: [
    {
      ...asset,
      currency: "USDC",
      kind: "CASH",
      cash: "9494.000000",
      reserved: "500.000000",
      total: "9994.000000",
      free: "8294.000000",
      displayDecimals: 2,
      venueAsset: "USDC",
      equity: "9494.000000",
      unrealizedPnl: zero,
      freeMargin: "8294.000000",
      mark: "1",
      markFresh: true,
      value: "9994.000000",
      staked: zero,
      swapClaims: zero
    },
    {
      ...asset,
      currency: "BTC",
      kind: "ASSET",
      cash: "0.10000000",
      reserved: "0.00000000",
      total: "0.10000000",
      free: "0.10000000",
      displayDecimals: 8,
      venueAsset: "BTC",
      mark: "60000.0",
      markFresh: true,
      value: "6000.000000",
      staked: "0.00000000",
      swapClaims: "0.00000000"
    },
    {
      ...asset,
      currency: "ETH",
      kind: "ASSET",
      cash: "0.50000000",
      reserved: "0.00000000",
      total: "0.50000000",
      free: "0.50000000",
      displayDecimals: 6,
      venueAsset: "ETH",
      mark: "3000.00",
      markFresh: true,
      value: "1500.000000",
      staked: "2.00000000",
      swapClaims: "0.00000000",
      stakedValue: "6000.000000"
    }
  ],
  portfolioValue: "23494.000000",
  portfolioCurrency: "USDC",
  portfolio: {
    cashTotal: "9494.000000",
    reserved: "500.000000",
    holdingsValue: "7500.000000",
    stakedValue: "6000.000000",
    unrealizedPnl: zero,
    claimsValue: zero,
    holdingsValued: true,
    currency: "USDC"
  }
}

const counts = { fills: 5, barrierContracts: 1, swapTakes: 2 }

export const summaryExample = {
  currency: "USDC",
  realizedPnl: "600.000000",
  commissionPaid: "24.712328",
  fundingPaid: "1.200000",
  tradeCount: 5,
  since: "2025-11-20T09:30:00.000Z",
  sinceTs: 1_763_631_000_000,
  realizedTotal: "557.123287",
  realizedByFamily: { fills: "600.000000", spot: zero, barrier: "-50.000000", staking: "7.123287" },
  commissionByFamily: { fills: "18.000000", barrier: "6.000000", staking: "0.712328" },
  counts
}

export const overviewExample = {
  asOf: 1_763_989_200_000,
  currency: "USDC",
  equity: "9494.000000",
  cash: "9494.000000",
  freeMargin: "8294.000000",
  initialMargin: "1200.000000",
  unrealizedPnl: zero,
  holdings: [
    {
      asset: "BTC",
      qty: "0.10000000",
      avgCost: "59059.000000",
      cost: "5905.900000",
      value: "6000.000000",
      unrealizedPnl: "94.100000"
    },
    {
      asset: "ETH",
      qty: "0.50000000",
      avgCost: "2902.900000",
      cost: "1451.450000",
      value: "1500.000000",
      unrealizedPnl: "48.550000"
    }
  ],
  staked: [
    {
      asset: "ETH",
      swaps: 1,
      notional: "2.00000000",
      reward: "0.00230136",
      expectedPayout: "2.00230136",
      claim: "0.00000000",
      value: "6000.000000",
      nextMaturityTs: 1_764_594_000_000
    }
  ],
  realized: {
    fills: "600.000000",
    spot: zero,
    barrier: "-50.000000",
    staking: "7.123287",
    funding: "-1.200000",
    total: "557.123287"
  },
  commission: { fills: "18.000000", barrier: "6.000000", staking: "0.712328", total: "24.712328" },
  counts,
  wins: 2,
  losses: 1,
  allocation: [
    { bucket: "CASH", value: "9994.000000", pct: "42.54" },
    { bucket: "BTC", value: "6000.000000", pct: "25.54" },
    { bucket: "ETH", value: "1500.000000", pct: "6.38" },
    { bucket: "STAKING", value: "6000.000000", pct: "25.54" }
  ],
  verificationLevel: "MICA_MIFID"
}
