/** An answer of each route of orders, positions, trades and leverage, as the reference shows them; held against their schemas by test/http/orderContract.test.ts. */
const ts = 1_763_985_600_000
const placed = { orderId: 12_044, clOrdId: "O-12044" }

const order = {
  ...placed,
  symbol: "BTC-USDC-PERP",
  family: "PERP",
  side: "BUY",
  type: "LIMIT",
  qty: "0.5000",
  price: "60000.0",
  state: "PARTIAL",
  reject: null,
  filledQty: "0.2000",
  createdAt: ts,
  reduceOnly: false,
  tif: "GTC",
  trigger: null,
  updatedAt: ts + 1_250,
  attach: {
    takeProfit: { price: "63000.0", limitPrice: null },
    stopLoss: { price: "58500.0", limitPrice: null },
    legs: [12_045, 12_046]
  },
  ocoGroup: null,
  parentOrderId: null,
  parentClOrdId: null,
  origin: "CLIENT",
  note: null,
  replacedBy: null,
  replaces: null,
  reservation: null
}

const leg = {
  ...order,
  orderId: 12_045,
  clOrdId: "O-12045",
  side: "SELL",
  type: "TAKE_PROFIT_MARKET",
  qty: "0.2000",
  price: null,
  state: "PENDING_TRIGGER",
  filledQty: "0.0000",
  createdAt: ts + 1_250,
  reduceOnly: true,
  trigger: { source: "MARK", price: "63000.0", direction: "AT_OR_ABOVE", limitPrice: null },
  attach: null,
  ocoGroup: "att:12044",
  parentOrderId: 12_044,
  parentClOrdId: "O-12044",
  origin: "ATTACHED"
}

const spot = {
  ...order,
  orderId: 12_031,
  clOrdId: "O-12031",
  symbol: "ETH-USDC",
  family: "SPOT",
  qty: "2.000",
  price: "3000.00",
  state: "ACKED",
  filledQty: "0.000",
  attach: null,
  reservation: { currency: "USDC", amount: "6006.000000", consumed: "0.000000", released: "0.000000" }
}

const trade = {
  id: 30_911,
  venueTradeId: 88_114,
  ...placed,
  symbol: "BTC-USDC-PERP",
  family: "PERP",
  side: "BUY",
  price: "60000.0",
  qty: "0.2000",
  commission: "6.000000",
  ts: ts + 1_250,
  realizedPnl: "0.000000",
  notional: "12000.000000",
  asset: null
}

const figures = {
  reservation: "3015.000000",
  orderValue: "30000.000000",
  marginRequired: "3000.000000",
  leverage: 10,
  freeMarginBefore: "10000.000000",
  freeMarginAfter: "6985.000000",
  marginLevelAfter: "332.83",
  estLiquidationPrice: "42977.5",
  equityBefore: "10000.000000",
  initialMarginBefore: "0.000000",
  initialMarginAfter: "3000.000000",
  estimatedCommission: "15.000000",
  slippageAllowance: "0.000000",
  estimatedCosts: "15.000000"
}

const short = "The order's margin and costs exceed the client's free margin."
const refused = (sentence: string) => ({ code: 4_000, msg: sentence, error: sentence })

export const orderExamples = {
  placed: { ...placed, state: "ACKED" },
  cancelled: placed,
  orders: { orders: [leg, order, spot], hasMore: true, nextBefore: 12_031 },
  open: [leg, order, spot],
  positions: {
    positions: [
      {
        symbol: "BTC-USDC-PERP",
        netQty: "0.2000",
        avgEntryPrice: "60000.0",
        netCost: "12000.000000",
        realizedPnl: "0.000000",
        updatedAt: ts + 1_250
      }
    ]
  },
  trades: { trades: [trade], hasMore: false, nextBefore: null },
  history: {
    items: [
      {
        id: 30_955,
        orderId: 12_045,
        clOrdId: "O-12045",
        symbol: "BTC-USDC-PERP",
        side: "SELL",
        qty: "0.2000",
        price: "63000.0",
        realizedPnl: "600.000000",
        ts: ts + 3_600_000
      }
    ],
    hasMore: false,
    nextBefore: null
  },
  leverage: { symbol: "BTC-USDC-PERP", leverage: 5, cap: 10, categorization: "RETAIL", chosen: 5 },
  preview: { accepted: true, reason: null, ...figures },
  refusedPreview: {
    ...refused(short),
    accepted: false,
    reason: short,
    ...figures,
    freeMarginBefore: "2000.000000",
    freeMarginAfter: "-1015.000000",
    equityBefore: "2000.000000",
    marginLevelAfter: "66.16",
    estLiquidationPrice: "58977.5"
  },
  rejected: { ...refused("The venue has refused the order: price outside the band."), ...placed, state: "REJECTED" },
  notWritten: { ...refused(short), orderId: null, clOrdId: null, state: null },
  explanation: {
    write: "order",
    outcome: "REFUSED",
    code: 4_000,
    sentence: short,
    data: null,
    gates: [
      { gate: "market", status: "passed", compared: null, code: null, sentence: null },
      {
        gate: "preTrade",
        status: "failed",
        compared: { figure: "3015.000000", limit: "2000.000000" },
        code: 4_000,
        sentence: short
      }
    ]
  }
} as const
