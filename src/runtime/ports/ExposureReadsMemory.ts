/**
 * Accounts with open positions in the memory store, for deterministic simulation: the guarantees of ExposureReads without SQL.
 */
import { Effect, Layer } from "effect"
import { isWorking } from "../../machines/order/Order.ts"
import type { MemoryStore } from "../engine/journal/MemoryStore.ts"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import type { ExposedAccount, ExposedPosition } from "../store/reads/exposureReads.ts"
import type { ClientRow } from "../tables/client.ts"
import type { PositionRow } from "../tables/order.ts"
import { ExposureReads } from "./ExposureReads.ts"

export interface ExposureReadsMemoryOptions {
  readonly store: MemoryStore
  /** True while the store is unreachable; called at each read. */
  readonly away?: () => boolean
}

export const ExposureReadsMemory = {
  layer: ({ store, away }: ExposureReadsMemoryOptions): Layer.Layer<ExposureReads> =>
    Layer.succeed(
      ExposureReads,
      ExposureReads.of({
        ordering: (take) =>
          Effect.suspend(() => {
            if (away?.() === true) return Effect.fail(new Unavailable({ unknown: false }))
            const working = [...store.rows("orders")].filter((row) => isWorking(row) && row.context.family === "PERP")
            new Set(working.map(({ clientId }) => clientId)).forEach(take)
            return Effect.void
          }),
        each: (day, take) =>
          Effect.suspend(() => {
            if (away?.() === true) return Effect.fail(new Unavailable({ unknown: false }))
            const open = Map.groupBy(
              [...store.rows("positions")].filter(({ state }) => state === "OPEN"),
              ({ clientId }) => clientId
            )
            for (const client of store.rows("clients")) {
              const positions = open.get(client.id)
              if (positions !== undefined) take(accountOf(store, client, { positions, day }))
            }
            return Effect.void
          })
      })
    )
}

interface Held {
  readonly positions: ReadonlyArray<PositionRow>
  readonly day: number
}

const accountOf = (store: MemoryStore, { id, categorization }: ClientRow, { positions, day }: Held): ExposedAccount => {
  const cash = [...store.rows("balances")].find(({ clientId, currency }) => clientId === id && currency === "USDC")
  const contracts = [...store.rows("barrierContracts")].filter((row) => row.clientId === id && row.state === "OPEN")
  return {
    clientId: id,
    categorization,
    cash: cash?.cash ?? 0n,
    premiums: contracts.reduce((sum, { amount }) => sum + amount, 0n),
    recorded: [...store.rows("riskMonitors")].find(({ clientId }) => clientId === id)?.state ?? "NORMAL",
    positions: positions.map((row) => positionOf(store, row, day))
  }
}

const positionOf = (
  store: MemoryStore,
  { clientId, symbol, netQty, avgEntry, openedAt }: PositionRow,
  day: number
): ExposedPosition => {
  const isOf = (row: { readonly clientId: number; readonly symbol: string }): boolean =>
    row.clientId === clientId && row.symbol === symbol
  const notice = [...store.rows("lossNotices")].find(isOf)
  return {
    symbol,
    netQty,
    avgEntry,
    chosen: [...store.rows("leverages")].find(isOf)?.leverage ?? null,
    notified: notice !== undefined && notice.day === day && notice.openedAt === openedAt ? notice.step : 0
  }
}
