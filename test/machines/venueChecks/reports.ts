/** True reports of the venue, each with the service's own record of its object. */
import { bandOfMarks, type PriceBand } from "../../../src/machines/market/PriceBand.ts"
import type { OrderContext } from "../../../src/machines/order/Order.ts"
import { perpInput } from "../../../src/machines/order/orderSamples.ts"
import { openRfqInput } from "../../../src/machines/rfq/rfqSamples.ts"
import { requestRef, type RfqContext } from "../../../src/machines/rfq/Rfq.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import type { SwapContext } from "../../../src/machines/swap/Swap.ts"
import { dayMillis } from "../../../src/machines/swap/swapFigures.ts"
import type { VenueSwap } from "../../../src/machines/venue/swapAtVenue.ts"
import type { VenueContract, VenueFill, VenueRfq } from "../../../src/machines/venue/venueObjects.ts"
import type { RequestedContract } from "../../../src/machines/venueChecks/contractChecks.ts"

export const at = 1_764_000_000_000
export const stamp = { account: perpInput.account, sequence: 1 }
export const bandAt = (price: string, bps = 1_000): PriceBand => {
  const mark = new MoneyDecimal(price)
  return { ...bandOfMarks(mark, mark, bps), isWhole: true }
}
export const band = bandAt("60000")

/** A limit order on a perpetual, in the service's state after the venue received it. */
export const order: OrderContext = {
  ...perpInput,
  createdAt: at - 1_000,
  venuePrice: "60000.0",
  venueOrderId: 900,
  filledQty: "0.0000",
  lastTradeId: 0,
  consumed: "0",
  released: "0",
  quoteTotal: "0",
  cancelling: null,
  cancels: 0,
  amending: null,
  amends: 0,
  triggeredAt: null,
  reject: null,
  legs: []
}
export const fill: VenueFill = {
  tradeId: 70,
  orderId: 900,
  ref: `O-${perpInput.orderId}`,
  account: perpInput.account,
  symbol: perpInput.symbol,
  side: perpInput.side,
  price: "59990.0",
  qty: perpInput.qty,
  liquidity: "TAKER",
  reason: null,
  at
}
export const request = { ...openRfqInput, venueRfqId: 70 } as unknown as RfqContext
export const rfq: VenueRfq = {
  id: 70,
  ref: requestRef(openRfqInput.rfqId),
  account: openRfqInput.account,
  symbol: openRfqInput.symbol,
  side: openRfqInput.side,
  qty: openRfqInput.qty,
  barrier: openRfqInput.barrierLevel,
  takeProfit: openRfqInput.takeProfit,
  expiryAt: openRfqInput.expiryTs,
  strict: openRfqInput.strict,
  windowEndsAt: openRfqInput.windowEndsAt,
  closes: null,
  state: "OPEN",
  reason: null,
  quotes: []
}
export const contract: VenueContract = {
  id: 50,
  ref: "A-1-7",
  account: openRfqInput.account,
  symbol: openRfqInput.symbol,
  side: openRfqInput.side,
  qty: openRfqInput.qty,
  entry: "60010.0",
  barrier: openRfqInput.barrierLevel,
  takeProfit: openRfqInput.takeProfit,
  expiryAt: at + 60_000,
  strict: openRfqInput.strict,
  premiumBps: openRfqInput.premiumBps,
  tradeId: 90,
  openedAt: at,
  state: "OPEN",
  settlePrice: null,
  endedAt: null
}
export const asked: RequestedContract = {
  ...openRfqInput,
  barrier: openRfqInput.barrierLevel,
  entry: "60010.0",
  expiryTs: at + 60_000,
  ref: "A-1-7",
  accept: "SENT",
  sentAt: at - 1_000,
  known: null,
  close: null,
  tearUp: null,
  bandAt: () => band,
  isListed: true,
  venueTime: { latest: at + 90_000, lag: 0, pastLag: 0, lead: 0, pastLead: 0, behindUntil: 0 }
}
export const knockedOut: VenueContract = {
  ...contract,
  state: "KNOCKED_OUT",
  settlePrice: contract.barrier,
  endedAt: at
}
export const lent = {
  swapId: 1,
  estimatedFee: "0.00100000",
  createdAt: at - 1_000,
  rejectReason: null,
  account: openRfqInput.account,
  symbol: "BTC-SWAP",
  offerId: 3,
  notional: "1.00000000",
  rateBps: 500,
  tenorDays: 30,
  reward: "0.00410958",
  contractId: null,
  tradeId: null,
  openedTs: null,
  corrections: [],
  payments: []
} as unknown as SwapContext
export const swap: VenueSwap = {
  id: 5,
  ref: "S-1",
  account: openRfqInput.account,
  symbol: "BTC-SWAP",
  offerId: 3,
  tradeId: 91,
  notional: "1",
  rateBps: 500,
  tenorDays: 30,
  reward: "0.00410958",
  fee: "0.001",
  openedAt: at,
  maturityAt: at + 30 * dayMillis,
  corrections: [],
  payments: [],
  short: false,
  end: null
}

export const latest = at + 5_000
export const venueTime = { latest, lag: 0, pastLag: 0, lead: 0, pastLead: 0, behindUntil: 0 }
export const known = { order, bandAt: () => band, venueTime }

/** A stop that waits for its trigger. */
export const stop: OrderContext = {
  ...order,
  trigger: { source: "MARK", price: "59000", direction: "AT_OR_BELOW", limitPrice: "60000.0" }
}
export const funding = { symbol: fill.symbol, settledAt: at, mark: "60000", rate: "0.0001", netQty: "1", amount: "-6" }
