/**
 * Fills of clients' orders, for readers that lost events. Each order keeps its newest fills. The fills of ended orders are
 * limited in total, and the orders that ended first are dropped first. In ticks and lots; fields of the order are not repeated
 * (A2-96).
 */
import { fillLimit } from "../../../src/machines/venue/venueObjects.ts"
import { Line } from "./Line.ts"

export interface KeptFill {
  /** Shared by both sides of the trade. */
  readonly tradeId: number
  readonly price: number
  readonly quantity: number
  readonly liquidity: "MAKER" | "TAKER"
  /** Business time, Unix ms. */
  readonly at: number
}

/** Rows, oldest first for each order: a snapshot may cut the list at any place. */
export type FillsState = ReadonlyArray<
  readonly [orderId: number, tradeId: number, price: number, quantity: number, maker: 0 | 1, at: number]
>

/** Limit on the stored fills of all ended orders: more than a service needs after a day offline. */
export const endedFillsKept = 200_000

export class Fills {
  /** The fills of each order; orders without fills, or with dropped ones, are absent. */
  private readonly byOrder = new Map<number, Array<KeptFill>>()
  /** Ended orders with fills, in order of their end. */
  private readonly ended = new Line<number>()
  /** The number of stored fills of ended orders. */
  private endedCount = 0

  add(orderId: number, fill: KeptFill): void {
    const fills = this.byOrder.get(orderId)
    if (fills === undefined) this.byOrder.set(orderId, [fill])
    else if (fills.push(fill) > fillLimit) fills.shift()
  }

  /** The stored fills of an order, oldest first; null if it has none. */
  of(orderId: number): ReadonlyArray<KeptFill> | null {
    return this.byOrder.get(orderId) ?? null
  }

  /** Records that an order has ended: its fills may be dropped. */
  end(orderId: number): void {
    const fills = this.byOrder.get(orderId)
    if (fills === undefined) return
    this.ended.push(orderId)
    this.endedCount += fills.length
    while (this.endedCount > endedFillsKept) this.drop(this.ended.shift())
  }

  /** Forgets the fills of an order that is dropped. */
  forget(orderId: number): void {
    if (!this.byOrder.has(orderId)) return
    // Orders are dropped in the order in which they ended.
    this.drop(this.ended.shift())
  }

  state(): FillsState {
    return [...this.byOrder].flatMap(([orderId, fills]) =>
      fills.map(
        ({ tradeId, price, quantity, liquidity, at }) =>
          [orderId, tradeId, price, quantity, liquidity === "MAKER" ? 1 : 0, at] as const
      )
    )
  }

  /** Restores stored fills, before the orders that they belong to are restored. */
  restore(state: FillsState): void {
    for (const [orderId, tradeId, price, quantity, maker, at] of state)
      this.add(orderId, { tradeId, price, quantity, liquidity: maker === 1 ? "MAKER" : "TAKER", at })
  }

  private drop(orderId: number | undefined): void {
    if (orderId === undefined) return
    this.endedCount -= this.byOrder.get(orderId)?.length ?? 0
    this.byOrder.delete(orderId)
  }
}
