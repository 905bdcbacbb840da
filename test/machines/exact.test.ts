/** F1, F2: whole numbers of a last decimal place equal the decimals, wherever the decimals have enough digits. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  ceilTo,
  compared,
  difference,
  exactText,
  fixedText,
  floorTo,
  product,
  quotient,
  rounded,
  scaled,
  shareOf,
  sum
} from "../../src/machines/shared/Exact.ts"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"

/** Signed, up to 12 digits before and after the point, with zeros at either end. */
const someText = fc
  .tuple(fc.boolean(), fc.integer({ min: 0, max: 999_999_999_999 }), fc.stringMatching(/^[0-9]{0,12}$/))
  .map(([isNegative, whole, rest]) => `${isNegative ? "-" : ""}${whole}${rest === "" ? "" : `.${rest}`}`)
const somePlaces = fc.integer({ min: 0, max: 20 })
const texts = (one: string, other: string) => [new MoneyDecimal(one), new MoneyDecimal(other)] as const
/** Without the minus sign of a zero, which a whole number does not have. */
const textOf = (value: MoneyDecimal): string => (value.isZero() ? "0" : value.toFixed())
const halfEven = MoneyDecimal.ROUND_HALF_EVEN

describe("exact figures", () => {
  it("add, multiply and compare like decimals", () => {
    fc.assert(
      fc.property(someText, someText, (one, other) => {
        const [left, right] = texts(one, other)
        const [a, b] = [scaled(one), scaled(other)]
        assert.strictEqual(exactText(sum(a, b)), textOf(left.plus(right)))
        assert.strictEqual(exactText(difference(a, b)), textOf(left.minus(right)))
        assert.strictEqual(exactText(product(a, b)), textOf(left.mul(right)))
        assert.strictEqual(Math.sign(Number(compared(a, b))), left.cmp(right))
        assert.strictEqual(exactText(scaled(left)), textOf(left))
        assert.strictEqual(exactText(shareOf(a, 5)), textOf(left.mul(5).div(10_000)))
      })
    )
  })

  it("round like decimals, down, up and half to the even neighbour", () => {
    fc.assert(
      fc.property(someText, someText, somePlaces, (one, other, places) => {
        const [left, right] = texts(one, other)
        const [a, b] = [scaled(one), scaled(other)]
        const unit = new MoneyDecimal(10).pow(places)
        const units = (mode: 2 | 3) => BigInt(left.toDecimalPlaces(places, mode).mul(unit).toFixed(0))
        assert.strictEqual(floorTo(a, places), units(MoneyDecimal.ROUND_FLOOR))
        assert.strictEqual(ceilTo(a, places), units(MoneyDecimal.ROUND_CEIL))
        assert.strictEqual(exactText(rounded(a, places)), textOf(left.toDecimalPlaces(places, halfEven)))
        if (!right.isZero()) {
          const divided = left.div(right).toDecimalPlaces(places, halfEven)
          assert.strictEqual(exactText(quotient(a, b, places)), textOf(divided))
        }
      })
    )
  })

  it("are written with all places, or without zeros at the end", () => {
    const written = ["0", "0.000", "-0.50", "100.00", "0.070", "12"].map((text) => [
      fixedText(scaled(text)),
      exactText(scaled(text))
    ])
    assert.deepStrictEqual(written, [
      ["0", "0"],
      ["0.000", "0"],
      ["-0.50", "-0.5"],
      ["100.00", "100"],
      ["0.070", "0.07"],
      ["12", "12"]
    ])
  })
})
