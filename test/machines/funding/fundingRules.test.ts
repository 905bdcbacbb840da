/** F14: the payment of a position at a stamp, by the published cases, and the trades that count at it. */
import { assert, describe, it } from "@effect/vitest"
import {
  correctionKey,
  countsByTime,
  fundingFault,
  fundingKey,
  fundingPayment,
  fundingPerUnit,
  fundingRefs,
  positionAtStamp
} from "../../../src/machines/funding/fundingRules.ts"
import { formatAmount, MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { paymentCases, scheduleCase } from "../../fixtures/goldenFunding.ts"

const btc = { symbol: "BTC-USDC-PERP", settledAt: 1_760_000_000_000, mark: "60000.1", rate: "-0.00012345" }

describe("F14: payments", () => {
  it.each(paymentCases)("$id", ({ qty, mark, rate, amount }) => {
    assert.strictEqual(formatAmount(fundingPayment(qty, { mark, rate }), "USDC"), new MoneyDecimal(amount).toFixed(6))
  })

  it(scheduleCase.id, () => {
    const { trades, stamps, exact, amount } = scheduleCase
    const timed = trades.map(({ qty, at }) => ({ qty, at: Date.parse(at) }))
    const paid = stamps.map(({ at, mark, rate }) => {
      const settledAt = Date.parse(at)
      const later = timed.filter((trade) => trade.at >= settledAt)
      // The venue's own quantity equals the one by the times of the trades.
      const netQty = settledAt < (timed[0]?.at ?? 0) ? "0" : "-30"
      const qty = positionAtStamp("0", later, { settledAt, netQty })
      return { amount: fundingPayment(qty, { mark, rate }), exact: new MoneyDecimal(qty).mul(mark).mul(rate).negated() }
    })
    assert.strictEqual(
      formatAmount(
        paid.reduce((sum, one) => sum + one.amount, 0n),
        "USDC"
      ),
      amount
    )
    assert.strictEqual(paid.reduce((sum, one) => sum.plus(one.exact), new MoneyDecimal(0)).toFixed(), exact)
  })

  it("is rounded against the client in both directions, to a micro-USDC", () => {
    const tiny = { mark: "1", rate: "0.0000001" }
    assert.deepStrictEqual(
      [fundingPayment("1", tiny), fundingPayment("-1", tiny), fundingPayment("0", tiny)],
      [-1n, 0n, 0n]
    )
  })

  it("is posted once for a client, a market and a stamp, with the quantity, its side and what one unit pays", () => {
    assert.strictEqual(fundingKey(btc, 7), "funding:BTC-USDC-PERP:1760000000000:7")
    assert.strictEqual(correctionKey(btc, 7, { orderId: 3, tradeId: 90 }), "funding:BTC-USDC-PERP:1760000000000:7:3:90")
    const { symbol, settledAt } = btc
    const refs = { symbol, settledAt, fundingPerUnit: "-7.40701235" }
    assert.deepStrictEqual(fundingRefs(btc, "-0.2000"), { ...refs, qty: "0.2", side: "SHORT" })
    assert.deepStrictEqual(fundingRefs(btc, "0.2000"), { ...refs, qty: "0.2", side: "LONG" })
    assert.strictEqual(fundingPerUnit({ mark: "2", rate: "0.0000001" }), "0.00000020")
  })
})

describe("F14: which trades count at a stamp", () => {
  it("by times alone: before its millisecond all trades count, in it those that enlarge the position, after it none", () => {
    const counted = [9, 10, 11].map((at) => [countsByTime(at, 10, true), countsByTime(at, 10, false)])
    assert.deepStrictEqual(counted, [
      [true, true],
      [true, false],
      [false, false]
    ])
  })

  const at = (settledAt: number, netQty: string) => ({ settledAt, netQty })
  it.each([
    ["nothing lies behind it", "3", [], "3", "3"],
    ["what lies behind it is taken out", "3", [{ qty: "1", at: 11 }], "2", "2"],
    ["a reduction in its millisecond is taken out", "1", [{ qty: "-2", at: 10 }], "3", "3"],
    [
      "the venue's own place between two of one millisecond",
      "1",
      [
        { qty: "-1", at: 10 },
        { qty: "-1", at: 10 }
      ],
      "2",
      "2"
    ],
    ["the rule of times where the venue's quantity is none of these", "1", [{ qty: "-2", at: 10 }], "9", "3"],
    ["a turn through zero in its millisecond", "-1", [{ qty: "-2", at: 10 }], "1", "1"]
  ] as const)("%s", (_, held, trades, netQty, position) => {
    assert.strictEqual(positionAtStamp(held, trades, at(10, netQty)), position)
  })
})

describe("A2-115: impossible rates and marks of a stamp", () => {
  it.each([
    [{ mark: "60000", rate: "0.0075" }, null],
    [{ mark: "60000", rate: "-0.0075" }, null],
    [{ mark: null, rate: null }, null],
    [{ mark: "0.00", rate: "0.0001" }, "its mark is no price"],
    [{ mark: "60000", rate: "0.00750001" }, "its rate is beyond what a rate can be"],
    [{ mark: "60000", rate: "-1" }, "its rate is beyond what a rate can be"]
  ] as const)("%o: %s", (said, fault) => assert.strictEqual(fundingFault(said), fault))
})
