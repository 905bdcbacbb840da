/** The risk index is fed with the newest mark, and with what is committed while it is read at the start (D23). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Facts } from "../../../src/machines/market/Facts.ts"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { ActorHost } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { ExposureReads } from "../../../src/runtime/ports/ExposureReads.ts"
import { MarketFeed } from "../../../src/runtime/services/market/MarketFeed.ts"
import { MarketMirror } from "../../../src/runtime/services/market/MarketMirror.ts"
import type { WatchedAccount } from "../../../src/runtime/services/margin/RiskIndex.ts"
import { RiskWatch } from "../../../src/runtime/services/margin/RiskWatch.ts"
import type { TableName, Tables } from "../../../src/runtime/store/Catalogue.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { sampleRows } from "../engine/fixtures.ts"
import { accountOf, marketsAt, perp } from "../order/leverageTurns.ts"
import { clients } from "../rfq/rfqTurns.ts"

const usdc = 1_000_000n

/** A long of one bought at `entry`, whose client was told of all its losses. */
const account = (clientId: number, { cash = 15n, entry = "100" } = {}): WatchedAccount => ({
  clientId,
  categorization: "RETAIL",
  cash: cash * usdc,
  premiums: 0n,
  recorded: "NORMAL",
  positions: [{ symbol: perp, netQty: "1", avgEntry: entry, chosen: 10, told: 1_000_000 }]
})

interface Start {
  readonly stored: ReadonlyArray<WatchedAccount>
  /** Called when the stored accounts are read, and before they are taken. */
  readonly whileReading?: (commit: <T extends TableName>(table: T, row: Tables[T]) => void) => void
  readonly state?: () => SubjectState
  /** Clients with opening orders at the start. */
  readonly opening?: ReadonlyArray<number>
  readonly facts?: () => Facts
}

const atHundred = marketsAt({ [perp]: { price: "100" } })

const started = ({ stored, whileReading, state, opening = [], facts = () => atHundred }: Start) => {
  const heard = new Map<TableName, (row: never) => void>()
  const commit = <T extends TableName>(table: T, row: Tables[T]) => heard.get(table)?.(row as never)
  const mirror = new MarketMirror(atHundred.terms)
  let say: Parameters<MarketMirror["onMark"]>[0] = () => assert.fail("nobody listens to marks")
  mirror.onMark = (listener) => void (say = listener)
  const host = Layer.mock(ActorHost, {
    onCommitted: (table, listener) => void heard.set(table, listener),
    readNow: (_subject, look) => Effect.sync(() => look(state?.() ?? assert.fail("nothing is read"), facts())),
    onCallEnded: () => {},
    onDecided: () => {},
    facts,
    pressed: () => false,
    stats: () => ({ resident: 0, waiting: 0 })
  })
  const reads = Layer.succeed(
    ExposureReads,
    ExposureReads.of({
      opening: (take) => Effect.sync(() => opening.forEach(take)),
      each: (_day, take) =>
        Effect.sync(() => {
          whileReading?.(commit)
          stored.forEach(take)
        })
    })
  )
  const feed = Layer.succeed(MarketFeed, {
    mirror,
    facts,
    standing: () => "live"
  } as unknown as MarketFeed["Service"])
  const mark = (price: string) => say(perp, { price: new MoneyDecimal(price), at: 0, places: 2, current: true })
  return Effect.map(
    Effect.provide(
      Effect.gen(function* () {
        const watch = yield* RiskWatch
        yield* watch.begin
        return watch
      }),
      RiskWatch.layer.pipe(Layer.provide([host, reads, feed, BusinessClock.layer(0)]))
    ),
    (watch) => ({ watch, mark, commit })
  )
}

describe("what the risk index is fed with", () => {
  it.effect("a mark with more accounts than are gone through at once does not come back over a later one", () =>
    Effect.gen(function* () {
      const { watch, mark } = yield* started({ stored: Array.from({ length: 3_000 }, (_, at) => account(at + 1)) })
      mark("151")
      mark("120")
      yield* watch.catchUp
      assert.strictEqual(watch.index.waiting, 0)
      // At 120 it has lost all that it has, at 151 it is well.
      watch.index.put(account(9_000, { cash: 5n, entry: "140" }))
      assert.deepStrictEqual(
        watch.index.takeDue(2).map(({ clientId }) => clientId),
        [9_000]
      )
    })
  )

  it.effect("an account of which something is committed while it is read is read again", () =>
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

  it.effect("an account that can't be read ends nothing, and is tried again", () =>
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
          opening: [1],
          state: () => resting,
          facts: () => facts
        })
        watch.lookAround()
        yield* watch.catchUp
        const judgedAt = (price: string) =>
          Effect.gen(function* () {
            facts = marketsAt({ [perp]: { price } })
            mark(price)
            yield* watch.catchUp
            return watch.takeLacking()
          })
        // Ten thousand a bitcoin are covered, less commission.
        for (let price = 59_000; price > 50_100; price -= 1_000)
          assert.deepStrictEqual(yield* judgedAt(String(price)), [])
        assert.deepStrictEqual(yield* judgedAt("49900"), [1])
        assert.deepStrictEqual(yield* judgedAt("49800"), [], "a turn is asked for once")
        watch.lookAround()
        yield* watch.catchUp
        assert.deepStrictEqual(watch.takeLacking(), [1], "and again a second later")
      })
  )
})
