/**
 * Orders of which the venue knows more than is booked here: filled further than their trades, over, or at work though they are
 * over here. They are asked for by their names (`OrderResync`), so that nothing is inferred from a quantity (A2-96), nor from a
 * word that may be older than what is known.
 */
import { Context, Latch, Layer } from "effect"

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
    /** What is known of an order beyond its row; undefined: nothing, or it was asked for since. */
    of(orderId: number): UnsettledOrder | undefined
    /** It was asked for. */
    settled(orderId: number): void
    /** The order's row now has all that the venue reported: a query of the order has nothing to add. */
    caughtUp(orderId: number): void
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
    of: (orderId) => orders.get(orderId),
    settled: (orderId) => {
      if (!waiting.has(orderId)) orders.delete(orderId)
    },
    caughtUp: (orderId) => {
      const order = orders.get(orderId)
      if (order === undefined || order.wasOver || !isAhead(order)) return
      orders.delete(orderId)
      waiting.delete(orderId)
      if (waiting.size === 0 && !everything) some.closeUnsafe()
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

/** The venue has reported progress. Without it, a doubt is the reason for the query, and no booking settles it. */
const isAhead = ({ filledQty, ended }: UnsettledOrder): boolean => ended || filledQty !== "0"
