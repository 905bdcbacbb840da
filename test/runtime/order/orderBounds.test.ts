/** The changes that an account's working orders need while its equity does not cover their worst prices (F13). */
import { assert, describe, it } from "@effect/vitest"
import type { Facts } from "../../../src/machines/market/Facts.ts"
import type { OrderInput } from "../../../src/machines/order/Order.ts"
import {
  boundChanges,
  boundedIn,
  coversOrders,
  orderRanges
} from "../../../src/runtime/services/trading/order/orderBounds.ts"
import { accountOf, marketsAt, perp, type PerpAccount } from "./leverageTurns.ts"

const sixty = marketsAt({ [perp]: { price: "60000" } })
const judgedAt = (account: PerpAccount, facts: Facts) => {
  const state = accountOf(account)
  const client = state.one("clients") ?? assert.fail("no client")
  return boundedIn(state, facts, client)
}
const limit = (side: "BUY" | "SELL", price: string, qty = "0.0100", reduceOnly = false): Partial<OrderInput> => ({
  side,
  price,
  venuePrice: price,
  qty,
  reduceOnly
})

describe("orders outside a close-out", () => {
  it("the smallest number of the most expensive orders is cancelled, with few reads of the whole account", () => {
    // Each costs 10 dollars per step above the mark, and commission.
    const orders = Array.from({ length: 500 }, (_, step) => limit("BUY", `${60_000 + step}.0`))
    let looks = 0
    const marks = new Map(sixty.marks)
    const counted = Object.assign(Object.create(marks), {
      get: (symbol: string) => (looks++, marks.get(symbol))
    }) as Facts["marks"]
    const at = { ...judgedAt({ cash: "1000", orders }, sixty), facts: { ...sixty, marks: counted } }
    const { cancel } = boundChanges(at)
    assert.isAtMost(looks, 20)
    assert.isAbove(cancel.length, 0)
    const ids = new Set(cancel.map(({ id }) => id))
    assert.deepStrictEqual(
      [...ids].toSorted((one, other) => one - other),
      Array.from({ length: ids.size }, (_, nth) => 501 - ids.size + nth)
    )
    const coversWithout = (dropped: ReadonlySet<number>): boolean =>
      coversOrders({ ...at, orders: at.orders.filter(({ id }) => !dropped.has(id)) }, at.account.risk.closeOutEquity)
    assert.isTrue(coversWithout(ids))
    ids.delete(501 - ids.size)
    assert.isFalse(coversWithout(ids))
  })

  it("reduce-only orders that replace one another are cancelled until the rest is covered", () => {
    // The position gains nothing; each order alone loses 400.
    const orders = ["56000.0", "56000.1", "56000.2", "59990.0"].map((price) => limit("SELL", price, "0.1000", true))
    const at = judgedAt({ cash: "350", positions: [{ netQty: "0.1" }], chosen: { [perp]: 10 }, orders }, sixty)
    assert.deepStrictEqual(
      boundChanges(at).cancel.map(({ id }) => id),
      [1, 2, 3]
    )
  })

  it("a conditional order that waits without a bound gets that of a new order, whatever the equity covers", () => {
    const trigger = { source: "LAST", price: "59000.0", direction: "AT_OR_BELOW", limitPrice: null } as const
    const stop = { side: "SELL", type: "STOP_MARKET", price: null, venuePrice: null, qty: "0.1000", trigger } as const
    const withLimit = {
      ...stop,
      type: "STOP_LIMIT",
      venuePrice: "58900.0",
      trigger: { ...trigger, limitPrice: "58900.0" }
    } as const
    const orders = [
      { ...stop, reduceOnly: true },
      { ...stop, reduceOnly: false },
      { ...withLimit, reduceOnly: false }
    ]
    for (const cash of ["310", "100000"]) {
      const at = judgedAt({ cash, positions: [{ netQty: "0.1" }], orders }, sixty)
      assert.deepStrictEqual(
        boundChanges(at).amend.map(({ row, boundBps }) => [row.id, boundBps]),
        [
          [1, 494],
          [2, 50]
        ]
      )
      assert.isNull(orderRanges(at))
      assert.isFalse(coversOrders(at, 1_000_000_000_000n))
    }
  })
})
