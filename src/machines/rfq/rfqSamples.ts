/** Events of a request for quotes, both sides of every guard: path tests and diagrams use them (D4). */
import type { VenueQuote } from "../venue/venueObjects.ts"
import type { RfqEvent, RfqInput } from "./Rfq.ts"

export const openRfqInput: RfqInput = {
  rfqId: 1,
  clientId: 1,
  account: "ACM-00000001",
  symbol: "BTC-USDC-KO",
  side: "BUY",
  qty: "0.01",
  barrierLevel: "57000.0",
  takeProfit: "63000.0",
  expiryTs: 28_800_000,
  expiryDefaulted: false,
  strict: false,
  premiumBudget: null,
  premiumBps: 9_500,
  commissionBps: 2,
  maxLossAtRequest: "28.500000",
  markAtRequest: "60000.0",
  impliedLeverage: "21.05",
  potentialProfit: "30.000000",
  commission: "0.120000",
  windowEndsAt: 60_000,
  autoAccept: true,
  closes: null,
  priceDecimals: 1,
  qtyDecimals: 2,
  createdAt: 0,
  updatedAt: 0
}

/** A request to close the contract that the sample request has opened. */
export const closeRfqInput: RfqInput = {
  ...openRfqInput,
  rfqId: 2,
  maxLossAtRequest: null,
  impliedLeverage: null,
  potentialProfit: null,
  commission: null,
  closes: { contractId: 5, entry: "60000.0", venueContractId: 50 }
}

export const sampleQuote: VenueQuote = {
  id: 7,
  dealer: "alpha",
  price: "60010.0",
  qty: "0.01",
  at: 10,
  validUntil: 5_000,
  state: "ACCEPTED"
}

export const acceptSample: RfqEvent = {
  type: "ACCEPT",
  quoteId: 7,
  price: "60010.0",
  premium: "28.595000",
  commission: "0.120020",
  at: 20,
  by: "partner:ACME"
}

export const executedSample: RfqEvent = {
  type: "EXECUTED",
  at: 30,
  quoteId: 7,
  contractId: 5,
  entryPrice: "60010.0",
  premium: "28.595000",
  commission: "0.120020",
  quotes: [sampleQuote]
}

export const rfqSamples: ReadonlyArray<RfqEvent> = [
  { type: "CONFIRMED", at: 5, venueRfqId: 70 },
  { type: "UNANSWERED", at: 5 },
  { type: "REFUSED", at: 5, reason: "market halted" },
  acceptSample,
  { type: "ACCEPT_REFUSED", at: 25, quoteId: 7, reason: "quote not live" },
  { type: "ACCEPT_REFUSED", at: 60_000, quoteId: 7, reason: "request not open" },
  executedSample,
  { type: "CANCEL", at: 40, attempt: 1 },
  { type: "CANCEL", at: 41, attempt: 2 },
  { type: "CANCEL", at: 42, attempt: 3 },
  { type: "DROP", at: 50, reason: "The account is restricted.", attempt: 1 },
  { type: "CONTRACT_ENDED", at: 50, quotes: [], note: null },
  { type: "NOT_WITHDRAWN" },
  { type: "WINDOW_ELAPSED", at: 60_000 },
  { type: "VENUE_ENDED", at: 60_000, how: "CANCELLED", reason: "cancelled by the account", quotes: [], note: null },
  { type: "VENUE_ENDED", at: 60_000, how: "EXPIRED", reason: null, quotes: [], note: null },
  { type: "VENUE_ENDED", at: 60_000, how: "REJECTED", reason: "market delisted", quotes: [], note: null },
  { type: "FOUND", at: 60_001, venueRfqId: 70, attempt: 2 }
]
