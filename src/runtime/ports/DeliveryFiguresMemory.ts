/** The figures of the delivery log on the memory store, for deterministic simulation: DeliveryFigures without SQL. */
import { Effect, Layer } from "effect"
import type { MemoryStore } from "../engine/journal/MemoryStore.ts"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { DeliveryFigures } from "./DeliveryFigures.ts"

export interface DeliveryFiguresMemoryOptions {
  readonly store: MemoryStore
  /** True while the store is unreachable; called at each read. */
  readonly away?: () => boolean
}

export const DeliveryFiguresMemory = {
  layer: ({ store, away }: DeliveryFiguresMemoryOptions): Layer.Layer<DeliveryFigures> =>
    Layer.succeed(
      DeliveryFigures,
      DeliveryFigures.of({
        of: (partnerId) =>
          Effect.suspend(() => {
            if (away?.() === true) return Effect.fail(new Unavailable({ unknown: false }))
            const own = store.rows("webhookDeliveries").filter((row) => row.partnerId === partnerId)
            const sent = own.flatMap(({ state, context }) => (state === "SENT" ? [context.sentAt ?? 0] : []))
            return Effect.succeed({
              lastDeliveryAt: sent.length === 0 ? null : Math.max(...sent),
              pending: own.filter(({ state }) => state === "PENDING" || state === "RETRYING").length
            })
          })
      })
    )
}
