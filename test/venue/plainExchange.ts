/** The rules of an exchange as plain code on one array without any index, for comparison with the real exchange. */
import type { OrderRequest } from "../../simulator/venue/core/Order.ts"

interface PlainOrder extends OrderRequest {
  left: number
  state: string
}

export interface PlainFill {
  readonly ref: string | null
  readonly price: number
  readonly quantity: number
}

/** One market with every account's position in it, without conditional orders. */
export class PlainExchange {
  readonly orders: Array<PlainOrder> = []
  readonly fills: Array<PlainFill> = []
  readonly positions = new Map<number, number>()

  place(request: OrderRequest): void {
    if (this.orders.some(({ ref }) => ref === request.ref)) return
    const order: PlainOrder = { ...request, left: request.quantity, state: "WORKING" }
    this.orders.push(order)
    order.state = this.outcome(order)
  }

  cancel(ref: string): void {
    const order = this.orders.find((known) => known.ref === ref)
    if (order?.state === "WORKING") order.state = "CANCELLED"
  }

  private outcome(order: PlainOrder): string {
    if (order.reduceOnly && this.room(order) === 0) return "REJECTED"
    const against = this.against(order)
    if (order.tif === "POST_ONLY" && against.some((maker) => crosses(order, maker))) return "REJECTED"
    if (order.price === null && against.length === 0) return "REJECTED"
    if (order.tif === "FOK" && this.reachable(order, against) < order.left) return "CANCELLED"
    for (const maker of against) {
      const room = this.room(order)
      if (order.left === 0 || room === 0 || !crosses(order, maker)) break
      if (maker.accountId === order.accountId) return "CANCELLED"
      const quantity = Math.min(room, this.room(maker))
      this.trade(order, maker, quantity)
      // A reduce-only order has no position left to reduce while a taker wants more: it is cancelled.
      if (maker.left > 0 && room > quantity) maker.state = "CANCELLED"
    }
    if (order.left === 0) return "FILLED"
    if (order.reduceOnly && this.room(order) === 0) return "CANCELLED"
    return order.price === null || order.tif === "IOC" || order.tif === "FOK" ? "CANCELLED" : "WORKING"
  }

  private trade(taker: PlainOrder, maker: PlainOrder, quantity: number): void {
    if (quantity === 0) return
    for (const order of [maker, taker]) {
      order.left -= quantity
      const signed = order.side === "BUY" ? quantity : -quantity
      this.positions.set(order.accountId, (this.positions.get(order.accountId) ?? 0) + signed)
      if (order.left === 0) order.state = "FILLED"
      this.fills.push({ ref: order.ref, price: maker.price ?? 0, quantity })
    }
  }

  /** Working orders of the other side, in the order in which they trade. */
  private against(order: PlainOrder): ReadonlyArray<PlainOrder> {
    const sign = order.side === "BUY" ? 1 : -1
    return this.orders
      .filter((other) => other !== order && other.state === "WORKING" && other.side !== order.side)
      .toSorted((one, other) => ((one.price ?? 0) - (other.price ?? 0)) * sign)
  }

  private reachable(order: PlainOrder, against: ReadonlyArray<PlainOrder>): number {
    let found = 0
    for (const maker of against) {
      if (!crosses(order, maker) || maker.accountId === order.accountId) break
      found += this.room(maker)
    }
    return Math.min(found, this.room(order))
  }

  private room({ reduceOnly, left, accountId, side }: PlainOrder): number {
    const held = this.positions.get(accountId) ?? 0
    return reduceOnly ? Math.min(left, Math.max(0, side === "SELL" ? held : -held)) : left
  }
}

const crosses = ({ side, price }: OrderRequest, maker: OrderRequest): boolean =>
  price === null || (side === "BUY" ? (maker.price ?? 0) <= price : (maker.price ?? 0) >= price)
