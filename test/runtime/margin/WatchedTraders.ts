/** TwoTraders whose clients get only those turns after a mark, and each second, that the service's RiskWatch requests. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { isWorking } from "../../../src/machines/order/Order.ts"
import { accountIn, recordedIn } from "../../../src/runtime/services/account/accountNow.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import { lossesToNotify, notifyLosses } from "../../../src/runtime/services/margin/lossNotices.ts"
import { watchedIn } from "../../../src/runtime/services/margin/watchedAccount.ts"
import type { TableName, Tables } from "../../../src/runtime/tables/Catalogue.ts"
import { view } from "../rfq/rfqTurns.ts"
import type { Trader } from "./Trader.ts"
import { TwoTraders } from "./TwoTraders.ts"
import { watchOn } from "./watchOn.ts"

export class WatchedTraders extends TwoTraders {
  private watched = this.started()
  /** Clients whose turn changed nothing. The index receives them again after a second. */
  private readonly restless = new Set<number>()

  /** A start reads the accounts again. */
  private started() {
    return Effect.runSync(
      watchOn({
        facts: () => this.facts,
        now: () => this.clock.now,
        stateOf: (subject) => this.traderOf(Number(subject.split(":")[1])).state,
        each: (_, day, take) => {
          for (const { state } of this.traders) {
            const account = watchedIn(state, day)
            if (account !== null && account.positions.length > 0) take(account)
          }
        },
        ordering: () => this.traders.filter(({ state }) => state.all("orders").some(isWorking)).map(({ row }) => row.id)
      })
    )
  }

  protected override committed(rows: Partial<Record<TableName, ReadonlyArray<object>>>): void {
    for (const [table, some] of Object.entries(rows)) {
      for (const row of some) this.watched.commit(table as TableName, row as Tables[TableName])
    }
  }

  protected override judged(cause: { readonly mark: string } | "start" | "second"): void {
    if (cause === "start") {
      this.watched = this.started()
      for (const symbol of this.facts.marks.keys()) this.watched.mark(symbol, this.markOf(symbol))
    } else if (cause === "second") {
      const { watch } = this.watched
      watch.sweep()
      for (const id of this.restless) Effect.runSync(watch.reread(id))
      this.restless.clear()
      // The monitor checks accounts in a close-out each second.
      for (const trader of this.traders) if (recordedIn(trader.state) === "CLOSE_OUT") this.judge(trader)
    } else this.watched.mark(cause.mark, this.markOf(cause.mark))
    this.follow()
  }

  override drift(symbol: string, prices: ReadonlyArray<string>): void {
    for (const price of prices) {
      super.drift(symbol, [price])
      this.judged("second")
      this.settle()
    }
  }

  override settle(): void {
    do super.settle()
    while (this.follow())
  }

  /** Runs the turns that the watch requests. False: it requests none. */
  private follow(): boolean {
    const { watch } = this.watched
    for (let passes = 0; ; passes++) {
      assert.isBelow(passes, 100, "the watch does not come to rest")
      Effect.runSync(watch.catchUp)
      const due = new Set([...watch.index.takeDue(8).map(({ clientId }) => clientId), ...watch.takeLacking()])
      if (due.size === 0) return passes > 0
      for (const id of due) this.judge(this.traderOf(id))
    }
  }

  private judge(trader: Trader): void {
    const { watch } = this.watched
    this.turn(trader, (turn) => {
      const { risk } = accountIn(turn.state, turn.facts)
      const losses = lossesToNotify(turn.state, { client: trader.row, risk, now: turn.now })
      if (losses.length > 0) notifyLosses(turn, instanceOf(trader.row, view), losses)
    })
    if (!watch.isTouched(trader.row.id)) this.restless.add(trader.row.id)
  }

  private traderOf(id: number): Trader {
    return this.traders[id - 1] ?? assert.fail(`client ${id}`)
  }
}
