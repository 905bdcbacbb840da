/**
 * Two retail clients of one house run random sequences of actions with their money. Without price jumps the house pays nothing.
 * With jumps it pays at most the loss beyond the client's money, wherever that money is. The test uses the service's own
 * decisions on a store in memory (F10).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { minorOf } from "../../src/machines/shared/Money.ts"
import { progressOfSwap, termsOfSwap } from "../../src/machines/swap/Swap.ts"
import { outstandingOf } from "../../src/machines/swap/swapFigures.ts"
import { moneyOutSentences } from "../../src/machines/withdrawal/moneyOut.ts"
import type { SwapRow } from "../../src/runtime/tables/swap.ts"
import { contractsNow } from "../fixtures/contracts.ts"
import { GuardedClient } from "../runtime/margin/GuardedClient.ts"
import { isDeep } from "../support/every.ts"

/** A client, with the loss that the house may have to bear for it. */
class Watched extends GuardedClient {
  /** Losses from jumps beyond the client's money, and payments by a bank that was instructed before the jump, micro-USDC. */
  beyond = 0n

  /** A price jumps past every level at which a close-out would have closed in time. */
  jump(loss: bigint): void {
    const has = this.cash + this.outside - this.owesHouse
    this.book("PNL", -loss)
    if (loss > has) this.beyond += loss - (has > 0n ? has : 0n)
  }

  /** A withdrawal that was approved before the jump is in progress, and nothing can stop it. */
  pay(id: number, amount: bigint): void {
    const owes = this.isBehind(id) ? this.owesHouse : 0n
    this.rule(id, "PAID")
    this.beyond += amount < owes ? amount : owes
  }

  /** Money outside the cash that may come back, micro-USDC. */
  get outside(): bigint {
    const asked = this.requests.filter(({ state }) => state === "REQUESTED" || state === "APPROVED")
    return (
      asked.reduce((sum, { amount }) => sum + amount, 0n) + this.loans.reduce((sum, row) => sum + comesBack(row), 0n)
    )
  }

  /** All money outside the cash comes back or is paid out. */
  settle(): void {
    for (const { id, state } of this.requests) {
      if (state === "REQUESTED") this.rule(id, "CANCELLED")
      if (state === "APPROVED") this.rule(id, "FAILED")
    }
    for (const { id, state } of this.loans) if (state === "ACCEPTING") this.took(id)
    for (const row of this.loans) {
      const left = leftOf(row)
      if (left > 0n) this.pays(row.id, left)
    }
  }
}

const isLive = ({ state }: SwapRow): boolean => state === "OPEN" || state === "DEFAULTED"
/** The expected money that has not arrived. */
const leftOf = (row: SwapRow): bigint =>
  isLive(row) ? outstandingOf(termsOfSwap(row.context), progressOfSwap(row.context)) : 0n
/** The expected money less later charges. For a take in flight, its hold. */
const comesBack = (row: SwapRow): bigint => {
  const { hold, reward, commissionRewardBps } = row.context
  if (row.state === "ACCEPTING") return minorOf(hold, "USDC")
  const share = (minorOf(reward, "USDC") * BigInt(commissionRewardBps)) / 10_000n - row.commission
  return isLive(row) ? leftOf(row) - share : 0n
}

type Step = (client: Watched) => void
const pick = fc.nat()
const micro = (most: number) => fc.integer({ min: 1, max: most }).map(BigInt)
const one = <A>(all: ReadonlyArray<A>, at: number): A | undefined => all[at % Math.max(1, all.length)]

const deposit = micro(9_000_000_000).map(
  (amount): Step =>
    (client) =>
      client.book("DEPOSIT", amount)
)
const ask = micro(9_000_000_000).map((amount): Step => (client) => {
  const has = client.cash
  const id = client.ask(amount % (has + 2n) || 1n)
  assert.strictEqual(id !== null, (amount % (has + 2n) || 1n) <= has)
})
const rule = fc
  .record({
    at: pick,
    to: fc.constantFrom(
      "CANCELLED" as const,
      "REJECTED" as const,
      "APPROVED" as const,
      "FAILED" as const,
      "PAID" as const
    )
  })
  .map(({ at, to }): Step => (client) => {
    const from = to === "FAILED" || to === "PAID" ? "APPROVED" : "REQUESTED"
    const request = one(
      client.requests.filter(({ state }) => state === from),
      at
    )
    if (request === undefined) return
    const refused = to === "APPROVED" && client.isBehind(request.id)
    if (to === "PAID") return client.pay(request.id, request.amount)
    const sentence = client.rule(request.id, to)
    assert.strictEqual(sentence?.includes(moneyOutSentences.insufficient) ?? false, refused, sentence ?? "approved")
  })
/** Only offers with a reward above their fee. A take that costs more than it earns is a loss by the client's choice. */
const lend = fc.record({ notional: micro(4_000_000_000), more: micro(9_000_000), fee: micro(90_000) }).map(
  ({ notional, more, fee }): Step =>
    (client) =>
      client.lend(notional, 2n * fee + more, fee)
)
const become = fc
  .record({ at: pick, what: fc.constantFrom("took" as const, "refused" as const, "missed" as const) })
  .map(({ at, what }): Step => (client) => {
    const take = one(
      client.loans.filter(({ state }) => state === "ACCEPTING"),
      at
    )
    if (take === undefined) return
    if (what === "took") return client.took(take.id)
    if (what === "refused") return client.hear(take.id, { type: "REFUSED", at: contractsNow, reason: "no" })
    client.hear(take.id, { type: "MISSED", at: contractsNow, releaseAt: contractsNow })
    client.hear(take.id, { type: "RELEASE", at: contractsNow })
  })
const found = pick.map((at): Step => (client) => {
  const take = one(
    client.loans.filter(({ state }) => state === "REJECTED"),
    at
  )
  if (take !== undefined) client.took(take.id)
})
const paid = fc.record({ at: pick, share: fc.integer({ min: 1, max: 10 }) }).map(({ at, share }): Step => (client) => {
  const swap = one(
    client.loans.filter((row) => leftOf(row) > 0n),
    at
  )
  if (swap !== undefined) client.pays(swap.id, (leftOf(swap) * BigInt(share)) / 10n || 1n)
})
const short = pick.map((at): Step => (client) => {
  const swap = one(
    client.loans.filter(({ state }) => state === "OPEN"),
    at
  )
  if (swap !== undefined) client.hear(swap.id, { type: "OVERDUE", at: contractsNow })
})
const gain = micro(2_000_000_000).map(
  (amount): Step =>
    (client) =>
      client.book("PNL", amount)
)
/** A loss that the cash covers. An account outside a close-out can have such a loss. */
const loss = fc.constantFrom(1, 5, 10, 10).map((share): Step => (client) => {
  const lost = (client.cash * BigInt(share)) / 10n
  if (lost > 0n) client.book("PNL", -lost)
})
const jump = micro(9_000_000_000).map(
  (amount): Step =>
    (client) =>
      client.jump(amount)
)

const calm = [deposit, ask, ask, rule, rule, rule, lend, become, become, found, found, paid, paid, short, gain, loss]

const lives = (steps: ReadonlyArray<fc.Arbitrary<Step>>) =>
  fc.array(fc.record({ whose: fc.boolean(), step: fc.oneof(...steps) }), { minLength: 20, maxLength: 60, size: "max" })
const numRuns = isDeep ? 1_000 : 60

describe("F10: the most that two clients can make the house pay", () => {
  it("without jumps, nothing in the end: an advance for a take found late returns with the swap", () => {
    const seen = { putUp: 0 }
    fc.assert(
      fc.property(lives(calm), (steps) => {
        const clients = [new Watched(), new Watched()] as const
        for (const { whose, step } of steps) {
          const client = clients[whose ? 0 : 1]
          step(client)
          assert.isTrue(client.cash >= 0n)
          if (client.owesHouse > 0n) seen.putUp++
        }
        for (const client of clients) {
          client.settle()
          assert.strictEqual(client.owesHouse, 0n)
        }
      }),
      { numRuns, seed: 37 }
    )
    assert.isAbove(seen.putUp, 0)
  })

  it("with jumps, no more than the loss beyond the client's money, outside money included", () => {
    const seen = { repaid: 0, refused: 0 }
    fc.assert(
      fc.property(lives([...calm, jump, jump]), (steps) => {
        const clients = [new Watched(), new Watched()] as const
        for (const { whose, step } of steps) {
          const client = clients[whose ? 0 : 1]
          const before = client.owesHouse
          step(client)
          assert.isTrue(client.cash >= 0n)
          if (client.owesHouse < before) seen.repaid++
          if (client.requests.some(({ id, state }) => state === "REQUESTED" && client.isBehind(id))) seen.refused++
        }
        for (const client of clients) {
          client.settle()
          assert.isTrue(client.owesHouse <= client.beyond, `${client.owesHouse} of ${client.beyond}`)
        }
      }),
      { numRuns, seed: 37 }
    )
    assert.isAbove(seen.repaid, 10)
    assert.isAbove(seen.refused, 10)
  })
})
