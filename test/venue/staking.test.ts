/** Staking swaps at the simulated venue (F22): offers, takes, payments. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  feeOf,
  owedOf,
  paidOf,
  rewardOf,
  Staking,
  type StakingMarket,
  type Swap
} from "../../simulator/venue/core/Staking.ts"

const market = (): StakingMarket => ({
  symbol: "BTC-SWAP",
  name: "Bitcoin staking",
  asset: "BTC",
  scale: 8,
  minTenorDays: 1,
  maxTenorDays: 30,
  maxRateBps: 2_000,
  minQty: 1_000n,
  qtyStep: 1_000n,
  maxQty: 100_000_000_000n,
  takerFeeBps: 5,
  enabled: true,
  delisted: false
})
const day = 86_400_000

const opened = () => {
  let trades = 0
  const events: Array<string> = []
  const staking = new Staking(
    [market()],
    () => ++trades,
    (swap, payment) => void events.push(`${swap.id} ${payment?.amount ?? "-"}`)
  )
  const offer = staking.offer({
    symbol: "BTC-SWAP",
    rateBps: 500,
    tenorDays: 30,
    qty: 100_000n,
    minQty: 2_000n,
    createdAt: 0,
    expiryAt: 10 * day
  })
  const take = (ref: string, qty = 50_000n, now = 0) => staking.take({ ref, accountId: 1, offerId: offer.id, qty, now })
  const taken = (ref: string, qty?: bigint): Swap => {
    const answer = take(ref, qty)
    if (typeof answer === "string") throw new Error(answer)
    return answer
  }
  return { staking, offer, take, taken, events }
}

describe("staking swaps", () => {
  it("STK-001, STK-003: rewards are rounded down, fees up", () => {
    assert.strictEqual(rewardOf(100_000_000_000n, 3_000, 1), 82_191_780n)
    assert.strictEqual(rewardOf(3_649_999n, 1, 1), 0n)
    assert.strictEqual(rewardOf(100_000_000n, 500, 365), 5_000_000n)
    assert.strictEqual(rewardOf(1_000n, 500, 30), 4n)
    assert.strictEqual(feeOf(1_000n, 5), 1n)
    assert.strictEqual(feeOf(0n, 5), 0n)
  })

  it("a take reduces the offer by its part", () => {
    const { offer, taken, events } = opened()
    taken("S-1")
    assert.strictEqual(offer.remaining, 50_000n)
    assert.deepStrictEqual(events, ["1 -"])
  })

  it("a quantity beyond the offer, off the grid, too small, too large or too late is refused, and the offer stays whole", () => {
    const { staking, offer, take } = opened()
    assert.strictEqual(take("a", 101_000n), "quantity not left")
    assert.strictEqual(take("b", 1_000n), "quantity not left")
    assert.strictEqual(take("c", 2_500n), "quantity off the grid")
    assert.strictEqual(take("d", 200_000_000_000n), "quantity too large")
    assert.strictEqual(take("e", 2_000n, 10 * day), "offer expired")
    assert.strictEqual(offer.remaining, 100_000n)
    assert.strictEqual(staking.remove(offer.id), offer)
    assert.isNull(staking.remove(offer.id))
    assert.strictEqual(take("f"), "unknown offer")
  })

  it("a swap is paid in parts, and ends with the last one", () => {
    const { staking, taken } = opened()
    const swap = taken("S-1")
    assert.strictEqual(swap.maturityAt, 30 * day)
    staking.fallShort(swap)
    staking.pay(swap, 40_000n, 31 * day)
    assert.deepStrictEqual([swap.end, owedOf(swap)], [null, 10_000n + swap.reward])
    assert.isTrue(staking.open.has(swap))
    staking.pay(swap, owedOf(swap), 32 * day)
    assert.deepStrictEqual([swap.end, owedOf(swap)], ["PAID", 0n])
    assert.isFalse(staking.open.has(swap))
  })

  it("a delisted market pays its share and accepts no more takes", () => {
    const { staking, taken, take } = opened()
    const swap = taken("S-1")
    staking.delist("BTC-SWAP", 10_000, day)
    assert.deepStrictEqual([swap.end, paidOf(swap)], ["FINAL_SETTLEMENT", swap.notional + swap.reward])
    assert.strictEqual(take("S-2"), "unknown offer")
  })

  it("a corrected fee arrives with its swap", () => {
    const { staking, taken, events } = opened()
    const swap = taken("S-1")
    staking.correctFee(swap, 7n, 5)
    assert.strictEqual(swap.fee, 7n)
    assert.deepStrictEqual(swap.corrections, [{ id: 1, fee: 7n, at: 5 }])
    assert.deepStrictEqual(events, ["1 -", "1 -"])
  })

  it("an offer never gives more than its quantity, whatever the takes", () => {
    const take = fc.record({ ref: fc.integer({ min: 1, max: 8 }), lots: fc.integer({ min: 0, max: 60 }) })
    fc.assert(
      fc.property(fc.array(take, { maxLength: 20 }), (takes) => {
        const world = opened()
        for (const { ref, lots } of takes) world.take(`S-${ref}`, BigInt(lots) * 1_000n)
        const sold = [...world.staking.swaps.values()].reduce((sum, { notional }) => sum + notional, 0n)
        assert.strictEqual(sold + world.offer.remaining, 100_000n)
        assert.isTrue(world.offer.remaining >= 0n)
      })
    )
  })
})
