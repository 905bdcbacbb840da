/**
 * Orders of which the venue knows more than is booked here: filled further than their trades, over, or at work though they are
 * over here. They are asked for by their names (`OrderResync`), so that nothing is inferred from a quantity (A2-96), nor from a
 * word that may be older than what is known.
 */
import { Context, Latch, Layer } from "effect"
import { isWorking } from "../../../machines/order/Order.ts"
import { MoneyDecimal } from "../../../machines/shared/Money.ts"
import type { OrderRow } from "../../tables/order.ts"

type Reported = Pick<OrderRow, "id" | "state" | "context">

export interface UnsettledOrder {
  readonly clientId: number
  readonly orderId: number
  /** What of it is filled at the venue. */
  readonly filledQty: string
  /** It is over there. */
  readonly ended: boolean
  /** It was over here before it is asked for: what the venue answers is younger than that. */
  readonly wasOver: boolean
}

export class Unsettled extends Context.Service<
  Unsettled,
  {
    add(order: UnsettledOrder): void
    /** Whatever works is asked for: what was said of it may be lost. */
    addAll(): void
    /** The venue's report that the row of the order does not have yet; undefined: there is none. */
    of(row: Reported): UnsettledOrder | undefined
    /** It was asked for. */
    settled(orderId: number): void
    /** Takes all there are; `everything`: every working order is to be asked for besides. */
    take(): { readonly everything: boolean; readonly orders: ReadonlyArray<UnsettledOrder> }
    /** Open while there are any. */
    readonly some: Latch.Latch
  }
>()("brokerage/runtime/services/venue/Unsettled") {
  static readonly layer = Layer.sync(Unsettled, () => Unsettled.of(unsettledOrders()))
}

/** Those of one process. */
export const unsettledOrders = (): Unsettled["Service"] => {
  /** Those that wait to be asked for, and those that are being asked for. */
  const orders = new Map<number, UnsettledOrder>()
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
      const asked = [...waiting].flatMap((orderId) => orders.get(orderId) ?? [])
      const taken = { everything, orders: asked }
      everything = false
      waiting.clear()
      some.closeUnsafe()
      return taken
    }
  }
}

/** Whether the row lacks a trade or an end that the venue has reported. */
const isBehind = (row: Reported, { filledQty, ended }: UnsettledOrder): boolean =>
  (ended && isWorking(row)) || new MoneyDecimal(row.context.filledQty).lt(filledQty)

/**
 * Whether the row has all that the venue reported, so that a query of the order has nothing to add. Without a report of progress a
 * doubt is the reason for the query, and no booking settles it.
 */
const hasCaughtUp = (row: Reported, order: UnsettledOrder): boolean =>
  !order.wasOver && (order.ended || order.filledQty !== "0") && !isBehind(row, order)

/** Whether the venue has reported more of the order than its row has. A filled order has all its trades. */
export const isOutOfSync = (unsettled: Unsettled["Service"], row: Reported): boolean => {
  if (row.state === "FILLED") return false
  const order = unsettled.of(row)
  return order !== undefined && isBehind(row, order)
}
