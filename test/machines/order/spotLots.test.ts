/** F21, A2-44: lots of an asset, first in first out. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type SpotLot, takeLots } from "../../../src/machines/order/spotLots.ts"
import { fraction, naiveUnits, zero } from "../../fixtures/naiveTrading.ts"

const lotOf = (id: number, qty: bigint, cost: bigint, commission = 0n): SpotLot => ({
  id,
  asset: "BTC",
  qty,
  cost,
  commission,
  acquiredAt: 1_000 * id
})

const first = lotOf(1, 100n, 1_000n, 10n)
const second = lotOf(2, 50n, 777n, 3n)

describe("lots", () => {
  it("the oldest lots are sold first, a divided one keeps the rest of its costs", () => {
    assert.deepStrictEqual(takeLots([first, second], 130n), {
      // 777 x 30/50 = 466.2, 3 x 30/50 = 1.8
      taken: [first, { ...second, qty: 30n, cost: 466n, commission: 2n }],
      cost: 1_466n,
      commission: 12n,
      left: [{ ...second, qty: 20n, cost: 311n, commission: 1n }],
      missing: 0n
    })
  })

  it.each([
    ["nothing", 0n, [], [first, second], 0n],
    ["exactly the first", 100n, [first], [second], 0n],
    ["all", 150n, [first, second], [], 0n],
    ["more than there is", 151n, [first, second], [], 1n]
  ] as const)("%s", (_, qty, taken, left, missing) => {
    assert.deepInclude(takeLots([first, second], qty), { taken, left, missing })
  })

  it.each([
    ["down to even", 2n, 1n, 5n, 2n],
    ["up to even", 2n, 1n, 7n, 4n],
    ["below half", 3n, 1n, 7n, 2n],
    ["above half", 3n, 1n, 8n, 3n]
  ])("a share is rounded half to even: %s", (_, all, part, cost, expected) => {
    assert.strictEqual(takeLots([lotOf(1, all, cost)], part).cost, expected)
  })

  const small = fc.record({
    qty: fc.bigInt({ min: 1n, max: 20n }),
    cost: fc.bigInt({ min: 0n, max: 1_000n }),
    commission: fc.bigInt({ min: 0n, max: 20n })
  })
  const someLots = fc
    .array(small, { maxLength: 6 })
    .map((all) => all.map(({ qty, cost, commission }, at) => lotOf(at + 1, qty, cost, commission)))
  const someTakes = fc.array(fc.bigInt({ min: 0n, max: 30n }), { maxLength: 8 })

  it("disposals take units in their order, with their share of the costs, and lose none of them", () => {
    fc.assert(
      fc.property(someLots, someTakes, (lots, takes) => {
        const units = naiveUnits(lots)
        let left: ReadonlyArray<SpotLot> = lots
        let at = 0
        let [cost, commission] = [0n, 0n]
        for (const qty of takes) {
          const result = takeLots(left, qty)
          const gone = units.slice(at, at + Number(qty))
          at += gone.length
          assert.strictEqual(result.missing, qty - BigInt(gone.length))
          assert.deepStrictEqual(
            result.taken.flatMap(({ id, qty: size }) => Array.from({ length: Number(size) }, () => id)),
            gone.map(({ id }) => id)
          )
          const share = gone.reduce((sum, unit) => sum.plus(unit.cost), zero)
          // Half a unit for each split of the lot so far.
          assert.isFalse(fraction(result.cost).minus(share).size.gt(fraction(takes.length)))
          cost += result.cost
          commission += result.commission
          left = result.left
        }
        const sum = (of: (lot: SpotLot) => bigint, all: ReadonlyArray<SpotLot>) =>
          all.reduce((total, lot) => total + of(lot), 0n)
        assert.strictEqual(
          cost + sum((lot) => lot.cost, left),
          sum((lot) => lot.cost, lots)
        )
        assert.strictEqual(
          commission + sum((lot) => lot.commission, left),
          sum((lot) => lot.commission, lots)
        )
        assert.strictEqual(
          sum((lot) => lot.qty, left),
          BigInt(units.length - at)
        )
        for (const lot of left) assert.isTrue(lot.qty > 0n && lot.cost >= 0n && lot.commission >= 0n)
      })
    )
  })
})
