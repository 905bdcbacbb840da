/**
 * The largest move of marks without a possible action for an account (F7, A2-89), by the example of docs/margin.md and
 * at the borders.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Leg, shareOut, tierLines } from "../../../src/machines/margin/riskLines.ts"
import { defaultMarketTerms } from "../../../src/machines/market/marketTerms.ts"

const tiers = tierLines(defaultMarketTerms.riskTiers)

const bitcoin = (over: Partial<Leg> = {}): Leg => ({
  qty: 0.1,
  entry: 60_000,
  mark: 60_000,
  leverage: 10,
  notified: 0,
  live: true,
  low: NaN,
  high: NaN,
  ...over
})
const ether = (over: Partial<Leg> = {}): Leg => ({ ...bitcoin(), qty: -1, entry: 3_000, mark: 3_000, ...over })

/** The shares of the legs, two decimal places; a number alone if an action may follow. */
const sharesOf = (
  legs: ReadonlyArray<Leg>,
  account: {
    readonly cash?: number
    readonly premiums?: number
    readonly recorded?: "MARGIN_CALL" | "CLOSE_OUT"
    readonly awaitsMarks?: boolean
  } = {}
): ReadonlyArray<readonly [low: string, high: string]> | number => {
  const level = shareOut({ cash: 1_500, premiums: 0, recorded: "NORMAL", awaitsMarks: false, ...account, legs }, tiers)
  return level ?? legs.map(({ low, high }) => [low.toFixed(2), high.toFixed(2)] as const)
}

describe("shares of an account's room", () => {
  it("the example: 600 of room over two positions, each of which may lose 6.9 % at once", () => {
    // 600 / (6,000 x 0.9 + 3,000 x 1.1)
    const notified = { notified: 100 }
    assert.deepStrictEqual(sharesOf([bitcoin(notified), ether(notified)]), [
      ["55862.07", "90000.00"],
      ["1500.00", "3206.90"]
    ])
  })

  it("A2-89: the next loss to report is nearer", () => {
    assert.deepStrictEqual(sharesOf([bitcoin(), ether({ notified: 10 })]), [
      ["59400.00", "90000.00"],
      ["1500.00", "3060.00"]
    ])
  })

  it("in a margin call both thresholds count: to a close-out, and back", () => {
    // Downwards: 750 - 450 over 6,000 x 0.95 and 3,000 x 1.05. Upwards: 150 over 5,400 and 3,300.
    assert.deepStrictEqual(
      sharesOf([bitcoin({ notified: 100 }), ether({ notified: 100 })], { cash: 750, recorded: "MARGIN_CALL" }),
      [
        ["57966.10", "61034.48"],
        ["2948.28", "3101.69"]
      ]
    )
  })

  it("contracts count at the most that they can lose", () => {
    assert.deepStrictEqual(sharesOf([bitcoin({ notified: 100 })], { cash: 1_500, premiums: 900 }), 1)
    assert.deepStrictEqual(sharesOf([bitcoin({ notified: 100 })], { cash: 1_501, premiums: 900 }), [
      ["59988.89", "90000.00"]
    ])
  })

  const due: ReadonlyArray<readonly [string, Leg, object]> = [
    ["NORMAL with less than its margin", bitcoin(), { cash: 599 }],
    ["NORMAL on its line: it is looked at, not judged by a last place", bitcoin(), { cash: 600 }],
    ["a margin call with its margin", bitcoin(), { cash: 600, recorded: "MARGIN_CALL" }],
    ["a margin call below half of it", bitcoin(), { cash: 299, recorded: "MARGIN_CALL" }],
    ["a close-out with half of it", bitcoin(), { cash: 300, recorded: "CLOSE_OUT" }],
    ["a loss that was not told", bitcoin({ mark: 59_400 }), {}],
    ["a short's loss that was not told", ether({ mark: 3_030 }), {}]
  ]
  for (const [name, leg, account] of due) {
    it(`something may follow: ${name}`, () => {
      assert.isNumber(sharesOf([leg], account))
    })
  }

  it("F5: a short's share is that of the dearest tier it can reach, not of its present one", () => {
    // 480,000 lies in the first tier; half as much again lies in the second, at 20 x instead of 50 x.
    const short = { qty: -160, entry: 3_000, mark: 3_000, leverage: 50, notified: 1_000 }
    const [[, high]] = sharesOf([ether(short)], { cash: 29_600 }) as readonly [readonly [string, string]]
    assert.strictEqual(high, (3_000 * (1 + 20_000 / (480_000 * 1.05))).toFixed(2))
  })

  it("F3, A2-89: a stale mark reports no loss; the lines of the account count at it", () => {
    assert.deepStrictEqual(sharesOf([bitcoin({ mark: 59_000, live: false })]), [["50000.00", "88500.00"]])
    assert.isNumber(sharesOf([bitcoin({ mark: 59_000, live: false })], { cash: 600 }))
  })

  it("F3: while some marks are still missing after a start, an account without one of its marks is not judged", () => {
    const unknown = { cash: 100, awaitsMarks: true }
    assert.isNumber(sharesOf([bitcoin({ mark: NaN })], { cash: 100 }))
    assert.deepStrictEqual(sharesOf([bitcoin({ mark: NaN }), ether()], unknown), [
      ["Infinity", "Infinity"],
      ["0.00", "Infinity"]
    ])
  })

  it("a market that never had a mark: its first mark is judged", () => {
    assert.deepStrictEqual(sharesOf([bitcoin({ mark: NaN })]), [["Infinity", "Infinity"]])
  })
})
