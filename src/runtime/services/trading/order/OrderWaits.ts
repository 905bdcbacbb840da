/** Waits for orders to settle: until all that the venue has said of one is booked, or a time is over (A2-92). */
import { Effect } from "effect"
import { isWorking } from "../../../../machines/order/Order.ts"
import { MoneyDecimal } from "../../../../machines/shared/Money.ts"
import type { ActorHost } from "../../../engine/mailbox/ActorHost.ts"
import { ShortLivedMap } from "../../../engine/ShortLivedMap.ts"
import type { OrderRow } from "../../../tables/order.ts"
import { subscribe } from "../../../subscriptions.ts"
import { answerWithin } from "../../venue/CallAnswers.ts"
import type { Unsettled } from "../../venue/Unsettled.ts"

/** Whether all that the venue has said of an order is in its row. */
export const isSettled = (row: OrderRow, unsettled: Unsettled["Service"]): boolean => {
  const known = unsettled.of(row.id)
  if (known === undefined) return true
  return new MoneyDecimal(row.context.filledQty).gte(known.filledQty) && !(known.ended && isWorking(row))
}

export class OrderWaits {
  private readonly waiting = new ShortLivedMap<number, Set<(row: OrderRow) => void>>()

  constructor(host: ActorHost["Service"]) {
    subscribe(host, "OrderWaits", {
      orders: (row) => {
        for (const resume of this.waiting.get(row.id) ?? []) resume(row)
      }
    })
  }

  /** The order once it is committed as `enough` wants it; null when that takes longer than 5 s. */
  until(orderId: number, enough: (row: OrderRow) => boolean): Effect.Effect<OrderRow | null> {
    return Effect.callback<OrderRow | null>((resume) => {
      const tell = (row: OrderRow): void => {
        if (enough(row)) resume(Effect.succeed(row))
      }
      const those = this.waiting.get(orderId) ?? new Set()
      this.waiting.set(orderId, those.add(tell))
      return Effect.sync(() => {
        those.delete(tell)
        if (those.size === 0 && this.waiting.get(orderId) === those) this.waiting.delete(orderId)
      })
    }).pipe(Effect.timeoutOrElse({ duration: answerWithin, orElse: () => Effect.succeed(null) }))
  }
}
