/**
 * An episode is shown with its own orders, however many orders its client has placed since (operator surface, closeout
 * show).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { closeOutInput } from "../../../src/machines/margin/closeOutSamples.ts"
import { noFacts } from "../../../src/machines/market/Facts.ts"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { ActorHost } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { defaultSettings, Settings } from "../../../src/runtime/Settings.ts"
import { CloseOutReads } from "../../../src/runtime/services/margin/CloseOutReads.ts"
import { MarketFeed } from "../../../src/runtime/services/market/MarketFeed.ts"
import { MarketHalts } from "../../../src/runtime/services/market/MarketHalts.ts"
import { VenueLink } from "../../../src/runtime/services/venue/VenueLink.ts"
import { clients } from "../rfq/rfqTurns.ts"

const lastOrderId = 40
const context = { ...closeOutInput, endedAt: 9_000, orders: 2, contracts: 0, lastOrderId, tried: {}, widenedBps: 0 }
const episode = {
  id: closeOutInput.closeOutId,
  partnerId: 1,
  clientId: 1,
  startedAt: closeOutInput.startedAt,
  endedAt: 9_000,
  state: "DONE",
  version: "3",
  context: { ...context, cancelUntil: null, tornAt: null, writtenOff: "0.000000" }
}

const order = (id: number) => ({
  id,
  state: "FILLED",
  context: {
    symbol: "BTC-USDC-PERP",
    side: "SELL",
    qty: "0.1000",
    filledQty: "0.1000",
    priceDecimals: 1,
    reject: null,
    createdAt: 8_000,
    note: id === 38 || id === lastOrderId ? `CO-${episode.id}` : null
  }
})
const stored: Readonly<Record<string, ReadonlyArray<{ readonly id: number }>>> = {
  closeOuts: [episode],
  orders: Array.from({ length: 5_000 }, (_, at) => order(at + 30))
}

const reads = Layer.mock(RowReads, {
  page: (table, _conditions, { limit, before = Number.MAX_SAFE_INTEGER }) =>
    Effect.succeed(
      (stored[table] ?? [])
        .filter(({ id }) => id < before)
        .toSorted((one, other) => other.id - one.id)
        .slice(0, limit) as never
    )
})
const state = new SubjectState("client:1", { token: 1, rows: [{ table: "clients", row: clients }] })
const host = Layer.mock(ActorHost, {
  read: (_subject, look) => Effect.sync(() => look(state, noFacts)),
  onCommitted: () => {},
  onDecided: () => {},
  onCallEnded: () => {},
  facts: () => noFacts,
  pressed: () => false,
  stats: () => ({ resident: 0, waiting: 0 })
})
const layer = CloseOutReads.layer.pipe(
  Layer.provide([
    reads,
    host,
    BusinessClock.layer(0),
    MarketFeed.none,
    Layer.mock(MarketHalts, { active: () => [], list: () => assert.fail("nobody lists markets") }),
    VenueLink.layer
  ]),
  Layer.provide(Settings.layer(defaultSettings))
)

describe("closeout show", () => {
  it.effect("the orders of an episode that thousands of orders have followed", () =>
    Effect.gen(function* () {
      const shown = yield* (yield* CloseOutReads).show(`CO-${episode.id}`)
      assert.isTrue(shown.ok)
      if (shown.ok) {
        assert.deepStrictEqual(
          shown.value.closingOrders.map(({ orderId }) => orderId),
          [38, lastOrderId]
        )
      }
    }).pipe(Effect.provide(layer))
  )
})
