/** Partners' reads of their clients' orders, positions and trades (doc 2, Order; A2-43, A2-44, A2-100, A2-106). */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spotInput, stopInput } from "../../src/machines/order/orderSamples.ts"
import { OrderReads } from "../../src/runtime/services/trading/order/OrderReads.ts"
import { armAttachment } from "../../src/runtime/services/trading/order/protection.ts"
import { get } from "../support/Builders.ts"
import { inTurn, putFill, putOrder, putPosition } from "../support/orderRows.ts"
import { type Service, startService } from "../support/Service.ts"

let service: Service
let partner: Awaited<ReturnType<Service["partner"]>>
let clientId: number
beforeAll(async () => {
  service = await startService()
  partner = await service.partner()
  clientId = await service.client(partner.key)
})
afterAll(() => service.stop())

const read = async (path: string, id = clientId) => {
  const { status, json, text } = await get(service, partner.key, `/clients/${id}${path}`)
  assert.strictEqual(status, 200, text)
  return json
}
const reads = <A>(ask: (reads: OrderReads["Service"]) => Effect.Effect<A, unknown>): Promise<A> =>
  service.run(Effect.provide(Effect.flatMap(OrderReads, ask), OrderReads.layer))
const orders = (query: { readonly limit: number; readonly before?: number }) =>
  reads(({ list }) => list(partner.partnerId, clientId, query))

describe("orders", () => {
  it("newest first, page by page, ended ones too; open ones apart", async () => {
    const ids = await inTurn(service, clientId, (turn) => [
      putOrder(turn, { state: "FILLED", context: { filledQty: "0.1" } }),
      putOrder(turn),
      putOrder(turn, { state: "CANCELLED", context: { note: "not filled at once" } }),
      putOrder(turn, { state: "PENDING_CANCEL" })
    ])
    const first = await orders({ limit: 3 })
    assert.deepStrictEqual(
      first?.orders.map(({ orderId, state }) => [orderId, state]),
      [
        [ids[3], "PENDING_CANCEL"],
        [ids[2], "CANCELLED"],
        [ids[1], "ACKED"]
      ]
    )
    assert.deepStrictEqual([first?.hasMore, first?.nextBefore], [true, ids[1]])
    const last = await orders({ limit: 3, before: ids[1] as number })
    assert.deepStrictEqual(
      [last?.orders.map(({ orderId }) => orderId), last?.hasMore, last?.nextBefore],
      [[ids[0]], false, null]
    )
    const open = await reads((each) => each.open(partner.partnerId, clientId))
    assert.deepStrictEqual(
      open?.map(({ orderId }) => orderId),
      [ids[3], ids[1]]
    )
  })

  it("A2-106: members that do not apply are null, quantities lie on the lots", async () => {
    const [id] = await inTurn(service, clientId, (turn) => [putOrder(turn, { context: { filledQty: "0.04" } })])
    const shown = (await orders({ limit: 1 }))?.orders[0]
    assert.deepStrictEqual(
      { ...shown, createdAt: 0, updatedAt: 0 },
      {
        orderId: id as number,
        clOrdId: `O-${id}`,
        symbol: "BTC-USDC-PERP",
        family: "PERP",
        side: "BUY",
        type: "LIMIT",
        qty: "0.1000",
        price: "60000.0",
        state: "ACKED",
        reject: null,
        filledQty: "0.0400",
        createdAt: 0,
        reduceOnly: false,
        tif: "GTC",
        trigger: null,
        updatedAt: 0,
        attach: null,
        ocoGroup: null,
        parentOrderId: null,
        parentClOrdId: null,
        origin: "CLIENT",
        note: null,
        replacedBy: null,
        replaces: null,
        reservation: null
      }
    )
  })

  it("a conditional leg with its parent, a parent with its levels and legs, a spot order with its reservation", async () => {
    const level = { price: "65000.0", limitPrice: null }
    const [parent, leg] = await inTurn(service, clientId, (turn) => {
      const id = putOrder(turn, { input: { attach: { takeProfit: level, stopLoss: null } }, context: { legs: [77] } })
      const row = turn.draft.peek("orders", String(id))
      assert.isDefined(row)
      armAttachment(turn, { partnerId: partner.partnerId, clientId }, row)
      const { orderId: _, ...stop } = stopInput
      return [id, putOrder(turn, { input: { ...stop, parentOrderId: id, origin: "ATTACHED" } })]
    })
    await inTurn(service, clientId, (turn) => {
      const { orderId: _, ...spot } = spotInput
      putOrder(turn, {
        state: "PARTIAL",
        input: spot,
        amount: 6_006_000_000n,
        context: { consumed: "2362.36", released: "40.04" }
      })
    })
    const [spot, stop, first] = (await orders({ limit: 3 }))?.orders ?? []
    assert.deepStrictEqual(spot?.reservation, {
      currency: "USDC",
      amount: "6006.000000",
      consumed: "2362.360000",
      released: "40.040000"
    })
    assert.deepInclude(stop, {
      orderId: leg as number,
      parentOrderId: parent as number,
      parentClOrdId: `O-${parent}`,
      origin: "ATTACHED",
      ocoGroup: "exit",
      price: null
    })
    assert.deepStrictEqual(stop?.trigger, {
      source: "MARK",
      price: "58000.0",
      direction: "AT_OR_BELOW",
      limitPrice: null
    })
    assert.deepStrictEqual(first?.attach, { takeProfit: level, stopLoss: null, legs: [77] })
  })
})

describe("positions and trades", () => {
  it("A2-43: open positions alone, neither flat ones nor spot quantities", async () => {
    assert.deepStrictEqual(await read("/positions"), { positions: [] })
    await inTurn(service, clientId, (turn) => {
      putPosition(turn, { symbol: "ETH-USDC-PERP", state: "FLAT", netQty: "0.000", realizedPnl: 5n })
      putPosition(turn, { symbol: "BTC-USDC", state: "SPOT", netQty: "1.00000000" })
      putPosition(turn, {
        netQty: "-0.3000",
        avgEntry: "60000.333333333333333333",
        netCost: "-18000.0999999999999999",
        realizedPnl: -25_000_000n,
        updatedAt: 7
      })
    })
    assert.deepStrictEqual(await read("/positions"), {
      positions: [
        {
          symbol: "BTC-USDC-PERP",
          netQty: "-0.3000",
          avgEntryPrice: "60000.333333333333333333",
          netCost: "-18000.100000",
          realizedPnl: "-25.000000",
          updatedAt: 7
        }
      ]
    })
  })

  it("A2-44, A2-100: trades newest first; position history has closed positions alone", async () => {
    const [opening, closing, bought] = await inTurn(service, clientId, (turn) => {
      const id = putOrder(turn)
      const closed = { side: "SELL", qty: "0.3000", closedQty: "0.1000", realizedPnl: -25_000_000n } as const
      const spot = { symbol: "BTC-USDC", family: "SPOT" } as const
      return [putFill(turn, id), putFill(turn, id, { ...closed, ts: 9 }), putFill(turn, id, spot)]
    })
    const { trades, hasMore, nextBefore } = await read("/trades?limit=2")
    assert.deepStrictEqual([trades[0].id, trades[0].asset, trades[0].family], [bought, "BTC", "SPOT"])
    assert.deepInclude(trades[1], { id: closing, asset: null, realizedPnl: "-25.000000", notional: "6000.000000" })
    assert.deepInclude(trades[1], { commission: "3.000000", clOrdId: `O-${trades[1].orderId}`, qty: "0.3000", ts: 9 })
    assert.deepStrictEqual([hasMore, nextBefore], [true, closing])
    const older = await read(`/trades?limit=2&before=${nextBefore}`)
    assert.deepStrictEqual(
      [older.trades.map(({ id }: { readonly id: number }) => id), older.hasMore],
      [[opening], false]
    )
    const { items, ...end } = await read("/position-history")
    assert.deepStrictEqual(end, { hasMore: false, nextBefore: null })
    assert.deepStrictEqual(items, [
      {
        id: closing,
        orderId: trades[1].orderId,
        clOrdId: trades[1].clOrdId,
        symbol: "BTC-USDC-PERP",
        side: "SELL",
        qty: "0.1000",
        price: "60000.0",
        realizedPnl: "-25.000000",
        ts: 9
      }
    ])
  })

  it("another partner's client and an unknown client have nothing", async () => {
    const foreign = (await service.partner()).key
    for (const path of ["/positions", "/trades", "/position-history"]) {
      const { status, json } = await get(service, foreign, `/clients/${clientId}${path}`)
      assert.deepStrictEqual([status, json.code], [404, 4004], path)
    }
    const none = await reads(({ list, open }) => Effect.all([list(0, clientId, { limit: 1 }), open(0, clientId)]))
    assert.deepStrictEqual(none, [null, null])
  })
})
