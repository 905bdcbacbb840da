/** The risk index receives the newest mark, and the commits during its read at the start (D23). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Facts } from "../../../src/machines/market/Facts.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import type { WatchedAccount } from "../../../src/runtime/services/margin/RiskIndex.ts"
import type { OrderRow } from "../../../src/runtime/tables/order.ts"
import { sampleRows } from "../engine/fixtures.ts"
import { accountOf, marketsAt, perp } from "../order/leverageTurns.ts"
import { clients } from "../rfq/rfqTurns.ts"
import { type Commit, watchOn } from "./watchOn.ts"

const usdc = 1_000_000n

/** A long of one bought at `entry`, whose client was notified of all its losses. */
const account = (clientId: number, { cash = 15n, entry = "100" } = {}): WatchedAccount => ({
  clientId,
  categorization: "RETAIL",
  cash: cash * usdc,
  premiums: 0n,
  recorded: "NORMAL",
  positions: [{ symbol: perp, netQty: "1", avgEntry: entry, chosen: 10, notified: 1_000_000 }]
})

interface Start {
  readonly stored: ReadonlyArray<WatchedAccount>
  /** Called after the stored accounts are read, and before they are used. */
  readonly whileReading?: (commit: Commit) => void
  readonly state?: () => SubjectState
  /** Clients with perpetual orders at the start. */
  readonly ordering?: ReadonlyArray<number>
  readonly facts?: () => Facts
}

const atHundred = marketsAt({ [perp]: { price: "100" } })

const started = ({ stored, whileReading, state, ordering = [], facts = () => atHundred }: Start) =>
  Effect.map(
    watchOn({
      facts,
      stateOf: () => state?.() ?? assert.fail("nothing is read"),
      each: (commit, _day, take) => {
        whileReading?.(commit)
        stored.forEach(take)
      },
      ordering: () => ordering
    }),
    ({ watch, mark, commit }) => ({ watch, commit, mark: (price: string) => mark(perp, price) })
  )

describe("accounts that the risk index receives", () => {
  it.effect(
    "an older mark does not come back over a later one, although it concerns more accounts than one pass reads",
    () =>
      Effect.gen(function* () {
        const { watch, mark } = yield* started({ stored: Array.from({ length: 3_000 }, (_, at) => account(at + 1)) })
        mark("151")
        mark("120")
        yield* watch.catchUp
        assert.strictEqual(watch.index.waiting, 0)
        // At 120 it has lost all its money, at 151 it has recovered.
        watch.index.put(account(9_000, { cash: 5n, entry: "140" }))
        assert.deepStrictEqual(
          watch.index.takeDue(2).map(({ clientId }) => clientId),
          [9_000]
        )
      })
  )

  it.effect("an account with a commit during its read is read again", () =>
    Effect.gen(function* () {
      const balance = { ...sampleRows(1).balances, currency: "USDC" as const, cash: 0n }
      const position = { ...sampleRows(1).positions, symbol: perp, netQty: "1", avgEntry: "100" }
      const rows = [
        { table: "clients", row: clients },
        { table: "balances", row: balance },
        { table: "positions", row: position }
      ] as const
      const { watch } = yield* started({
        stored: [account(1)],
        whileReading: (commit) => commit("balances", balance),
        state: () => new SubjectState("client:1", { token: 1, rows })
      })
      assert.strictEqual(watch.index.waiting, 0)
      yield* watch.catchUp
      assert.deepStrictEqual(
        watch.index.takeDue(2).map(({ clientId }) => clientId),
        [1]
      )
    })
  )

  it.effect("an account that can't be read does not end the watch, and is read again", () =>
    Effect.gen(function* () {
      const { watch, commit } = yield* started({
        stored: [account(1)],
        state: () => {
          throw new Error("no such row")
        }
      })
      commit("balances", { ...sampleRows(1).balances, currency: "USDC" as const })
      yield* watch.catchUp
      assert.isTrue(watch.isTouched(1))
    })
  )

  it.effect(
    "F13: an account with an order and no position is found when a mark leaves the range that its cash covers",
    () =>
      Effect.gen(function* () {
        const resting = accountOf({
          cash: "1000",
          orders: [{ side: "BUY", price: "60000.0", venuePrice: "60000.0", qty: "0.1000" }]
        })
        let facts = marketsAt({ [perp]: { price: "60000" } })
        const { watch, mark } = yield* started({
          stored: [],
          ordering: [1],
          state: () => resting,
          facts: () => facts
        })
        watch.sweep()
        yield* watch.catchUp
        const judgedAt = (price: string) =>
          Effect.gen(function* () {
            facts = marketsAt({ [perp]: { price } })
            mark(price)
            yield* watch.catchUp
            return watch.takeLacking()
          })
        // The equity covers a loss of ten thousand for each bitcoin, less commission.
        for (let price = 59_000; price > 50_100; price -= 1_000)
          assert.deepStrictEqual(yield* judgedAt(String(price)), [])
        assert.deepStrictEqual(yield* judgedAt("49900"), [1])
        assert.deepStrictEqual(yield* judgedAt("49800"), [], "a turn is asked for once")
        watch.sweep()
        yield* watch.catchUp
        assert.deepStrictEqual(watch.takeLacking(), [1], "and again a second later")
      })
  )

  it.effect("F13: a commit that may raise the cost of an order leads to a read; the venue's acceptance does not", () =>
    Effect.gen(function* () {
      const empty = accountOf({ cash: "1000" })
      const { watch, commit } = yield* started({ stored: [], state: () => empty, facts: () => marketsAt({}) })
      const sent = accountOf({ cash: "1000", orders: [{ side: "BUY", price: "60000.0", qty: "0.1000" }] }).all(
        "orders"
      )[0]
      if (sent === undefined) return assert.fail("no order")
      const isReadAfter = (state: OrderRow["state"], context: Partial<OrderRow["context"]> = {}) =>
        Effect.gen(function* () {
          commit("orders", { ...sent, state, context: { ...sent.context, ...context } })
          const isRead = watch.isTouched(1)
          yield* watch.catchUp
          return isRead
        })
      assert.isTrue(yield* isReadAfter("SENT"))
      assert.isFalse(yield* isReadAfter("ACKED"))
      for (const changed of [{ cancels: 1 }, { amends: 1 }, { filledQty: "0.0500" }, { triggeredAt: 5 }])
        assert.isTrue(yield* isReadAfter("ACKED", changed), JSON.stringify(changed))
      for (const state of ["PARTIAL", "PENDING_TRIGGER"] as const) assert.isTrue(yield* isReadAfter(state), state)
      for (const state of ["PENDING_CANCEL", "CANCELLED", "FILLED", "REJECTED"] as const)
        assert.isFalse(yield* isReadAfter(state), state)
    })
  )
})
