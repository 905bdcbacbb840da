/**
 * Positions, orders and trades that differ between service and venue, and the consequences in the client's turn
 * (A2-103).
 */
import { assert, describe, it } from "@effect/vitest"
import { noFacts } from "../../../src/machines/market/Facts.ts"
import { perpInput } from "../../../src/machines/order/orderSamples.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { bookedTrades, tradesCompared, tradesKnownToBoth, venueTrades } from "../../../src/machines/venue/trades.ts"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import { firstRow } from "../../../src/runtime/effects/machineRow.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import {
  type ComparedOrders,
  orderDifferences,
  settleOrderDifferences
} from "../../../src/runtime/services/reconciliation/orderComparison.ts"
import type { OrderRow } from "../../../src/runtime/tables/order.ts"
import { reportOf } from "../../support/venueOrders.ts"
import { sampleRows } from "../engine/fixtures.ts"

const symbol = "BTC-USDC-PERP"
const { clients, positions: sample } = sampleRows(1)
const position = { ...sample, netQty: "0.1000", state: "OPEN" as const }
const orderRow = (id: number, filledQty = "0"): OrderRow => {
  const columns = {
    id,
    partnerId: 1,
    clientId: 1,
    symbol,
    currency: "USDC",
    amount: 0n,
    parentOrderId: null,
    createdAt: 5
  }
  const { row } = firstRow("orders", { ...perpInput, orderId: id }, columns)
  return { ...row, state: "ACKED", context: { ...row.context, venueOrderId: 900, filledQty } }
}

const turnOf = (rows: {
  readonly orders?: ReadonlyArray<OrderRow>
  readonly positions?: ReadonlyArray<typeof position>
}) => {
  let last = 0
  const state = new SubjectState("client:1", {
    token: 1,
    rows: [
      { table: "clients", row: clients },
      ...(rows.orders ?? []).map((row) => ({ table: "orders" as const, row })),
      ...(rows.positions ?? []).map((row) => ({ table: "positions" as const, row }))
    ]
  })
  const by = { role: "SYSTEM", keyLabel: "t", requestId: "t", actor: "system:venue" }
  const mark = { price: new MoneyDecimal("61000"), places: 1, at: 0, current: true }
  const facts = { ...noFacts, takenAt: 0, marks: new Map([[symbol, mark]]) }
  const turn: Turn = { now: 40, state, facts, draft: new CommitBuilder(), by, nextId: () => ++last }
  return turn
}

const compared = (paths: Partial<ComparedOrders> = {}): ComparedOrders => ({
  clientId: 1,
  positions: [],
  orders: [],
  theirPositions: [],
  theirOrders: [],
  trades: { ours: [], theirs: [] },
  ...paths
})
const settled = (turn: Turn, look: ComparedOrders) => ({
  sentences: settleOrderDifferences(turn, orderDifferences(look)),
  breaks: turn.draft.written("reconBreaks").map(({ amount, context }) => [amount, context.pausesMoneyOut])
})
const there = reportOf(orderRow(7).context, 900, { qty: "0.1" })
const trade = { tradeId: 70, side: "BUY", qty: "0.1", price: "60000" } as const

describe("A2-103: positions, orders and trades", () => {
  it("equal values on both sides are no difference, whatever zeros follow", () => {
    const look = compared({
      positions: [position],
      theirPositions: [
        { symbol, netQty: "0.1" },
        { symbol: "ETH-USDC-PERP", netQty: "0.000" }
      ],
      orders: [orderRow(7)],
      theirOrders: [there, { ...there, id: 901, ref: "P-3" }],
      trades: { ours: [{ ...trade, qty: "0.1000", price: "60000.0" }], theirs: [trade] }
    })
    assert.deepStrictEqual(orderDifferences(look), [])
  })

  it("a position: a break of the difference at the last mark, with both figures, that pauses outgoing money", () => {
    const look = compared({ positions: [position], theirPositions: [{ symbol, netQty: "-0.05" }] })
    assert.deepStrictEqual(settled(turnOf({ positions: [position] }), look), {
      sentences: [`The position in ${symbol} is 0.1000 here and -0.05 at the venue.`],
      breaks: [[9_150_000_000n, true]]
    })
    // Another trade was booked in the meantime.
    assert.deepStrictEqual(settled(turnOf({ positions: [{ ...position, netQty: "0.2000" }] }), look).sentences, [])
  })

  it("a position that only the venue has counts against the service", () => {
    const look = compared({ theirPositions: [{ symbol, netQty: "0.5" }] })
    assert.deepStrictEqual(settled(turnOf({}), look).breaks, [[-30_500_000_000n, true]])
  })

  it("a difference whose value is unknown or zero: a break of the least amount, so that money is paused", () => {
    const theirPositions = [{ symbol: "ETH-USDC-PERP", netQty: "0.5" }]
    assert.deepStrictEqual(settled(turnOf({}), compared({ theirPositions })).breaks, [[1n, true]])
    const sold = { ours: [trade], theirs: [{ ...trade, side: "SELL" as const }] }
    assert.deepStrictEqual(settled(turnOf({}), compared({ trades: sold })).breaks, [[1n, true]])
    const order = { ...there, id: 902, ref: null, symbol: "ETH-USDC-PERP", price: null }
    assert.deepStrictEqual(settled(turnOf({}), compared({ theirOrders: [order] })).breaks, [[1n, false]])
  })

  it("a working order with other terms: a break of its rest that pauses nothing", () => {
    const order = orderRow(7)
    for (const change of [{ price: "1.0" }, { side: "SELL" }, { reduceOnly: true }, { tif: "IOC" }] as const) {
      const look = compared({ orders: [order], theirOrders: [{ ...there, ...change }] })
      const { sentences, breaks } = settled(turnOf({ orders: [order] }), look)
      assert.lengthOf(sentences, 1)
      assert.include(sentences[0], "Order 7 differs at the venue: the ")
      assert.deepStrictEqual(breaks, [[6_000_000_000n, false]])
    }
  })

  it("an order that works here alone, or with another rest: a break that pauses nothing", () => {
    const order = orderRow(7, "0.0400")
    const gone = compared({ orders: [order] })
    const [difference] = orderDifferences(gone)
    assert.strictEqual(difference?.orderId, 7)
    assert.deepStrictEqual(settled(turnOf({ orders: [order] }), gone), {
      sentences: ["Order 7 has 0.06 left here and does not work at the venue."],
      breaks: [[3_600_000_000n, false]]
    })
    const less = compared({ orders: [order], theirOrders: [{ ...there, filledQty: "0.05" }] })
    assert.deepStrictEqual(settled(turnOf({ orders: [order] }), less).sentences, [
      "Order 7 has 0.06 left here and has 0.05 left at the venue."
    ])
    assert.deepStrictEqual(settled(turnOf({}), gone), { sentences: [], breaks: [] })
  })

  it("an order that works at the venue alone: a break that pauses nothing, and is queried if it is ours", () => {
    const look = compared({ theirOrders: [there, { ...there, id: 902, ref: null, price: "50000" }] })
    assert.deepStrictEqual(
      orderDifferences(look).map(({ orderId }) => orderId),
      [7, null]
    )
    const { sentences, breaks } = settled(turnOf({}), look)
    assert.match(sentences[0] ?? "", /^The venue has order O-7 on BTC-USDC-PERP working with 0.1 left/)
    assert.deepStrictEqual(breaks, [
      [-6_000_000_000n, false],
      [-5_000_000_000n, false]
    ])
    // The event of this order is in flight.
    assert.deepStrictEqual(settled(turnOf({ orders: [orderRow(7)] }), compared({ theirOrders: [there] })).sentences, [])
  })

  it("a trade that one side lacks, or has with other values: a break of its value that pauses outgoing money", () => {
    const look = compared({
      trades: {
        ours: [trade, { ...trade, tradeId: 72 }],
        theirs: [
          { ...trade, qty: "0.2" },
          { ...trade, tradeId: 71, ref: "O-7" }
        ]
      }
    })
    assert.deepStrictEqual(
      orderDifferences(look).map(({ claim, orderId }) => [claim, orderId]),
      [
        ["differs:1:trade:70", null],
        ["differs:1:trade:72", null],
        ["differs:1:trade:71", 7]
      ]
    )
    const { sentences, breaks } = settled(turnOf({}), look)
    assert.strictEqual(sentences[0], "Trade 70 is BUY 0.1 at 60000 here and BUY 0.2 at 60000 at the venue.")
    assert.deepStrictEqual(breaks, [
      [-6_000_000_000n, true],
      [6_000_000_000n, true],
      [-6_000_000_000n, true]
    ])
  })

  it("a difference is claimed once its alarm is raised", () => {
    const look = compared({ theirPositions: [{ symbol, netQty: "0.5" }] })
    const turn = turnOf({})
    settleOrderDifferences(turn, orderDifferences(look))
    assert.deepStrictEqual(
      turn.draft.build(null, null).claims.map(({ name }) => name),
      [`differs:1:position:${symbol}:0:0.5:0`]
    )
  })
})

describe("A2-44: the trades that both sides know", () => {
  const fill = (tradeId: number, sequence: number, qty = "0.1"): VenueEvent => ({
    number: sequence,
    at: 1,
    fact: {
      type: "fill",
      account: "CL-1",
      sequence,
      order: there,
      fill: {
        ...trade,
        tradeId,
        qty,
        orderId: 900,
        ref: "O-7",
        account: "CL-1",
        symbol,
        liquidity: "TAKER",
        reason: null,
        at: 1
      }
    }
  })

  it("from the first event on all are known; fills of one identity are one trade", () => {
    const { trades, from } = venueTrades([fill(70, 1), fill(70, 2, "0.05"), fill(71, 3)], { after: 0, last: 3 })
    assert.deepStrictEqual(
      [trades.map(({ tradeId, qty }) => [tradeId, qty]), from],
      [
        [
          [70, "0.15"],
          [71, "0.1"]
        ],
        0
      ]
    )
  })

  it("from a later event on only those since the first seen trade are known; with a gap or an unreadable event none", () => {
    assert.strictEqual(venueTrades([fill(70, 11)], { after: 10, last: 11 }).from, 70)
    assert.strictEqual(venueTrades([], { after: 10, last: 10 }).from, Number.POSITIVE_INFINITY)
    assert.strictEqual(venueTrades([fill(70, 12)], { after: 10, last: 12 }).from, Number.POSITIVE_INFINITY)
    const { from } = venueTrades([fill(70, 1), { unreadable: "x" }], { after: 0, last: 2 })
    assert.strictEqual(from, Number.POSITIVE_INFINITY)
  })

  it("a trade that the venue no longer keeps is not missing there: its oldest events, or all of a quiet account", () => {
    const known = (events: ReadonlyArray<VenueEvent>) =>
      tradesKnownToBoth(bookedTrades([trade]), venueTrades(events, { after: 0, last: 2 }))
    assert.deepStrictEqual(known([]), { ours: [], theirs: [] })
    assert.deepStrictEqual(known([fill(71, 2)]), { ours: [], theirs: [] })
  })

  it("a trade that the venue has taken back is not compared any more, nor are the trades before it", () => {
    const bust = {
      number: 3,
      at: 1,
      fact: { type: "bust", account: "CL-1", sequence: 3, tradeId: 70, orderId: 900, reason: "r" }
    }
    const theirs = venueTrades([fill(70, 1), fill(71, 2), bust as VenueEvent], { after: 0, last: 3 })
    const known = tradesKnownToBoth(bookedTrades([{ ...trade, tradeId: 71 }, trade]), theirs)
    assert.deepStrictEqual(
      [known.ours.map(({ tradeId }) => tradeId), known.theirs.map(({ tradeId }) => tradeId)],
      [[71], [71]]
    )
  })

  it("of more trades than are read the newer half counts, whichever arrived late", () => {
    const newest = Array.from({ length: tradesCompared }, (_, n) => ({ ...trade, tradeId: 10_000 - n }))
    const late = newest.map((each, n) => (n === 3 ? { ...each, tradeId: 1 } : each))
    assert.strictEqual(bookedTrades(late).from, 10_001 - tradesCompared / 2)
    assert.strictEqual(bookedTrades(late.slice(1)).from, 0)
  })
})
