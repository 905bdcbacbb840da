/** An answer of each route of requests for quotes, contracts and margin, as the reference shows them; held against their schemas by test/http/barrierContract.test.ts. */
const ts = 1_763_985_600_000
const expiryTs = ts + 4 * 3_600_000
const terms = {
  symbol: "BTC-USDC-KO",
  side: "BUY",
  qty: "0.5000",
  barrierLevel: "58000.0",
  takeProfit: "62000.0",
  expiryTs,
  strictTakeProfit: false,
  premiumBps: 9_500
}
const currency = "USDC"

const quote = {
  quoteId: 70_311,
  price: "60000.0",
  qty: "0.5000",
  validUntil: ts + 9_000,
  validForMs: 8_400,
  impliedMaxLoss: "950.000000",
  impliedPremium: "950.000000",
  impliedLeverage: "31.58",
  impliedPotentialProfit: "1000.000000",
  impliedPnl: null,
  state: "LIVE",
  acceptable: true,
  notAcceptableReason: null
}

const rfq = {
  rfqId: 9_021,
  clientId: 41,
  clientUid: "ACME-00000041",
  venueRfqId: 3_307,
  clOrdId: "R-9021",
  ...terms,
  direction: "LONG",
  expiryDefaulted: false,
  expiresAt: ts + 60_000,
  expiresInMs: 59_400,
  state: "OPEN",
  createdAt: ts,
  updatedAt: ts + 120,
  rejectReason: null,
  accepting: false,
  autoAccept: true,
  autoAcceptNote: null,
  closeContractId: null,
  contractEntry: null,
  acceptedQuoteId: null,
  contractId: null,
  entryPrice: null,
  commission: "6.000000",
  maxLossAtRequest: "950.000000",
  premium: null,
  markAtRequest: "60000.0",
  impliedLeverage: "31.58",
  potentialProfit: "1000.000000",
  quotes: [quote],
  currency
}

const closing = {
  ...rfq,
  rfqId: 9_044,
  venueRfqId: 3_351,
  clOrdId: "R-9044",
  closeContractId: 5_012,
  contractEntry: "60000.0",
  commission: null,
  maxLossAtRequest: null,
  impliedLeverage: null,
  potentialProfit: null,
  markAtRequest: "61000.0",
  quotes: []
}

const accepted = {
  rfqId: 9_021,
  venueRfqId: 3_307,
  quoteId: 70_311,
  contractId: 5_012,
  tradeId: 88_102,
  ...terms,
  direction: "LONG",
  entry: "60000.0",
  ts: ts + 1_250,
  currency
}

const opened = {
  ...accepted,
  maxLoss: "950.000000",
  premium: "950.000000",
  leverage: "31.58",
  potentialProfit: "1000.000000",
  commission: "6.000000"
}

const closed = {
  ...accepted,
  rfqId: 9_044,
  venueRfqId: 3_351,
  quoteId: 70_402,
  settlePrice: "60980.0",
  realizedPnl: "490.000000",
  commission: "0.000000"
}

const preview = {
  accepted: true,
  reason: null,
  mark: "60000.0",
  maxLoss: "950.000000",
  premium: "950.000000",
  estimatedCommission: "6.000000",
  requiredFreeMargin: "956.000000",
  freeMarginBefore: "5000.000000",
  freeMarginAfter: "4044.000000",
  impliedLeverage: "31.58",
  potentialProfit: "1000.000000",
  maxLeverage: 1_000,
  expiryTs,
  expiryDefaulted: false,
  strictTakeProfit: false,
  premiumBps: 9_500,
  knockOutRebateBps: 500,
  strictTakeProfitPremiumBps: 4_000,
  strictTakeProfitOffered: true,
  currency
}

const contract = {
  contractId: 5_012,
  ...terms,
  entry: "60000.0",
  expiresInMs: 14_000_000,
  state: "OPEN",
  openedAt: ts + 1_250,
  closedAt: null,
  settlePrice: null,
  pnl: null,
  mark: "61000.0",
  markFresh: true,
  distanceAbs: "3000.0",
  distancePct: "4.9180",
  distanceToTpAbs: "1000.0",
  distanceToTpPct: "1.6393",
  unrealizedPnl: "500.000000",
  requirement: "950.000000",
  maxLoss: "950.000000",
  premium: "950.000000",
  potentialProfit: "1000.000000",
  leverage: "31.58",
  commission: "6.000000",
  notional: "30000.000000",
  venueRfqId: 3_307,
  rfqId: 9_021,
  closeReason: null,
  closeRfqId: null,
  currency
}

export const barrierExamples = {
  rfq,
  rfqs: { rfqs: [rfq] },
  closing,
  opened,
  closed,
  preview,
  cancelled: { rfqId: 9_021, state: "CANCELLED" },
  contracts: { barriers: [contract], hasMore: true, nextBefore: 5_012, currency },
  margin: {
    clientId: 41,
    equity: "5494.000000",
    cash: "4994.000000",
    unrealizedPnl: "0.000000",
    reserved: "0.000000",
    initialMargin: "950.000000",
    maintenanceMargin: "475.000000",
    positionMargin: "0.000000",
    orderMargin: "0.000000",
    freeMargin: "4044.000000",
    marginLevel: "525.68",
    riskState: "NORMAL",
    categorization: "RETAIL",
    marksFresh: true,
    closeOutPct: 50,
    marginCallPct: 100,
    positions: [],
    openOrders: 0,
    barrierMargin: "950.000000",
    barrierUnrealizedPnl: "500.000000",
    barrierMarksFresh: true,
    pendingAcceptMargin: "0.000000",
    closeOutEquity: "4994.000000",
    barriers: 1
  },
  explanation: {
    write: "rfq",
    outcome: "REFUSED",
    code: 4_000,
    sentence: "The premium and the commission must fit the free margin.",
    data: null,
    gates: [
      { gate: "market", status: "passed", compared: null, code: null, sentence: null },
      {
        gate: "freeMargin",
        status: "failed",
        compared: { figure: "956.000000", limit: "900.000000" },
        code: 4_000,
        sentence: "The premium and the commission must fit the free margin."
      }
    ]
  }
} as const
