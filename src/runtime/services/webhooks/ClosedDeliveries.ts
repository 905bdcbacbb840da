/**
 * Ends the remaining deliveries of a closed partner, because the commit that closes it ends only a bounded number
 * (migration 0023). Workers do not attempt them meanwhile, because a closed partner's endpoint is INACTIVE for good.
 * The work runs when a partner is closed, and at the start for deliveries that a crash has left (D13, D15).
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Queue } from "effect"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { closedPartners } from "../../store/reads/partnerReads.ts"
import { endDeliveries } from "../../store/writes/deliveryWrites.ts"
import { subscribe } from "../../subscriptions.ts"

/** Deliveries per statement. The statement is short enough that workers' statements need not wait for it. */
const atOnce = 2_000
/** The most queued partner ids. If more partners close, all closed partners are checked again. */
const namedLimit = 1_000
/** Pause after a database failure. */
const retryEvery = "5 seconds"

export const layerClosedDeliveries: Layer.Layer<never, never, ActorHost | PgClient.PgClient> = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const host = yield* ActorHost
    const closed = yield* Queue.dropping<number>(namedLimit)
    let checkAll = true
    subscribe(host, "ClosedDeliveries", {
      partners: ({ id, state }) => {
        if (state === "CLOSED" && !Queue.offerUnsafe(closed, id)) checkAll = true
      }
    })
    const insistently = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A> =>
      Effect.catch(work, (error) =>
        Effect.logDebug("deliveries of a closed partner could not be ended: the service tries again", error).pipe(
          Effect.andThen(Effect.sleep(retryEvery)),
          Effect.andThen(Effect.suspend(() => insistently(work)))
        )
      )
    const end = (partnerId: number): Effect.Effect<void> =>
      Effect.flatMap(insistently(endDeliveries(sql, partnerId, atOnce)), (ended) =>
        ended < atOnce ? Effect.void : Effect.suspend(() => end(partnerId))
      )
    const endAll = Effect.flatMap(insistently(closedPartners(sql)), (ids) =>
      Effect.forEach(ids, end, { discard: true })
    )
    // The flag is reset before the check, so that a partner closed during the check causes another check.
    const round = Effect.suspend(() => {
      if (!checkAll) return Effect.flatMap(Queue.take(closed), end)
      checkAll = false
      return endAll
    })
    yield* Effect.forkScoped(Effect.forever(round))
  })
)
