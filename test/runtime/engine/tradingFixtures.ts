/** The sample rows of trading, and the common parts of all sample rows. */

/** A moment, Unix ms. */
export const noon = 1_790_000_000_000

export const machine = {
  state: "ACTIVE",
  version: "1",
  context: { note: "as stored", list: [1, "two", null], deep: { a: 1 } }
}

/** One row of every table of trading for client `id` of partner 1. */
export const tradingRows = (id: number) => ({
  venueCalls: { ref: `P-${id}`, partnerId: 1, clientId: id, call: "placeOrder", request: { ref: `P-${id}` }, at: noon },
  venueAccounts: { clientId: id, sequence: 3, takenTo: 7, gapTo: 2 },
  venueMisfits: {
    id,
    partnerId: id,
    clientId: id,
    state: "READING",
    context: {
      misfitId: id,
      ref: `O-${id}`,
      reason: "the side is SELL instead of BUY",
      at: noon,
      reads: 2,
      isAwaited: true
    },
    ref: `O-${id}`,
    worth: 1n,
    at: noon,
    breakId: 4,
    market: { bands: [{ at: noon, bps: null, low: "54000", high: "66000" }], listedAt: noon },
    contractId: id
  },
  venueCursor: { id, number: 9 },
  venueQuarantine: {
    id,
    at: noon,
    number: 4,
    account: "ACM-00000001",
    reason: "unknown object",
    bytes: "{}",
    droppedAt: noon
  },
  rfqs: {
    id,
    partnerId: 1,
    clientId: id,
    ...machine,
    symbol: "BTC-USDC-KO",
    currency: "USDC",
    amount: 28_500_000n,
    createdAt: noon,
    closeContractId: 5,
    venueOpen: true
  },
  barrierContracts: {
    id,
    partnerId: 1,
    clientId: id,
    ...machine,
    state: "OPEN",
    rfqId: 4,
    symbol: "BTC-USDC-KO",
    currency: "USDC",
    amount: 28_500_000n,
    commission: 120_000n,
    openedAt: noon,
    closedAt: noon,
    pnl: -28_500_000n
  },
  swaps: {
    id,
    partnerId: 1,
    clientId: id,
    ...machine,
    state: "OPEN",
    symbol: "ETH-SWAP",
    currency: "ETH",
    amount: 1_000_000_000n,
    reward: 767_123n,
    fee: 500_000n,
    paid: 0n,
    writtenOff: 0n,
    commission: 0n,
    contractId: 9,
    openedAt: noon,
    maturityAt: noon,
    closedAt: null,
    createdAt: noon
  },
  orders: {
    id,
    partnerId: 1,
    clientId: id,
    ...machine,
    state: "ACKED",
    symbol: "BTC-USDC-PERP",
    currency: "USDC",
    amount: 6_006_000_000n,
    parentOrderId: 7,
    createdAt: noon
  },
  attachments: {
    id,
    partnerId: 1,
    clientId: id,
    ...machine,
    symbol: "BTC-USDC-PERP",
    live: true,
    unplacedSince: noon,
    createdAt: noon
  },
  fills: {
    id,
    partnerId: 1,
    clientId: id,
    orderId: id,
    tradeId: 70,
    symbol: "BTC-USDC-PERP",
    family: "PERP",
    side: "SELL",
    price: "60000.0",
    qty: "0.1000",
    closedQty: "0.1000",
    currency: "USDC",
    notional: 6_000_000_000n,
    commission: 3_000_000n,
    realizedPnl: -25_000_000n,
    orderType: "LIMIT",
    origin: "CLIENT",
    ts: noon,
    bookedAt: noon
  },
  positions: {
    id,
    partnerId: 1,
    clientId: id,
    symbol: "BTC-USDC-PERP",
    state: "OPEN",
    netQty: "-0.1000",
    avgEntry: "60000.333333333333333333",
    netCost: "-6000.0333333333333333333",
    currency: "USDC",
    amount: 6_000_033_334n,
    realizedPnl: -25_000_000n,
    openedAt: noon,
    updatedAt: noon
  },
  spotLots: {
    id,
    partnerId: 1,
    clientId: id,
    asset: "BTC",
    qty: 10_000_000n,
    cost: 6_000_000_000n,
    commission: 6_000_000n,
    acquiredAt: noon
  },
  firedGroups: { id, partnerId: 1, clientId: id, symbol: "BTC-USDC-PERP", name: "exit", firedAt: noon },
  leverages: { clientId: id, symbol: "BTC-USDC-PERP", partnerId: 1, leverage: 5, updatedAt: noon },
  lossNotices: { clientId: id, symbol: "BTC-USDC-PERP", partnerId: 1, day: 20_717, openedAt: noon, step: 10 },
  openFundings: {
    id,
    partnerId: 1,
    clientId: id,
    symbol: "BTC-USDC-PERP",
    settledAt: noon,
    mark: "60000.0",
    rate: "-0.00010000",
    qty: "-0.2000",
    venueQty: "0.1000",
    posted: true,
    live: true,
    createdAt: noon
  },
  accountTotals: {
    clientId: id,
    partnerId: 1,
    fills: 3,
    fillsPnl: -25_000_000n,
    perpFlow: -540_000_000n,
    stakingPnl: 7_123_287n,
    stakingCommission: 712_329n,
    swapTakes: 2,
    wins: 2,
    losses: 1,
    spotPnl: 4_000_001n,
    barrierPnl: -28_500_000n,
    fillsCommission: 9_000_000n,
    barrierCommission: 120_000n,
    contracts: 1
  },
  riskMonitors: { clientId: id, partnerId: 1, ...machine },
  closeOuts: {
    id,
    partnerId: 1,
    clientId: id,
    ...machine,
    state: "STARTED",
    startedAt: noon,
    endedAt: noon,
    unrepaid: 9_007_199_254_740_993n
  },
  venueProbes: { id, partnerId: 1, clientId: id, ...machine, startedAt: noon }
})
