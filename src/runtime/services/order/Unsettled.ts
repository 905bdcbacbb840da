/**
 * Orders of which the venue knows more than is booked here: filled further than their trades, or over. They are asked for by
 * their names (`OrderResync`), so that nothing is inferred from a quantity (A2-96).
 */
import { Context, Latch, Layer } from "effect"

export interface UnsettledOrder {
  readonly clientId: number
  readonly orderId: number
}

export class Unsettled extends Context.Service<
  Unsettled,
  {
    add(order: UnsettledOrder): void
    /** Takes all there are. */
    take(): ReadonlyArray<UnsettledOrder>
    /** Open while there are any. */
    readonly some: Latch.Latch
  }
>()("brokerage/runtime/services/order/Unsettled") {
  static readonly layer = Layer.sync(Unsettled, () => {
    const orders = new Map<number, UnsettledOrder>()
    const some = Latch.makeUnsafe(false)
    return Unsettled.of({
      some,
      add: (order) => {
        orders.set(order.orderId, order)
        some.openUnsafe()
      },
      take: () => {
        const all = [...orders.values()]
        orders.clear()
        some.closeUnsafe()
        return all
      }
    })
  })
}
