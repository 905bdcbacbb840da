/** The figures of staking swaps (F22; STS-6): published rewards, and rules that hold for every course of payments. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  afterPayment,
  expectedPayout,
  outstandingOf,
  partsOfPayment,
  rewardCommission,
  rewardReceived,
  swapReward,
  takerFee
} from "../../src/machines/swap/swapFigures.ts"
import { rewardOf } from "../../simulator/venue/core/Staking.ts"

const money = fc.bigInt({ min: 0n, max: 10n ** 17n })
const terms = fc.record({
  notional: fc.bigInt({ min: 1n, max: 10n ** 17n }),
  reward: fc.bigInt({ min: 0n, max: 10n ** 16n }),
  commissionRewardBps: fc.integer({ min: 0, max: 10_000 })
})

describe("F22: rewards and fees", () => {
  it("STK-001, STK-003: as published, and rounded down to nothing", () => {
    assert.strictEqual(swapReward(100_000_000_000n, 3_000, 1), 82_191_780n)
    assert.strictEqual(swapReward(3_649_999n, 1, 1), 0n)
  })

  it("STK-005: a year has 365 days here, although others compute with years of 360", () => {
    // 27,660.00 at 3.5 percent for a day: 2.69 by the other convention, in cents.
    const [notional, rateBps] = [2_766_000n, 350]
    assert.strictEqual(swapReward(notional, rateBps, 1), 265n)
    assert.strictEqual((2n * notional * BigInt(rateBps) + 3_600_000n) / (2n * 3_600_000n), 269n)
  })

  it("a reward is never more than rate and time make of the notional, a fee never less than its rate", () => {
    fc.assert(
      fc.property(
        money,
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 0, max: 3_650 }),
        (notional, bps, days) => {
          const reward = swapReward(notional, bps, days)
          const exact = notional * BigInt(bps) * BigInt(days)
          assert.isTrue(reward * 3_650_000n <= exact && exact < (reward + 1n) * 3_650_000n)
          assert.strictEqual(reward, rewardOf(notional, bps, days))
          const fee = takerFee(notional, bps)
          assert.isTrue(fee * 10_000n >= notional * BigInt(bps) && (fee - 1n) * 10_000n < notional * BigInt(bps))
        }
      )
    )
  })
})

/** The payments of a writer, and the write-offs of the claim by staff. */
const course = fc.array(
  fc.oneof(
    fc.record({ is: fc.constant("pays" as const), amount: money }),
    fc.record({ is: fc.constant("writtenOff" as const), share: fc.integer({ min: 0, max: 100 }) })
  ),
  { maxLength: 20 }
)

describe("F22: payments and write-offs", () => {
  it("paid, outstanding and written off amounts add up to the expected one, none is negative; the share is of the reward alone and only grows", () => {
    fc.assert(
      fc.property(terms, course, (agreed, steps) => {
        let progress = { paid: 0n, writtenOff: 0n }
        let charged = 0n
        for (const step of steps) {
          const before = outstandingOf(agreed, progress)
          if (step.is === "writtenOff") {
            const amount = (before * BigInt(step.share)) / 100n
            progress = { ...progress, writtenOff: progress.writtenOff + amount }
          } else {
            const { principal, reward, beyond } = partsOfPayment(agreed, progress, step.amount)
            assert.strictEqual(principal + reward + beyond, step.amount)
            assert.isTrue(principal >= 0n && reward >= 0n && beyond >= 0n)
            // Principal is repaid first.
            if (reward > 0n) assert.isTrue(progress.paid + principal >= agreed.notional)
            const writtenOff = progress.writtenOff
            progress = afterPayment(progress, step.amount)
            // A payment first takes back a write-off, before it reduces the outstanding amount.
            if (step.amount <= writtenOff) assert.strictEqual(outstandingOf(agreed, progress), before)
          }
          const outstanding = outstandingOf(agreed, progress)
          const expected = expectedPayout(agreed)
          assert.isTrue(outstanding >= 0n && progress.writtenOff >= 0n)
          assert.strictEqual(
            progress.paid + outstanding + progress.writtenOff,
            progress.paid > expected ? progress.paid : expected
          )
          const share = rewardCommission(agreed, progress)
          const received = rewardReceived(agreed, progress)
          assert.isTrue(received >= 0n && received <= agreed.reward)
          assert.isTrue(share >= charged && share * 10_000n <= received * BigInt(agreed.commissionRewardBps))
          charged = share
        }
      })
    )
  })

  it("a simple computation of the payments one unit at a time gives the same", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 6 }),
        (notional, reward, payments) => {
          const agreed = { notional: BigInt(notional), reward: BigInt(reward), commissionRewardBps: 1_000 }
          let progress = { paid: 0n, writtenOff: 0n }
          let [principal, received, over] = [0, 0, 0]
          for (const amount of payments) {
            for (let unit = 0; unit < amount; unit++) {
              if (principal < notional) principal++
              else if (received < reward) received++
              else over++
            }
            progress = afterPayment(progress, BigInt(amount))
          }
          assert.strictEqual(rewardReceived(agreed, progress), BigInt(received))
          assert.strictEqual(outstandingOf(agreed, progress), BigInt(notional + reward - principal - received))
          assert.strictEqual(progress.paid, BigInt(principal + received + over))
        }
      )
    )
  })
})
