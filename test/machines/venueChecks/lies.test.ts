/**
 * Each false report of an object is a misfit, and a true report of the same object fits. The lies are those of the simulated
 * venue. A lie that no check detects fails here under its name (A2-115).
 */
import { assert, describe, it } from "@effect/vitest"
import { type LieName, lieNames, lieOfFact } from "../../../simulator/venue/core/lies.ts"
import { bandOfMarks, outsideBand, type PriceBand } from "../../../src/machines/market/PriceBand.ts"
import type { OrderContext } from "../../../src/machines/order/Order.ts"
import { perpInput } from "../../../src/machines/order/orderSamples.ts"
import { openRfqInput } from "../../../src/machines/rfq/rfqSamples.ts"
import type { RfqContext } from "../../../src/machines/rfq/Rfq.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import type { SwapContext } from "../../../src/machines/swap/Swap.ts"
import { dayMillis } from "../../../src/machines/swap/swapFigures.ts"
import type { VenueFact } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueContract, VenueFill, VenueRfq, VenueSwap } from "../../../src/machines/venue/venueObjects.ts"
import { type AskedContract, contractMisfit } from "../../../src/machines/venueChecks/contractChecks.ts"
import { fillMisfit } from "../../../src/machines/venueChecks/fillChecks.ts"
import { orderMisfit } from "../../../src/machines/venueChecks/orderChecks.ts"
import { ownTradeMisfit } from "../../../src/machines/venueChecks/ownTradeChecks.ts"
import { requestMisfit } from "../../../src/machines/venueChecks/requestChecks.ts"
import { swapMisfit } from "../../../src/machines/venueChecks/swapChecks.ts"
import { reportOf } from "../../support/venueOrders.ts"

const at = 1_764_000_000_000
const stamp = { account: perpInput.account, sequence: 1 }
const bandAt = (price: string): PriceBand => {
  const mark = new MoneyDecimal(price)
  return { ...bandOfMarks(mark, mark, 1_000), isWhole: true }
}
const band = bandAt("60000")

/** A limit order on a perpetual, in the service's state after the venue received it. */
const order: OrderContext = {
  ...perpInput,
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
const fill: VenueFill = {
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
const request = { ...openRfqInput, venueRfqId: 70 } as unknown as RfqContext
const rfq: VenueRfq = {
  id: 70,
  ref: "R-1",
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
const contract: VenueContract = {
  id: 50,
  ref: "A-1-7",
  account: openRfqInput.account,
  symbol: openRfqInput.symbol,
  side: openRfqInput.side,
  qty: openRfqInput.qty,
  entry: "60010.0",
  barrier: openRfqInput.barrierLevel,
  takeProfit: openRfqInput.takeProfit,
  expiryAt: openRfqInput.expiryTs,
  strict: openRfqInput.strict,
  premiumBps: openRfqInput.premiumBps,
  tradeId: 90,
  openedAt: 1_000,
  state: "OPEN",
  settlePrice: null,
  endedAt: null
}
const asked: AskedContract = {
  ...openRfqInput,
  barrier: openRfqInput.barrierLevel,
  entry: "60010.0",
  isAccepted: true,
  known: null,
  close: null,
  isTornUp: false,
  bandAt: () => band,
  isListed: true
}
const knockedOut: VenueContract = { ...contract, state: "KNOCKED_OUT", settlePrice: contract.barrier, endedAt: 2_000 }
const lent = {
  account: openRfqInput.account,
  symbol: "BTC-SWAP",
  offerId: 3,
  notional: "1.00000000",
  rateBps: 500,
  tenorDays: 30,
  reward: "0.00410958",
  contractId: null,
  tradeId: null,
  openedTs: null
} as unknown as SwapContext
const swap: VenueSwap = {
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

/** The misfit of a fact, by the check of its object. */
const misfitOf = (fact: VenueFact): string | null => {
  switch (fact.type) {
    case "order":
      return orderMisfit(fact.order, order)
    case "fill":
      return orderMisfit(fact.order, order) ?? fillMisfit(fact.fill, { order, band })
    case "rfq":
      return requestMisfit(fact.rfq, request)
    case "contract":
      return contractMisfit(fact.contract, { ...asked, bandAt: () => null })
    case "swap":
      return swapMisfit(fact.swap, { swap: lent, isListed: true })
    default:
      return null
  }
}

const report = reportOf(order, 900)
const truths: ReadonlyArray<VenueFact> = [
  { type: "order", ...stamp, order: report },
  { type: "fill", ...stamp, order: reportOf(order, 900, { filledQty: order.qty, state: "FILLED" }), fill },
  { type: "rfq", ...stamp, rfq },
  { type: "contract", ...stamp, contract },
  { type: "contract", ...stamp, contract: knockedOut },
  { type: "swap", ...stamp, swap }
]

describe("A2-115: a venue that lies", () => {
  it("the truth fits", () => {
    for (const fact of truths) assert.isNull(misfitOf(fact), fact.type)
  })

  it.each(lieNames)("%s is a misfit", (name: LieName) => {
    const told = truths.flatMap((fact) => lieOfFact(name, fact) ?? [])
    assert.isNotEmpty(told)
    for (const fact of told) assert.isString(misfitOf(fact), fact.type)
  })

  it("a price needs a bound or known marks to be condemned, and the other side of a bound the marks", () => {
    const market = { ...order, venuePrice: null }
    const worth = (price: string, of: OrderContext, known: PriceBand | null) =>
      fillMisfit({ ...fill, price }, { order: of, band: known }) === null
    assert.deepStrictEqual(
      [worth("66000.0", market, band), worth("66000.1", market, band), worth("66000.1", market, null)],
      [true, false, true]
    )
    assert.deepStrictEqual(
      [worth("60000.1", order, null), worth("53999.9", order, band), worth("1.0", order, null)],
      [false, false, true]
    )
    // A resting order trades at its own limit, wherever the marks are now.
    assert.isTrue(worth("60000.0", order, bandAt("90000")))
  })

  it("a larger quantity counts as left once it was asked for", () => {
    const filled = { ...order, filledQty: "0.0600", amending: { attempt: 1, qty: "0.2000" } }
    assert.isNull(fillMisfit({ ...fill, qty: "0.14" }, { order: filled, band }))
    assert.isString(fillMisfit({ ...fill, qty: "0.1401" }, { order: filled, band }))
  })

  it.each([
    ["opens a position", "0", "SELL", "0.04", false],
    ["adds to one", "0.04", "BUY", "0.04", false],
    ["turns one", "0.04", "SELL", "0.1", false],
    ["makes one smaller", "0.04", "SELL", "0.03", true],
    ["ends a short one", "-0.04", "BUY", "0.04", true]
  ] as const)("a trade of the venue's own that %s", (_, netQty, side, qty, fits) => {
    const own = { ...fill, ref: null, side, qty, reason: "deleverage" } as const
    assert.strictEqual(ownTradeMisfit(own, { account: fill.account, netQty, band }) === null, fits)
  })

  it.each([
    [
      "an early close that was accepted, at its price",
      { state: "EARLY_CLOSE", settlePrice: "61000.0" },
      { close: { price: "61000.0" } },
      true
    ],
    ["one at another price", { state: "EARLY_CLOSE", settlePrice: "61001.0" }, { close: { price: "61000.0" } }, false],
    ["a tear-up that was asked for", { state: "TORN_UP", settlePrice: "60500.0" }, { isTornUp: true }, true],
    ["one that was not", { state: "TORN_UP", settlePrice: "60500.0" }, {}, false],
    ["one far from the marks", { state: "TORN_UP", settlePrice: "80000.0" }, { isTornUp: true }, false],
    [
      "an end with its market, which is delisted",
      { state: "CLOSED", settlePrice: "60500.0" },
      { isListed: false },
      true
    ],
    ["one with its market, which is listed", { state: "CLOSED", settlePrice: "60500.0" }, {}, false],
    ["an expiry before its time", { state: "EXPIRED", settlePrice: "60500.0" }, { expiryTs: contract.expiryAt }, false],
    ["a quote that nobody accepted", { state: "OPEN", settlePrice: null, endedAt: null }, { isAccepted: false }, false]
  ] as const)("%s", (_, change, known, fits) => {
    const said = { ...contract, endedAt: 2_000, ...change } as VenueContract
    assert.strictEqual(contractMisfit(said, { ...asked, ...known }) === null, fits)
  })

  it("a band is inclusive", () => {
    assert.deepStrictEqual(
      ["54000", "66000", "53999.9", "66000.1"].map((price) => outsideBand(price, band) === null),
      [true, true, false, false]
    )
  })
})
