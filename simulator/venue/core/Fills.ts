/**
 * Fills of clients' orders, kept with their order for a reader whom the stream has lost some (A2-96): the newest of each
 * order, and of orders that have ended only as many as fit, the oldest orders' going first. In ticks and lots, as short as
 * they can be: what the order says itself is not said again.
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

/** Rows, oldest first in each order: a list that a snapshot can cut anywhere. */
export type FillsState = ReadonlyArray<
  readonly [orderId: number, tradeId: number, price: number, quantity: number, maker: 0 | 1, at: number]
>

/** Of all orders that have ended: more than a service asks for that has slept for a day. */
export const endedFillsKept = 200_000

export class Fills {
  /** By order; one that has none, or whose are forgotten, is not there. */
  private readonly byOrder = new Map<number, Array<KeptFill>>()
  /** Orders that have ended with fills, in that order. */
  private readonly ended = new Line<number>()
  /** Fills of those. */
  private endedCount = 0

  add(orderId: number, fill: KeptFill): void {
    const fills = this.byOrder.get(orderId)
    if (fills === undefined) this.byOrder.set(orderId, [fill])
    else if (fills.push(fill) > fillLimit) fills.shift()
  }

  /** Oldest first; null: there is none, or none is kept any more. */
  of(orderId: number): ReadonlyArray<KeptFill> | null {
    return this.byOrder.get(orderId) ?? null
  }

  /** An order has ended: its fills are among those that may go. */
  end(orderId: number): void {
    const fills = this.byOrder.get(orderId)
    if (fills === undefined) return
    this.ended.push(orderId)
    this.endedCount += fills.length
    while (this.endedCount > endedFillsKept) this.drop(this.ended.shift())
  }

  /** The order is not known any more. */
  forget(orderId: number): void {
    if (!this.byOrder.has(orderId)) return
    // Orders are forgotten in the order in which they have ended.
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

  /** Takes over those of a stored state, before its orders are. */
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
