/** The marks that are stored for a midnight (STS-28). */
import { assert, describe, it } from "@effect/vitest"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { marksOf } from "../../../src/runtime/services/market/DailyMarks.ts"

const day = 86_400_000
const mark = (price: string, at: number) => ({ price: new MoneyDecimal(price), places: 1, at, current: true })

describe("marksOf", () => {
  it("STS-28: the mark of midnight itself and the last one before it; none that is later, or a day old", () =>
    assert.deepStrictEqual(
      marksOf(
        10 * day,
        new Map([
          ["A-USDC", mark("1", 10 * day)],
          ["B-USDC", mark("2.5", 9 * day + 1)],
          ["C-USDC", mark("3", 9 * day)],
          ["D-USDC", mark("4", 10 * day + 1)]
        ])
      ),
      [
        { day: 10 * day, symbol: "A-USDC", price: "1.0", at: 10 * day },
        { day: 10 * day, symbol: "B-USDC", price: "2.5", at: 9 * day + 1 }
      ]
    ))
})
