/** The sample rows of trading, and what all sample rows share. */

/** A moment, Unix ms. */
export const noon = 1_790_000_000_000

export const machine = {
  state: "ACTIVE",
  version: "1",
  context: { note: "as stored", list: [1, "two", null], deep: { a: 1 } }
}

/** One row of every table of trading for client `id` of partner 1. */
export const tradingRows = (id: number) => ({
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
  riskMonitors: { clientId: id, partnerId: 1, ...machine },
  closeOuts: { id, partnerId: 1, clientId: id, ...machine, state: "STARTED", startedAt: noon, endedAt: noon },
  venueProbes: { id, partnerId: 1, clientId: id, ...machine, startedAt: noon }
})
