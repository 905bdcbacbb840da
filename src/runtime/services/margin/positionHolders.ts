/** The accounts with open positions, a live view: whom marks of perpetuals can move (F9, A2-89). */
import { Effect } from "effect"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import type { PositionRow } from "../../store/tables/order.ts"

const pageLength = 1_000

/** Answers them as they are now. */
export const positionHolders: Effect.Effect<() => Iterable<number>, never, ActorHost | RowReads> = Effect.gen(
  function* () {
    const host = yield* ActorHost
    const stored = yield* RowReads
    const open = new Map<number, Set<string>>()
    const take = ({ clientId, symbol, state }: PositionRow): void => {
      const symbols = open.get(clientId)
      if (state === "OPEN") {
        if (symbols === undefined) open.set(clientId, new Set([symbol]))
        else symbols.add(symbol)
      } else if (symbols?.delete(symbol) === true && symbols.size === 0) open.delete(clientId)
    }
    // Before the pages are read: one that is closed meanwhile may stay, and is looked at in vain.
    host.onCommitted("positions", take)
    for (let before: number | undefined; ;) {
      const query = { limit: pageLength, ...(before === undefined ? {} : { before }) }
      const rows = yield* Effect.orDie(stored.page("positions", [{ column: "state", value: "OPEN" }], query))
      rows.forEach(take)
      before = rows.at(-1)?.id
      if (rows.length < pageLength) return () => open.keys()
    }
  }
)
