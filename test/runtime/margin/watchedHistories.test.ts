/**
 * Random histories of an account's orders and of marks. After each commit and mark, the stored figures are those that fresh
 * rows give, and the watch has named the account wherever fresh rows need a change of its orders (F3, F13).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { OrderEvent, OrderInput } from "../../../src/machines/order/Order.ts"
import { isWorking } from "../../../src/machines/order/Order.ts"
import { applyFill } from "../../../src/machines/order/positionRules.ts"
import type { TableName, Tables } from "../../../src/runtime/tables/Catalogue.ts"
import type { OrderRow, PositionRow } from "../../../src/runtime/tables/order.ts"
import { nextRow } from "../../../src/runtime/effects/machineRow.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { accountIn } from "../../../src/runtime/services/account/accountNow.ts"
import {
  boundChanges,
  type BoundedClient,
  boundedIn,
  orderRanges
} from "../../../src/runtime/services/trading/order/orderBounds.ts"
import { SeededRandom } from "../../../simulator/partner/SeededRandom.ts"
import { accountOf, gold, marketsAt, perp, positionRow } from "../order/leverageTurns.ts"
import { clients } from "../rfq/rfqTurns.ts"
import { type Commit, watchOn } from "./watchOn.ts"

const symbols = [perp, gold] as const
type Symbol = (typeof symbols)[number]
const watchedTables = ["clients", "balances", "positions", "orders"] as const

class History {
  state = accountOf({ cash: "500" })
  private readonly prices: Record<Symbol, number> = { [perp]: 60_000, [gold]: 4_000 }
  facts = this.marks()
  private readonly random: SeededRandom
  private orders = 0
  private trades = 0

  constructor(seed: number) {
    this.random = new SeededRandom(seed)
  }

  private marks() {
    return marketsAt(Object.fromEntries(symbols.map((symbol) => [symbol, { price: this.prices[symbol].toFixed(1) }])))
  }

  private get cash(): bigint {
    return this.state.one("balances")?.cash ?? 0n
  }

  /** A mark up to 3 percent away, and at times 8. */
  drift(): readonly [Symbol, string] {
    const symbol = this.random.pick(symbols)
    const share = this.random.chance(0.1) ? 0.08 : 0.03
    this.prices[symbol] *= 1 + share * (2 * this.random.next() - 1)
    this.facts = this.marks()
    return [symbol, this.prices[symbol].toFixed(1)]
  }

  /** The next rows of one commit; empty: the drawn step does not apply. */
  step(): ReadonlyArray<readonly [TableName, object]> {
    const working = this.state.all("orders").filter(isWorking)
    const row = working.length === 0 ? undefined : this.random.pick(working)
    if (row === undefined || (working.length < 6 && this.random.chance(0.4))) return [["orders", this.placed()]]
    const at = 50
    const { qty, amends, cancels } = row.context
    if (row.state === "SENT" && this.random.chance(0.7))
      return this.of(row, { type: "ACKED", at, venueOrderId: row.id })
    switch (this.random.between(0, 8)) {
      case 0:
        return this.filled(row)
      case 1:
        return this.moved()
      case 2:
        return this.of(row, { type: "ENDED", at, how: "CANCELLED", reason: null })
      case 3:
        return this.of(row, { type: "CANCEL", at, attempt: cancels + 1, note: null })
      case 4:
        return this.of(row, { type: "CANCEL_REFUSED", at, reason: "r", askAgainAt: null })
      case 5:
        return this.of(row, { type: "TRIGGERED", at })
      case 6: {
        const larger = (Number(qty) * 1.5).toFixed(4)
        return this.of(row, { type: "AMEND", at, attempt: amends + 1, qty: larger })
      }
      case 7:
        return row.context.amending === null ? [] : this.of(row, { type: "AMENDED", at, qty: row.context.amending.qty })
      default:
        return this.moved()
    }
  }

  private of(row: OrderRow, event: OrderEvent): ReadonlyArray<readonly [TableName, object]> {
    const next = nextRow("orders", row, event)
    return next === null ? [] : [["orders", next.row]]
  }

  private placed(): OrderRow {
    const symbol = this.random.pick(symbols)
    const away = 0.06 * (2 * this.random.next() - 1)
    const price = (this.prices[symbol] * (1 + away)).toFixed(1)
    const side = this.random.pick(["BUY", "SELL"] as const)
    // At its price the order costs a tenth of the cash or more, so that a few orders and marks exhaust it.
    const cost = (Number(this.cash) / 1e6) * (0.1 + 0.6 * this.random.next())
    const qty = (Math.ceil((1e4 * cost) / (Number(price) * Math.max(Math.abs(away), 0.02))) / 1e4).toFixed(4)
    const reduceOnly = this.random.chance(0.4)
    const common = { symbol, side, qty, reduceOnly } satisfies Partial<OrderInput>
    const trigger = { source: "MARK", price, direction: "AT_OR_BELOW", limitPrice: null } as const
    const input: Partial<OrderInput> = this.random.chance(0.3)
      ? {
          ...common,
          type: "STOP_MARKET",
          price: null,
          venuePrice: null,
          boundBps: this.random.pick([900, 1_000]),
          trigger
        }
      : { ...common, type: "LIMIT", price, venuePrice: price, boundBps: null, trigger: null }
    const id = ++this.orders
    const [made] = accountOf({ cash: "0", orders: [input] }).all("orders")
    if (made === undefined) throw new Error("no order was made")
    return { ...made, id, state: "SENT", context: { ...made.context, orderId: id } }
  }

  private filled(row: OrderRow): ReadonlyArray<readonly [TableName, object]> {
    const { context, symbol } = row
    const left = Number(context.qty) - Number(context.filledQty)
    const complete = this.random.chance(0.5)
    const qty = complete ? left.toFixed(4) : (left / 2).toFixed(4)
    if (Number(qty) === 0 || Number(qty) * this.prices[symbol as Symbol] > Number(this.cash) / 4e5) return []
    const filledQty = (Number(context.filledQty) + Number(qty)).toFixed(4)
    const totals = { filledQty, consumed: "0", released: "0", quoteTotal: "0" }
    const money = { pnl: null, commission: "0", quote: "USDC", spot: null } as const
    const event = { type: "FILL", at: 50, tradeId: ++this.trades, totals, complete, money } as const
    const held =
      this.state.all("positions").find((each) => each.symbol === symbol) ??
      positionRow(symbol === perp ? 1 : 2, { symbol, netQty: "0", avgEntry: "0" })
    const { position: after } = applyFill(held, {
      side: context.side,
      qty,
      price: this.prices[symbol as Symbol].toFixed(1)
    })
    const next: PositionRow = { ...held, ...after, state: Number(after.netQty) === 0 ? "FLAT" : "OPEN" }
    return [...this.of(row, event), ["positions", next], ...this.paid(after.realizedPnl - held.realizedPnl)]
  }

  private paid(more: bigint): ReadonlyArray<readonly [TableName, object]> {
    const balance = this.state.one("balances")
    return balance === undefined || more === 0n ? [] : [["balances", { ...balance, cash: balance.cash + more }]]
  }

  /** A payment in or out of up to half of the cash. */
  private moved(): ReadonlyArray<readonly [TableName, object]> {
    const { cash } = this
    if (cash < 20_000_000n) return this.paid(200_000_000n - cash)
    return this.paid((cash * BigInt(this.random.between(-50, 50))) / 100n)
  }

  /** The account of fresh copies of its rows, with this much more cash. */
  fresh(more = 0n): BoundedClient {
    const rows = watchedTables.flatMap((table) =>
      structuredClone(this.state.all(table)).map((row) => ({
        table,
        row:
          table === "balances" ? { ...(row as Tables["balances"]), cash: (row as Tables["balances"]).cash + more } : row
      }))
    )
    const state = new SubjectState("client:1", { token: 1, rows: rows as never })
    return boundedIn(state, this.facts, state.one("clients") ?? clients)
  }

  /** The share of the value by which the equity may fall short before the watch names the account, and a half more. */
  get slack(): bigint {
    const qtyOf = (symbol: string): number =>
      [
        ...this.state
          .all("orders")
          .filter(isWorking)
          .map((row) => [row.symbol, row.context.qty] as const),
        ...this.state.all("positions").map((row) => [row.symbol, row.netQty] as const)
      ].reduce((sum, [of, qty]) => (of === symbol ? sum + Math.abs(Number(qty)) : sum), 0)
    return BigInt(Math.ceil(symbols.reduce((sum, symbol) => sum + qtyOf(symbol) * this.prices[symbol], 0) * 165))
  }

  commit(rows: ReadonlyArray<readonly [TableName, object]>, tell: Commit): void {
    const draft = new CommitBuilder()
    for (const [table, row] of rows) draft.put(table, row as never)
    this.state.adopt(draft.build(null, null))
    for (const [table, row] of rows) tell(table, row as never)
  }
}

const needsChange = (at: BoundedClient): boolean => orderRanges(at) === null

const play = (seed: number, steps: number) =>
  Effect.gen(function* () {
    const history = new History(seed)
    const { watch, mark, commit } = yield* watchOn({
      facts: () => history.facts,
      stateOf: () => history.state,
      each: () => {},
      ordering: () => []
    })
    let named = 0
    for (let step = 0; step < steps; step++) {
      if (step % 2 === 0) history.commit(history.step(), commit)
      else mark(...history.drift())
      yield* watch.catchUp
      const fresh = history.fresh()
      assert.deepStrictEqual(
        accountIn(history.state, history.facts).risk,
        fresh.account.risk,
        `seed ${seed}, step ${step}`
      )
      const isNamed = watch.takeLacking().includes(1)
      const isMissed = !isNamed && needsChange(fresh) && needsChange(history.fresh(history.slack))
      assert.isFalse(isMissed, `not named: seed ${seed}, step ${step}`)
      if (!isNamed) continue
      named++
      // The monitor's turn.
      const client = history.state.one("clients") ?? clients
      const { cancel, amend } = boundChanges(boundedIn(history.state, history.facts, client))
      for (const row of [...cancel, ...amend.map(({ row }) => row)]) {
        const cancelled = nextRow("orders", row, {
          type: "CANCEL",
          at: 50,
          attempt: row.context.cancels + 1,
          note: null
        })
        if (cancelled !== null) history.commit([["orders", cancelled.row]], commit)
      }
      yield* watch.catchUp
    }
    return named
  })

describe("F13: the watch of an account's orders", () => {
  it.effect("names the account wherever current rows need a change of its orders", () =>
    Effect.gen(function* () {
      let named = 0
      for (let seed = 1; seed <= 12; seed++) named += yield* play(seed, 60)
      assert.isAbove(named, 20)
    })
  )
})
