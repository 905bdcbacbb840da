/**
 * A projection of the recorded risk states of all accounts. It keeps only states other than NORMAL, because a mark
 * alone can move those accounts. Client lists show them, and the risk monitor follows them (D23).
 */
import { Context, Effect, Layer } from "effect"
import type { RiskState } from "../../../machines/margin/accountRisk.ts"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import type { RiskMonitorRow } from "../../tables/margin.ts"
import { subscribe } from "../../subscriptions.ts"

const pageLength = 1_000

export class RiskStates extends Context.Service<
  RiskStates,
  {
    of(clientId: number): RiskState
    /** The ids of the clients whose accounts are not NORMAL. */
    watched(): ReadonlyArray<number>
  }
>()("brokerage/runtime/services/account/RiskStates") {
  static readonly layer = Layer.effect(
    RiskStates,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const stored = yield* RowReads
      const states = new Map<number, RiskState>()
      const take = ({ clientId, state }: RiskMonitorRow): void => {
        if (state === "NORMAL") states.delete(clientId)
        else states.set(clientId, state)
      }
      subscribe(host, "RiskStates", { riskMonitors: take })
      for (const state of ["MARGIN_CALL", "CLOSE_OUT"] as const) {
        for (let before: number | undefined; ;) {
          const query = { limit: pageLength, ...(before === undefined ? {} : { before }) }
          const rows = yield* Effect.orDie(stored.page("riskMonitors", [{ column: "state", value: state }], query))
          rows.forEach(take)
          before = rows.at(-1)?.clientId
          if (rows.length < pageLength) break
        }
      }
      return RiskStates.of({
        of: (clientId) => states.get(clientId) ?? "NORMAL",
        watched: () => [...states.keys()]
      })
    })
  )
}
