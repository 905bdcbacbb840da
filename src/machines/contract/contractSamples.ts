/** Events of a knock-out contract, both sides of every guard: path tests and diagrams use them (D5). */
import type { ContractEvent, ContractInput } from "./Contract.ts"

export const contractInput: ContractInput = {
  contractId: 5,
  rfqId: 1,
  venueRfqId: 70,
  quoteId: 7,
  clientId: 1,
  account: "ACM-00000001",
  symbol: "BTC-USDC-KO",
  side: "BUY",
  qty: "0.01",
  entry: "60000.0",
  barrier: "57000.0",
  takeProfit: "63000.0",
  expiryTs: 28_800_000,
  expiryDefaulted: false,
  strict: false,
  premiumBps: 9_500,
  premium: "28.500000",
  potentialProfit: "30.000000",
  commission: "0.120000",
  leverage: "21.05",
  notional: "600.000000",
  priceDecimals: 1,
  qtyDecimals: 2,
  venueContractId: 50,
  tradeId: 90,
  openedAt: 100
}

export const contractSamples: ReadonlyArray<ContractEvent> = [
  { type: "KNOCKED_OUT", at: 200, settlePrice: "57000.0", pnl: "-28.500000", reason: null },
  { type: "TAKE_PROFIT", at: 200, settlePrice: "63000.0", pnl: "30.000000", reason: null },
  { type: "EXPIRED", at: 28_800_000, settlePrice: "60000.0", pnl: "0.000000", reason: null },
  { type: "EARLY_CLOSE", at: 200, settlePrice: "60500.0", pnl: "5.000000", reason: null },
  { type: "TORN_UP", at: 200, settlePrice: "59000.0", pnl: "-10.000000", reason: null },
  { type: "CLOSED", at: 200, settlePrice: "60100.0", pnl: "1.000000", reason: "statement of 3 May" },
  { type: "CLOSE_REQUESTED", closeRfqId: 2 },
  { type: "TEAR_UP", attempt: 1 },
  { type: "TEAR_UP", attempt: 2 },
  { type: "TEAR_UP_FAILED", reason: "no market", isLost: false },
  { type: "NEAR_KO" },
  { type: "NEAR_TP" },
  { type: "EXPIRY_SOON" },
  { type: "OVERDUE", askAgainAt: 28_920_000 },
  { type: "UNKNOWN_AT_VENUE" }
]
