/**
 * The simulator's own traders (C1, Order book): a ladder of orders around the mark, in a queue with clients' orders.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { defaultMarkets } from "../../simulator/venue/core/defaultMarkets.ts"
import { Exchange, type Listing } from "../../simulator/venue/core/Exchange.ts"
import { Makers } from "../../simulator/venue/core/Makers.ts"
import type { Order, OrderRequest } from "../../simulator/venue/core/Order.ts"
import { orderRequest } from "./orderRequest.ts"

const symbol = "BTC-USDC-PERP"
const shape = { levels: 5, spread: 2, size: 100 }

const opened = (seed = 1) => {
  const fills: Array<string> = []
  const exchange = new Exchange(defaultMarkets, (event) => {
    if (event.kind === "fill")
      fills.push(`${event.fill.accountId} ${event.fill.side} ${event.fill.price} ${event.fill.quantity}`)
  })
  exchange.open(1, "CL-00000001")
  const makers = new Makers(exchange, new SeededRandom(seed))
  makers.add(symbol, shape)
  const listing = exchange.listings.get(symbol) as Listing
  const mark = (price: number): void => {
    exchange.move(symbol, "MARK", price)
    makers.quote(listing)
  }
  const place = (parts: Partial<OrderRequest>): Order => exchange.place(orderRequest({ quantity: 10, ...parts }))
  return { exchange, makers, listing, mark, place, fills }
}

describe("the simulator's own traders", () => {
  it("quote their levels around the mark, and follow it", () => {
    const { listing, mark } = opened()
    for (const price of [600_000, 600_003, 599_000, 612_000]) {
      mark(price)
      const prices = (side: "BUY" | "SELL") => listing.book.depth(side, 10).map(([level]) => level)
      assert.deepStrictEqual(
        prices("BUY"),
        [1, 2, 3, 4, 5].map((n) => price - 1 - n)
      )
      assert.deepStrictEqual(
        prices("SELL"),
        [1, 2, 3, 4, 5].map((n) => price + n)
      )
    }
  })

  it("refill a level that was traded away", () => {
    const { listing, mark, place } = opened()
    mark(600_000)
    place({ quantity: 150, tif: "IOC" })
    assert.isAbove(listing.book.best("SELL") ?? 0, 600_000)
    mark(600_000)
    assert.strictEqual(listing.book.depth("SELL", 10).length, 5)
  })

  it("trade with a client's resting order when they reach its price", () => {
    const { exchange, mark, place } = opened()
    mark(600_000)
    const order = place({ side: "SELL", price: 600_100 })
    assert.strictEqual(order.state, "WORKING")
    mark(600_200)
    assert.strictEqual(order.state, "FILLED")
    assert.strictEqual(exchange.accounts.get(1)?.lotsOf(symbol), -10)
  })

  it("another ladder stays until the usual one is restored; with size 0 it is empty", () => {
    const { makers, listing, mark } = opened()
    mark(600_000)
    makers.shape(symbol, { levels: 3, spread: 2, size: 0 })
    assert.strictEqual(listing.book.best("BUY"), null)
    makers.restore(symbol)
    assert.strictEqual(listing.book.depth("BUY", 10).length, 5)
  })

  it("a seed decides every fill; quantity and money are conserved, and the book never crosses", () => {
    const run = (seed: number, marks: ReadonlyArray<number>) => {
      const { exchange, makers, listing, mark, fills } = opened(seed)
      for (const price of marks) {
        mark(600_000 + price)
        makers.trade(listing, 0.9)
        assert.isBelow(listing.book.best("BUY") ?? 0, listing.book.best("SELL") ?? Number.POSITIVE_INFINITY)
      }
      const positions = [...exchange.accounts.values()].flatMap((account) => [...account.positions.values()])
      assert.strictEqual(
        positions.reduce((sum, { lots }) => sum + lots, 0),
        0
      )
      assert.strictEqual(
        positions.reduce((sum, { flow }) => sum + flow, 0n),
        0n
      )
      return fills
    }
    const marks = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 5, maxLength: 40, size: "max" })
    fc.assert(
      fc.property(fc.integer(), marks, (seed, path) => assert.deepStrictEqual(run(seed, path), run(seed, path))),
      { numRuns: 50 }
    )
  })
})
