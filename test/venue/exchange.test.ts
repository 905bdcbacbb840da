/** The exchange compared with a plain implementation of its rules over random orders, and its invariants. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Exchange, type ExchangeEvent } from "../../simulator/venue/core/Exchange.ts"
import { type Market, valueOf } from "../../simulator/venue/core/Market.ts"
import type { OrderRequest } from "../../simulator/venue/core/Order.ts"
import { orderRequest } from "./orderRequest.ts"
import { PlainExchange } from "./plainExchange.ts"

const market: Market = {
  symbol: "BTC-USDC-PERP",
  family: "PERP",
  base: "BTC",
  assetClass: "crypto",
  displayName: "Bitcoin perpetual",
  tickDecimals: 1,
  lotDecimals: 4,
  minQty: 1,
  maxQty: 1_000_000,
  minNotional: 0n,
  bandBps: 5_000
}

type Act = { readonly place: Omit<OrderRequest, "ref"> } | { readonly cancel: number }

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      place: fc.record({
        accountId: fc.integer({ min: 1, max: 4 }),
        symbol: fc.constant("BTC-USDC-PERP"),
        side: fc.constantFrom("BUY" as const, "SELL" as const),
        price: fc.option(fc.integer({ min: 95, max: 105 }), { freq: 8 }),
        quantity: fc.integer({ min: 1, max: 20 }),
        tif: fc.constantFrom("GTC" as const, "GTC" as const, "IOC" as const, "FOK" as const),
        reduceOnly: fc.boolean(),
        trigger: fc.constant(null),
        group: fc.constant(null)
      })
    })
  },
  { weight: 1, arbitrary: fc.record({ cancel: fc.nat(60) }) }
)

/** Removes post-only from market orders, which cannot have it. */
const asked = (request: Omit<OrderRequest, "ref">, n: number): OrderRequest => ({
  ...request,
  ref: `O-${n}`,
  tif: request.price !== null && n % 11 === 0 ? "POST_ONLY" : request.tif
})

const opened = (): { readonly exchange: Exchange; readonly events: Array<ExchangeEvent> } => {
  const events: Array<ExchangeEvent> = []
  const exchange = new Exchange([market], (event) => void events.push(structuredCloneOf(event)))
  for (let id = 1; id <= 4; id++) exchange.open(id, `client-${id}`)
  return { exchange, events }
}

/** A copy of the event as published, because later events change its order. */
const structuredCloneOf = (event: ExchangeEvent): ExchangeEvent =>
  event.kind === "fill" ? { ...event, order: { ...event.order } } : { kind: "order", order: { ...event.order } }

const played = (acts: ReadonlyArray<Act>) => {
  const { exchange, events } = opened()
  const plain = new PlainExchange()
  acts.forEach((step, n) => {
    if ("cancel" in step) {
      const order = exchange.orders.get(`O-${step.cancel}`)
      if (order !== undefined) exchange.cancel(order)
      plain.cancel(`O-${step.cancel}`)
    } else {
      exchange.place(asked(step.place, n))
      plain.place(asked(step.place, n))
    }
  })
  return { exchange, events, plain }
}

describe("the exchange", () => {
  it("fills, states and positions equal those of the plain rules: best price first, then time", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60, size: "max" }), (acts) => {
        const { exchange, events, plain } = played(acts)
        const fills = events.flatMap((event) =>
          event.kind === "fill"
            ? [{ ref: event.order.ref, price: event.fill.price, quantity: event.fill.quantity }]
            : []
        )
        assert.deepStrictEqual(fills, plain.fills)
        assert.deepStrictEqual(
          [...exchange.orders.values()].map(({ ref, state, left }) => ({ ref, state, left })),
          plain.orders.map(({ ref, state, left }) => ({ ref, state, left }))
        )
        for (const [id, account] of exchange.accounts)
          assert.strictEqual(account.lotsOf("BTC-USDC-PERP"), plain.positions.get(id) ?? 0)
      }),
      { numRuns: 400 }
    )
  })

  it("quantity and money are conserved, the book never crosses, and both sides of a trade have one trade id", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 80, size: "max" }), (acts) => {
        const { exchange, events } = played(acts)
        const positions = [...exchange.accounts.values()].flatMap((account) => [...account.positions.values()])
        assert.strictEqual(
          positions.reduce((sum, { lots }) => sum + lots, 0),
          0
        )
        assert.strictEqual(
          positions.reduce((sum, { flow }) => sum + flow, 0n),
          0n
        )
        const book = exchange.listings.get("BTC-USDC-PERP")?.book
        const bid = book?.best("BUY") ?? Number.NEGATIVE_INFINITY
        assert.isBelow(bid, book?.best("SELL") ?? Number.POSITIVE_INFINITY)
        const trades = Map.groupBy(
          events.flatMap((event) => (event.kind === "fill" ? [event.fill] : [])),
          ({ tradeId }) => tradeId
        )
        for (const [, sides] of trades) {
          assert.deepStrictEqual(
            sides.map(({ liquidity }) => liquidity),
            ["MAKER", "TAKER"]
          )
          assert.strictEqual(new Set(sides.map(({ price, quantity }) => `${price} ${quantity}`)).size, 1)
          assert.strictEqual(new Set(sides.map(({ side }) => side)).size, 2)
        }
      }),
      { numRuns: 200 }
    )
  })

  it("a position's flow is the value of its trades", () => {
    const { exchange, events } = played([
      { place: orderRequest({ side: "SELL", price: 100, quantity: 5 }) },
      { place: orderRequest({ accountId: 2, side: "BUY", price: 101, quantity: 3 }) }
    ])
    assert.strictEqual(exchange.accounts.get(2)?.positions.get("BTC-USDC-PERP")?.flow, -valueOf(market, 100, 3))
    assert.strictEqual(events.filter(({ kind }) => kind === "fill").length, 2)
  })
})
