/**
 * Orders that are out of sync: the venue reports more fills than are booked, or an end that is not booked, or that an
 * order works which has ended here. `OrderResync` queries them by ref. So no trade is inferred from a quantity, or from
 * a report that may be outdated (A2-96).
 */
import { Context, Latch, Layer } from "effect"
import { isWorking } from "../../../machines/order/Order.ts"
import { MoneyDecimal } from "../../../machines/shared/Money.ts"
import type { OrderRow } from "../../tables/order.ts"

type Reported = Pick<OrderRow, "id" | "state" | "context">

export interface OutOfSyncOrder {
  readonly clientId: number
  readonly orderId: number
  /** The filled quantity at the venue. */
  readonly filledQty: string
  /** True: the order has ended at the venue. */
  readonly ended: boolean
  /** True: the order had ended here before the query, so the venue's answer is newer than that end. */
  readonly wasOver: boolean
}

export class OutOfSync extends Context.Service<
  OutOfSync,
  {
    add(order: OutOfSyncOrder): void
    /** Requests a query of all working orders, because their events may be lost. */
    addAll(): void
    /** The report that puts this order out of sync, if the row still lacks its data; undefined: there is none. */
    of(row: Reported): OutOfSyncOrder | undefined
    /** Removes an order after its query. */
    settled(orderId: number): void
    /** Takes all orders. `everything`: every working order must be queried too. */
    take(): { readonly everything: boolean; readonly orders: ReadonlyArray<OutOfSyncOrder> }
    /** Open while orders wait for a query. */
    readonly some: Latch.Latch
  }
>()("brokerage/runtime/services/venue/OutOfSync") {
  static readonly layer = Layer.sync(OutOfSync, () => OutOfSync.of(outOfSyncOrders()))
}

/** The out-of-sync orders of one process. */
export const outOfSyncOrders = (): OutOfSync["Service"] => {
  /** Orders that wait for a query, or are being queried. */
  const orders = new Map<number, OutOfSyncOrder>()
  const waiting = new Set<number>()
  const some = Latch.makeUnsafe(false)
  let everything = false
  return {
    some,
    add: (order) => {
      orders.set(order.orderId, order)
      waiting.add(order.orderId)
      some.openUnsafe()
    },
    addAll: () => {
      everything = true
      some.openUnsafe()
    },
    of: (row) => {
      const order = orders.get(row.id)
      return order === undefined || hasCaughtUp(row, order) ? undefined : order
    },
    settled: (orderId) => {
      if (!waiting.has(orderId)) orders.delete(orderId)
    },
    take: () => {
      const found = [...waiting].flatMap((orderId) => orders.get(orderId) ?? [])
      const taken = { everything, orders: found }
      everything = false
      waiting.clear()
      some.closeUnsafe()
      return taken
    }
  }
}

/** Whether the row lacks a trade or an end that the report contains. */
const isBehind = (row: Reported, { filledQty, ended }: OutOfSyncOrder): boolean =>
  (ended && isWorking(row)) || new MoneyDecimal(row.context.filledQty).lt(filledQty)

/**
 * Whether the row contains all that the venue reported, so that a query of the order would add nothing. An entry
 * without reported data exists because events may be missing; only the query removes it.
 */
const hasCaughtUp = (row: Reported, order: OutOfSyncOrder): boolean =>
  !order.wasOver && (order.ended || order.filledQty !== "0") && !isBehind(row, order)

/** Whether the venue has reported more of the order than its row contains. A filled order has all its trades. */
export const isOutOfSync = (unsettled: OutOfSync["Service"], row: Reported): boolean => {
  if (row.state === "FILLED") return false
  const order = unsettled.of(row)
  return order !== undefined && isBehind(row, order)
}
