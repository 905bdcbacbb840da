/** The costs of disposals, by HMRC's order and first in, first out (A2-83, F21; TAX golden cases). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { londonDayOf } from "../../../src/machines/statement/londonDay.ts"
import { taxPeriod, taxYearAt } from "../../../src/machines/statement/statementPeriod.ts"
import { type AssetMove, fifoSlices, hmrcSlices } from "../../../src/machines/statement/taxLots.ts"

const dayMillis = 86_400_000
const at = (day: string): number => Date.parse(`${day}T12:00:00Z`)
const bought = (day: string, qty: bigint, money: bigint): AssetMove => ({
  kind: "ACQUIRED",
  asset: "BTC",
  at: at(day),
  qty,
  money,
  assumed: false
})
const sold = (day: string, qty: bigint, money: bigint): AssetMove => ({ ...bought(day, qty, money), kind: "DISPOSED" })
const gains = (slices: ReturnType<typeof fifoSlices>, day: string): bigint =>
  slices.filter(({ disposed }) => disposed === at(day)).reduce((sum, { proceeds, cost }) => sum + proceeds - cost, 0n)

describe("HMRC", () => {
  it("TAX-001: from the section 104 pool (CRYPTO22251)", () => {
    const { slices, pool } = hmrcSlices(
      [bought("2019-01-01", 150n, 126_000n), sold("2020-01-01", 50n, 300_000n)],
      londonDayOf
    )
    assert.deepStrictEqual(
      slices.map(({ cost, method, proceeds }) => [method, cost, proceeds - cost]),
      [["S104", 42_000n, 258_000n]]
    )
    assert.deepStrictEqual(pool, { qty: 100n, cost: 84_000n })
  })

  it("TAX-003: the next 30 days, the earliest acquisition first (CRYPTO22253)", () => {
    const { slices, pool } = hmrcSlices(
      [
        bought("2000-01-01", 2000n, 1000n),
        sold("2001-03-31", 1000n, 400n),
        sold("2001-04-20", 500n, 150n),
        bought("2001-04-21", 700n, 175n),
        bought("2001-04-28", 500n, 100n),
        bought("2001-05-01", 500n, 150n)
      ],
      londonDayOf
    )
    assert.deepStrictEqual([gains(slices, "2001-03-31"), gains(slices, "2001-04-20")], [165n, 20n])
    assert.deepStrictEqual(pool, { qty: 2200n, cost: 1060n }, "200 for 60 come to the pool")
    assert.sameMembers([...new Set(slices.map(({ method }) => method))], ["THIRTY_DAY"])
  })

  it("TAX-005: the next 30 days, then the pool (CRYPTO22255)", () => {
    const { slices, pool } = hmrcSlices(
      [
        bought("2018-01-01", 14_000n, 200_000n),
        sold("2018-08-30", 4000n, 160_000n),
        bought("2018-09-11", 500n, 17_500n)
      ],
      londonDayOf
    )
    assert.strictEqual(gains(slices, "2018-08-30"), 92_500n)
    assert.deepStrictEqual(pool, { qty: 10_500n, cost: 150_000n })
  })

  it("A2-83: a day's own acquisitions are matched first, also before an earlier disposal's 30 days", () => {
    const { slices } = hmrcSlices(
      [sold("2020-01-01", 5n, 50n), bought("2020-01-10", 5n, 20n), sold("2020-01-10", 5n, 30n)],
      londonDayOf
    )
    assert.deepStrictEqual(
      slices.map(({ method, cost, assumed }) => [method, cost, assumed]),
      [
        ["S104", 0n, true],
        ["SAME_DAY", 20n, false]
      ]
    )
  })

  it("A2-83: days are London's, whose summer is an hour ahead", () => {
    assert.strictEqual(londonDayOf(Date.parse("2026-06-30T23:00:00Z")), londonDayOf(Date.parse("2026-07-01T12:00:00Z")))
    assert.notStrictEqual(
      londonDayOf(Date.parse("2026-12-31T23:00:00Z")),
      londonDayOf(Date.parse("2027-01-01T12:00:00Z"))
    )
  })
})

describe("first in first out", () => {
  it("TAX-007: the oldest lot", () => {
    const slices = fifoSlices([
      bought("2017-09-22", 1n, 2000n),
      bought("2018-01-06", 2n, 5000n),
      bought("2018-04-19", 1n, 8000n),
      sold("2018-05-03", 1n, 4000n)
    ])
    assert.deepStrictEqual(
      slices.map(({ cost, proceeds, acquired }) => [cost, proceeds - cost, acquired]),
      [[2000n, 2000n, at("2017-09-22")]]
    )
  })

  it("TAX-009: a part of a lot", () => {
    const slices = fifoSlices([
      bought("2020-01-01", 10n, 20_000n),
      bought("2020-01-02", 10n, 30_000n),
      sold("2020-02-01", 15n, 75_000n)
    ])
    assert.strictEqual(
      slices.reduce((sum, { cost }) => sum + cost, 0n),
      35_000n
    )
    assert.strictEqual(gains(slices, "2020-02-01"), 40_000n)
  })
})

const moves = fc
  .array(
    fc.record({
      kind: fc.constantFrom("ACQUIRED", "DISPOSED", "LEFT" as const),
      gap: fc.integer({ min: 0, max: 20 }),
      qty: fc.bigInt({ min: 1n, max: 1_000n }),
      money: fc.bigInt({ min: 0n, max: 1_000_000n })
    }),
    { maxLength: 60 }
  )
  .map((steps) => {
    let time = at("2020-01-01")
    return steps.map(({ kind, gap, qty, money }): AssetMove => {
      time += gap * dayMillis
      return {
        kind: kind as AssetMove["kind"],
        asset: "ETH",
        at: time,
        qty,
        money: kind === "LEFT" ? 0n : money,
        assumed: false
      }
    })
  })
const sumOf = (list: ReadonlyArray<bigint>): bigint => list.reduce((sum, each) => sum + each, 0n)

describe("both orders", () => {
  it("F21: quantities and proceeds of all disposals are complete to the last unit, and no cost appears twice", () =>
    fc.assert(
      fc.property(moves, (given) => {
        const disposed = given.filter(({ kind }) => kind === "DISPOSED")
        const acquired = sumOf(given.filter(({ kind }) => kind === "ACQUIRED").map(({ money }) => money))
        for (const slices of [fifoSlices(given), hmrcSlices(given, londonDayOf).slices]) {
          assert.strictEqual(sumOf(slices.map(({ quantity }) => quantity)), sumOf(disposed.map(({ qty }) => qty)))
          assert.strictEqual(sumOf(slices.map(({ proceeds }) => proceeds)), sumOf(disposed.map(({ money }) => money)))
          assert.isTrue(sumOf(slices.map(({ cost }) => cost)) <= acquired)
          assert.isTrue(slices.every(({ quantity, cost }) => quantity > 0n && cost >= 0n))
        }
      })
    ))
})

describe("STS-9: an acquisition without a value is named by the disposals whose cost contains it, and by no other", () => {
  const gift = (day: string, qty: bigint, posting: number): AssetMove => ({
    ...bought(day, qty, 0n),
    unvalued: posting
  })
  const left = (day: string, qty: bigint): AssetMove => ({ ...sold(day, qty, 0n), kind: "LEFT" })
  const cases: ReadonlyArray<
    readonly [what: string, moves: ReadonlyArray<AssetMove>, fifo: ReadonlyArray<string>, hmrc: ReadonlyArray<string>]
  > = [
    [
      "consumed years before, and come after the last disposal",
      [gift("2020-01-01", 5n, 1), sold("2020-06-01", 5n, 9n), bought("2021-01-01", 5n, 5n)].concat([
        sold("2021-06-01", 5n, 9n),
        gift("2021-09-01", 5n, 2)
      ]),
      ["1", ""],
      ["1", ""]
    ],
    [
      "of the oldest lot and of the pool; on the same day",
      [bought("2020-01-01", 5n, 5n), gift("2020-02-01", 5n, 1), sold("2020-06-01", 5n, 9n)].concat([
        sold("2020-07-01", 5n, 9n),
        gift("2020-07-01", 5n, 2)
      ]),
      ["", "1"],
      ["1", "2"]
    ],
    [
      "within 30 days; a pool that everything has left forgets",
      [gift("2020-01-01", 5n, 1), left("2020-01-02", 5n), sold("2020-06-01", 5n, 9n), gift("2020-06-20", 5n, 2)].concat(
        [bought("2020-09-01", 5n, 5n), sold("2020-12-01", 5n, 9n)]
      ),
      ["", "2"],
      ["2", ""]
    ]
  ]
  const named = (slices: ReturnType<typeof fifoSlices>) =>
    slices.map(({ unvalued }) => unvalued.map((move) => move.unvalued).join(" "))
  it.each(cases)("%s", (_what, given, fifo, hmrc) => {
    assert.deepStrictEqual(named(fifoSlices(given)), fifo)
    assert.deepStrictEqual(named(hmrcSlices(given, londonDayOf).slices), hmrc)
  })
})

describe("tax years", () => {
  it("TAX-011: the British year begins on 6 April 00:00 in London", () => {
    const before = Date.parse("2026-04-05T22:59:59.999Z")
    const begins = Date.parse("2026-04-05T23:00:00.000Z")
    assert.deepStrictEqual([taxYearAt(before, true), taxYearAt(begins, true)], [2025, 2026])
    assert.deepStrictEqual(taxPeriod(2025, true).to, begins)
  })
})
