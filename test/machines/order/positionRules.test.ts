/** F11, F12, A2-43: a netted position at average cost, fill by fill. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { unrealizedOf } from "../../../src/machines/margin/perpetual.ts"
import { applyFill, commissionOf, flatPosition } from "../../../src/machines/order/positionRules.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { micro } from "../../fixtures/contracts.ts"
import { feeToCloseCase, fillsCases, sequenceCase } from "../../fixtures/goldenTrading.ts"
import { fraction, naivePosition, usdcOf } from "../../fixtures/naiveTrading.ts"
import { perp, positionAfter, someFills, somePrice } from "../../fixtures/perpetuals.ts"

describe("F11: fills", () => {
  it.each(fillsCases)("$id", ({ fills, netQty, avgEntry, netCost, realized }) => {
    const position = positionAfter(fills.map(([side, qty, price]) => ({ side, qty, price })))
    assert.strictEqual(position.netQty, netQty)
    if (avgEntry !== undefined) assert.strictEqual(position.avgEntry, avgEntry)
    if (netCost !== undefined) assert.strictEqual(position.netCost, netCost)
    if (realized !== undefined) assert.strictEqual(position.realizedPnl, micro(realized))
  })

  it("PNL-005: a sequence", () => {
    let position = flatPosition(perp)
    for (const [[side, qty, price], netQty, average, realized] of sequenceCase.steps) {
      position = applyFill(position, { side, qty, price }).position
      assert.strictEqual(position.netQty, netQty)
      assert.isTrue(position.avgEntry.startsWith(average))
      assert.strictEqual(position.realizedPnl, fraction(realized).floor(6))
    }
  })

  const long = positionAfter([{ side: "BUY", qty: "3", price: "100" }])
  const short = positionAfter([{ side: "SELL", qty: "3", price: "100" }])
  const fill = (side: "BUY" | "SELL", qty: string, price: string) => ({ side, qty, price })
  const kinds = [
    ["opens", flatPosition(perp), fill("SELL", "2", "50"), "opened", "-2", "50", "-100", "0", "0"],
    ["adds", long, fill("BUY", "1", "104"), "added", "4", "101", "404", "0", "0"],
    ["reduces", long, fill("SELL", "1", "110"), "reduced", "2", "100", "200", "10", "1"],
    ["reduces a short", short, fill("BUY", "1", "110"), "reduced", "-2", "100", "-200", "-10", "1"],
    ["closes", long, fill("SELL", "3", "99"), "closed", "0", "0", "0", "-3", "3"],
    ["turns", long, fill("SELL", "5", "101"), "turned", "-2", "101", "-202", "3", "3"],
    ["turns a short", short, fill("BUY", "3.5", "101"), "turned", "0.5", "101", "50.5", "-3", "3"]
  ] as const
  it.each(kinds)("a position that %s", (_, position, fact, kind, netQty, avgEntry, netCost, realized, closedQty) => {
    assert.deepStrictEqual(applyFill(position, fact), {
      position: { symbol: perp, netQty, avgEntry, netCost, realizedPnl: micro(realized) },
      realized: micro(realized),
      closedQty,
      kind
    })
  })

  it("an average has 18 places, rounded half to even, and the realized result is rounded down (F1)", () => {
    const thirds = positionAfter([fill("BUY", "1", "1"), fill("BUY", "2", "2")])
    assert.strictEqual(thirds.avgEntry, "1.666666666666666667")
    assert.strictEqual(applyFill(thirds, fill("SELL", "1", "2")).realized, 333_333n)
    assert.strictEqual(applyFill(thirds, fill("SELL", "1", "1")).realized, -666_667n)
  })

  it("A2-43: the realized result stays on the row when the position is flat", () => {
    const closed = applyFill(long, fill("SELL", "3", "101")).position
    const again = applyFill(closed, fill("SELL", "1", "90")).position
    assert.strictEqual(again.realizedPnl, micro("3"))
  })

  it("agrees with the second working out over any course of fills", () => {
    fc.assert(
      fc.property(someFills, (fills) => {
        const position = positionAfter(fills)
        const naive = naivePosition(fills)
        assert.strictEqual(fraction(position.netQty).minus(naive.qty).sign, 0)
        // One unit of the last rounded decimal place for each fill.
        const near = fraction("0.000000000000001")
        assert.isFalse(fraction(position.avgEntry).minus(naive.average).size.gt(near))
        assert.isFalse(fraction(position.netCost).minus(naive.cost).size.gt(near))
        const lost = naive.realized.minus(usdcOf(position.realizedPnl))
        assert.isTrue(lost.plus(near).sign > 0 && fraction(fills.length).by(fraction(1_000_000)).plus(near).gt(lost))
      })
    )
  })

  it("realized and unrealized results are all the money paid and received, less the roundings", () => {
    fc.assert(
      fc.property(someFills, somePrice, (fills, mark) => {
        const position = positionAfter(fills)
        const { qty, flow } = naivePosition(fills)
        const worth = flow.plus(qty.times(fraction(mark)))
        const told = usdcOf(position.realizedPnl + unrealizedOf(position, mark))
        const lost = worth.minus(told)
        const near = fraction("0.000000000001")
        assert.isTrue(lost.plus(near).sign >= 0)
        assert.isFalse(
          lost.gt(
            fraction(fills.length + 1)
              .by(fraction(1_000_000))
              .plus(near)
          )
        )
      })
    )
  })

  it("what closes and what opens are the fill, and only what closes realizes", () => {
    fc.assert(
      fc.property(
        someFills,
        someFills.filter(({ length }) => length > 0),
        (before, [next]) => {
          const position = positionAfter(before)
          const applied = applyFill(position, next as (typeof before)[number])
          assert.strictEqual(applied.position.realizedPnl - position.realizedPnl, applied.realized)
          const closes = applied.kind === "reduced" || applied.kind === "closed" || applied.kind === "turned"
          assert.strictEqual(applied.closedQty !== "0", closes)
          if (!closes) assert.strictEqual(applied.realized, 0n)
          assert.strictEqual(applied.position.netQty === "0", applied.kind === "closed")
          if (applied.kind === "reduced") assert.strictEqual(applied.position.avgEntry, position.avgEntry)
        }
      )
    )
  })
})

describe("F12: the commission of a fill", () => {
  it("IM-003: of closing a short at its bankruptcy price", () => {
    const { qty, entry, leverage, bps, fee } = feeToCloseCase
    const price = new MoneyDecimal(entry).mul(leverage + 1).div(leverage)
    assert.strictEqual(commissionOf(qty, price, bps, "USDC"), micro(fee))
  })

  it.each([
    ["rounded up in the quote's places", "0.0001", "60000.1", 5, "USDC", 3_001n],
    ["exact", "1", "60000", 5, "USDC", 30_000_000n],
    ["EUR has two", "1", "100.01", 10, "EUR", 11n],
    ["none", "1", "60000", 0, "USDC", 0n]
  ] as const)("%s", (_, qty, price, bps, quote, expected) => {
    assert.strictEqual(commissionOf(qty, price, bps, quote), expected)
  })
})
