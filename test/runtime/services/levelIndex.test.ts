/** The index of levels gives the same results as a check of every contract (A2-31), and visits four levels per tick. */
import { Decimal } from "decimal.js"
import { assert, describe, it } from "@effect/vitest"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import type { Level } from "../../../src/machines/contract/Contract.ts"
import { LevelIndex } from "../../../src/runtime/services/margin/LevelIndex.ts"
import type { OpenLevels } from "../../../src/runtime/store/reads/levelReads.ts"
import { SeededRandom } from "../../../simulator/partner/SeededRandom.ts"

/**
 * The reference by definition, with a check of every contract: near within 10 bps of the mark unless reached, armed
 * again beyond 20.
 */
class FullScan {
  private readonly contracts = new Map<number, { readonly contract: OpenLevels; readonly notified: Set<Level> }>()

  add(contract: OpenLevels): void {
    this.contracts.set(contract.contractId, { contract, notified: new Set(contract.notified) })
  }

  remove(contractId: number): void {
    this.contracts.delete(contractId)
  }

  tick(symbol: string, mark: Decimal): ReadonlyArray<string> {
    const near: Array<string> = []
    for (const { contract, notified } of this.contracts.values()) {
      if (contract.symbol !== symbol) continue
      for (const level of ["BARRIER", "TAKE_PROFIT"] as const) {
        const price = level === "BARRIER" ? contract.barrier : contract.takeProfit
        if (price === null) continue
        const isBelow = (contract.side === "BUY") === (level === "BARRIER")
        const away = isBelow ? mark.minus(price) : new Decimal(price).minus(mark)
        if (notified.has(level)) {
          if (away.times(500).gt(mark)) notified.delete(level)
        } else if (away.times(1_000).lte(mark)) {
          notified.add(level)
          if (away.gt(0)) near.push(`${contract.contractId} ${level}`)
        }
      }
    }
    return near.toSorted()
  }
}

const contract = (contractId: number, more: Partial<OpenLevels> = {}): OpenLevels => ({
  contractId,
  clientId: 7,
  symbol: "BTC-USDC-KO",
  side: "BUY",
  barrier: "59000.0",
  takeProfit: "61000.0",
  notified: [],
  ...more
})

const nearTo = (index: LevelIndex, mark: string, symbol = "BTC-USDC-KO"): ReadonlyArray<string> => {
  const near: Array<string> = []
  index.tick(symbol, new MoneyDecimal(mark), ({ contractId, level }) => near.push(`${contractId} ${level}`))
  return near.toSorted()
}

describe("levels of open contracts", () => {
  const cases: ReadonlyArray<readonly [string, Partial<OpenLevels>, string, ReadonlyArray<string>]> = [
    // 59,000 / 0.999 = 59,059.059...
    ["a long's barrier, one tick away", {}, "59059.1", []],
    ["a long's barrier, 10 bps of the mark", {}, "59059.0", ["1 BARRIER"]],
    ["a long's barrier, reached: the contract ends", {}, "59000.0", []],
    ["a long's barrier that the mark has jumped over", {}, "58000.0", []],
    // 61,000 / 1.001 = 60,939.06...
    ["a long's take profit, one tick away", {}, "60939.0", []],
    ["a long's take profit, 10 bps of the mark", {}, "60939.1", ["1 TAKE_PROFIT"]],
    ["a short's barrier above", { side: "SELL", barrier: "61000.0", takeProfit: null }, "60939.1", ["1 BARRIER"]],
    [
      "a short's take profit below",
      { side: "SELL", barrier: "62000", takeProfit: "59000" },
      "59059",
      ["1 TAKE_PROFIT"]
    ],
    ["one that was said before", { notified: ["BARRIER"] }, "59059.0", []]
  ]
  for (const [name, more, mark, expected] of cases) {
    it(name, () => {
      const index = new LevelIndex()
      index.add(contract(1, more))
      assert.deepStrictEqual(nearTo(index, mark), expected)
      assert.deepStrictEqual(nearTo(index, mark), [], "once")
    })
  }

  it("a level is armed again beyond 20 bps of the mark, and not at them", () => {
    const index = new LevelIndex()
    index.add(contract(1))
    assert.deepStrictEqual(nearTo(index, "59010.0"), ["1 BARRIER"])
    // 59,000 / 0.998 = 59,118.236...
    nearTo(index, "59118.2")
    assert.deepStrictEqual(nearTo(index, "59010.0"), [])
    nearTo(index, "59118.3")
    assert.deepStrictEqual(nearTo(index, "59010.0"), ["1 BARRIER"])
  })

  it("a mark with more places than any level is compared exactly", () => {
    const index = new LevelIndex()
    index.add(contract(1, { barrier: "999", takeProfit: null }))
    assert.deepStrictEqual(nearTo(index, "1000.000001"), [])
    assert.deepStrictEqual(nearTo(index, "1000.000000"), ["1 BARRIER"])
  })

  it("a tick checks a limited number of levels, and the next tick continues", () => {
    const index = new LevelIndex()
    for (let id = 1; id <= 10; id++) index.add(contract(id, { takeProfit: null }))
    const near: Array<number> = []
    const tick = () =>
      index.tick("BTC-USDC-KO", new MoneyDecimal("59010"), ({ contractId }) => near.push(contractId), 4)
    assert.deepStrictEqual([tick(), tick(), near.length], [4, 4, 8])
    tick()
    assert.strictEqual(new Set(near).size, 10)
  })

  it("the index finds what a check of every contract finds, in any sequence", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = new SeededRandom(seed)
      const price = () => new Decimal(random.between(1_000, 1_119)).plus(random.chance(0.3) ? "0.05" : 0).toFixed()
      const index = new LevelIndex()
      const scan = new FullScan()
      const open: Array<number> = []
      for (let step = 1; step <= 400; step++) {
        const dice = random.next()
        if (dice < 0.35) {
          const notified = (["BARRIER", "TAKE_PROFIT"] as const).filter(() => random.chance(0.2))
          const watched = contract(step, {
            symbol: random.pick(["A", "B"]),
            side: random.pick(["BUY", "SELL"] as const),
            barrier: price(),
            takeProfit: random.chance(0.5) ? price() : null,
            notified
          })
          index.add(watched)
          scan.add(watched)
          open.push(step)
        } else if (dice < 0.5 && open.length > 0) {
          const [gone = 0] = open.splice(random.between(0, open.length - 1), 1)
          index.remove(gone)
          scan.remove(gone)
        } else {
          const symbol = random.pick(["A", "B"])
          const mark = price()
          assert.deepStrictEqual(
            nearTo(index, mark, symbol),
            scan.tick(symbol, new Decimal(mark)),
            `seed ${seed}, ${step}`
          )
        }
      }
      assert.strictEqual(index.size, open.length)
    }
  })

  it("the index checks four levels when a tick crosses none, however many there are", () => {
    const index = new LevelIndex()
    for (let id = 1; id <= 10_000; id++) {
      const side = id % 2 === 0 ? "BUY" : "SELL"
      const [low, high] = [`${50_000 - id}`, `${70_000 + id}`]
      const notified = id % 3 === 0 ? (["BARRIER", "TAKE_PROFIT"] as const) : []
      index.add(
        contract(id, { side, barrier: side === "BUY" ? low : high, takeProfit: side === "BUY" ? high : low, notified })
      )
    }
    const nobody = () => assert.fail("nothing is near")
    assert.isBelow(index.tick("BTC-USDC-KO", new MoneyDecimal("60000"), nobody), 20_000, "arms what was said")
    for (const mark of ["60000.0", "61000.5", "59000.1"]) {
      assert.isAtMost(index.tick("BTC-USDC-KO", new MoneyDecimal(mark), nobody), 4)
    }
    assert.strictEqual(index.tick("ETH-USDC-KO", new MoneyDecimal("3000"), nobody), 0)
  })

  it("the index keeps no data of removed contracts", () => {
    const index = new LevelIndex()
    for (let round = 0; round < 3; round++) {
      for (let id = 1; id <= 1_000; id++) index.add(contract(id))
      for (let id = 1; id <= 1_000; id++) index.remove(id)
    }
    assert.strictEqual(index.size, 0)
    assert.deepStrictEqual(nearTo(index, "59000"), [])
  })
})
