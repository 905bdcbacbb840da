/**
 * The money of an account at the simulated venue (A2-103): receipts and payments by their cause, equal to those of its
 * events.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Venue } from "../../simulator/venue/core/Venue.ts"
import type { VenueState } from "../../simulator/venue/core/VenueState.ts"
import { figuresAt, settledPnl } from "../../src/machines/contract/contractFigures.ts"
import { endOf } from "../../src/runtime/services/trading/contract/contractDecisions.ts"
import { formatAmount, MoneyDecimal } from "../../src/machines/shared/Money.ts"
import type { AccountFact, VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueSwap } from "../../src/machines/venue/swapAtVenue.ts"
import type { VenueContract, VenueMoney } from "../../src/machines/venue/venueObjects.ts"
import { opened } from "./openedVenue.ts"
import { accountInputs, drafts, venueOptions } from "./venueInputs.ts"

const stored = (state: VenueState): VenueState => JSON.parse(JSON.stringify(state)) as VenueState
const nobody = { event: () => {}, market: () => {} }

describe("A2-103: an account's money at the venue", () => {
  const world = opened()
  const money = (account = "CL-1"): Record<string, string> =>
    Object.fromEntries(
      (world.venue.account(account)?.money ?? []).map(({ kind, asset, amount }) => [`${kind} ${asset}`, amount])
    )

  it("an account starts at zero; an open perpetual counts at its cost, and only its results are left once it is closed", () => {
    assert.deepStrictEqual(money(), {})
    const execute = (qty: string, price: string) =>
      world.command({ type: "execute", account: "CL-1", symbol: "BTC-USDC-PERP", qty, price, reason: "liquidation" })
    execute("0.3", "60000")
    assert.deepStrictEqual(money(), { "trades USDC": "-18000" })
    execute("-0.1", "61000")
    assert.deepStrictEqual(money(), { "trades USDC": "-11900" })
    execute("-0.2", "59000")
    assert.deepStrictEqual(money(), { "trades USDC": "-100" })
  })

  it("spot trades exchange the asset for its price", () => {
    const execute = (qty: string, price: string) =>
      world.command({ type: "execute", account: "CL-2", symbol: "BTC-USDC", qty, price, reason: "liquidation" })
    execute("0.3", "60000")
    execute("-0.1", "61000")
    assert.deepStrictEqual(money("CL-2"), { "trades USDC": "-11900", "trades BTC": "0.2" })
  })

  it("an ended contract pays its result; a swap pays its notional and its corrected fee, and receives its repayments", () => {
    world.request({ account: "CL-4", ref: "R-4" })
    world.call("acceptQuote", { account: "CL-4", ref: "A-4", target: "R-4", quoteId: world.quote("R-4", "60000") })
    assert.deepStrictEqual(money("CL-4"), {})
    world.command({ type: "price", symbol: "BTC-USDC-PERP", price: "58000", only: null })
    const [contract] = world.news("CL-4").flatMap((each) => (each.type === "contract" ? [each.contract] : []))
    const lost = new MoneyDecimal(1_000).mul("0.1").mul("0.95").negated().toFixed()
    assert.deepStrictEqual([contract?.entry, money("CL-4")], ["60000", { "contracts USDC": lost }])
    const offer = world.venue.offers().find(({ symbol }) => symbol === "BTC-SWAP")
    const { swap } = world.call("takeOffer", { account: "CL-4", ref: "S-4", offerId: offer?.id, qty: offer?.minQty })
    assert.isNotNull(swap)
    const taken = new MoneyDecimal(swap?.notional ?? 0).plus(swap?.fee ?? 0)
    assert.strictEqual(money("CL-4")["swaps BTC"], taken.negated().toFixed())
    world.command({ type: "correctFee", contractId: swap?.id ?? 0, fee: "0.00001" })
    world.command({ type: "pay", contractId: swap?.id ?? 0, amount: "0.00003" })
    const after = new MoneyDecimal(swap?.notional ?? 0).plus("0.00001").minus("0.00003")
    assert.strictEqual(money("CL-4")["swaps BTC"], after.negated().toFixed())
  })

  it("in a snapshot of an older version the money of an account with trades alone is known, and otherwise unknown", () => {
    const state = stored(world.venue.state())
    const old = { ...state, balances: state.balances.map(([id, asset, amount]) => [id, asset, amount] as const) }
    const restored = Venue.restore(old, nobody)
    assert.isNull(restored.account("CL-4")?.money)
    assert.deepStrictEqual(restored.account("CL-1")?.money, world.venue.account("CL-1")?.money)
    // The money stays unknown, while the account's ledger is complete.
    assert.deepStrictEqual(restored.ledger(), world.venue.ledger())
    const again = Venue.restore(stored(restored.state()), nobody)
    assert.isNull(again.account("CL-4")?.money)
  })

  it("in random runs, money is the sum of the account's events, before and after a restart", () => {
    fc.assert(
      fc.property(drafts(80), fc.nat(80), fc.nat(1_000), (steps, cut, seed) => {
        const events: Array<VenueEvent> = []
        const listeners = { event: (event: VenueEvent) => void events.push(event), market: () => {} }
        let venue = new Venue(venueOptions({ seed }), listeners)
        for (const input of accountInputs) venue.apply(input)
        for (const [n, step] of steps.entries()) {
          if (n === cut) venue = Venue.restore(stored(venue.state()), listeners)
          venue.apply(step(n, venue))
        }
        for (const name of ["CL-1", "CL-2", "CL-3"]) {
          const facts = events.flatMap(({ fact }) => ("account" in fact && fact.account === name ? [fact] : []))
          assert.deepStrictEqual(sorted(venue.account(name)?.money ?? []), sorted(replayed(facts)), name)
        }
      }),
      { numRuns: 20 }
    )
  })
})

const sorted = (money: ReadonlyArray<VenueMoney>) =>
  money.map(({ kind, asset, amount }) => `${kind} ${asset} ${amount}`).toSorted()

/** The money from the events, computed with the service's own rules. */
const replayed = (facts: ReadonlyArray<AccountFact>): ReadonlyArray<VenueMoney> => {
  const sums = new Map<string, VenueMoney>()
  const book = (kind: VenueMoney["kind"], asset: string, amount: MoneyDecimal): void => {
    const before = sums.get(`${kind} ${asset}`)?.amount ?? "0"
    sums.set(`${kind} ${asset}`, { kind, asset, amount: amount.plus(before).toFixed() })
  }
  const contracts = new Map<number, VenueContract>()
  const swaps = new Map<number, VenueSwap>()
  for (const fact of facts) {
    if (fact.type === "funding") book("funding", "USDC", new MoneyDecimal(fact.funding.amount ?? 0))
    if (fact.type === "contract") contracts.set(fact.contract.id, fact.contract)
    if (fact.type === "swap") swaps.set(fact.swap.id, fact.swap)
    if (fact.type !== "fill") continue
    const { symbol, side, qty, price } = fact.fill
    const signed = new MoneyDecimal(qty).mul(side === "BUY" ? 1 : -1)
    book("trades", "USDC", signed.mul(price).negated())
    if (!symbol.endsWith("-PERP")) book("trades", symbol.slice(0, symbol.indexOf("-")), signed)
  }
  for (const contract of contracts.values()) {
    const end = endOf(contract)
    if (end !== null) book("contracts", "USDC", resultOf(contract))
  }
  for (const { symbol, notional, fee, payments } of swaps.values()) {
    const paid = payments.reduce((sum, { amount }) => sum.plus(amount), new MoneyDecimal(0))
    book("swaps", symbol.slice(0, symbol.indexOf("-")), paid.minus(notional).minus(fee))
  }
  return [...sums.values()].filter(({ amount }) => amount !== "0")
}

const resultOf = (contract: VenueContract): MoneyDecimal => {
  const { side, qty, entry, barrier, takeProfit, premiumBps, symbol, strict, state, settlePrice } = contract
  const figures = figuresAt({ side, qty, price: entry, barrier, takeProfit, premiumBps, commissionBps: 0 })
  const terms = { symbol, side, qty, entry, barrier, takeProfit, strict, ...figures }
  if (state === "OPEN" || settlePrice === null) throw new Error("it has not ended")
  return new MoneyDecimal(formatAmount(settledPnl(terms, state, settlePrice), "USDC"))
}
