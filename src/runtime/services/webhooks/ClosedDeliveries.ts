/**
 * Ends what the commit that closed a partner left waiting: that one ends a bounded number of deliveries, and a partner may
 * have more (migration 0023; D13, D15). Nobody would have tried them in between, because a closed partner's endpoint is
 * INACTIVE for good. Looks when a partner is closed, and at the start for those that a crash has left.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Queue } from "effect"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { closedPartners } from "../../store/reads/partnerReads.ts"
import { endDeliveries } from "../../store/writes/deliveryWrites.ts"
import { subscribe } from "../../subscriptions.ts"

/** Deliveries in one statement: short enough that no worker's own waits for it. */
const atOnce = 2_000
/** Closed partners that wait by name; when more are closed meanwhile, all closed ones are looked at again. */
const namedLimit = 1_000
/** After the database was away. */
const retryEvery = "5 seconds"

export const layerClosedDeliveries: Layer.Layer<never, never, ActorHost | PgClient.PgClient> = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const host = yield* ActorHost
    const closed = yield* Queue.dropping<number>(namedLimit)
    let lookAtAll = true
    subscribe(host, "ClosedDeliveries", {
      partners: ({ id, state }) => {
        if (state === "CLOSED" && !Queue.offerUnsafe(closed, id)) lookAtAll = true
      }
    })
    const insistently = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A> =>
      Effect.catch(work, (error) =>
        Effect.logDebug("deliveries of a closed partner could not be ended yet", error).pipe(
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
    // Taken back before the look, so that a partner that is closed during it is looked at again.
    const round = Effect.suspend(() => {
      if (!lookAtAll) return Effect.flatMap(Queue.take(closed), end)
      lookAtAll = false
      return endAll
    })
    yield* Effect.forkScoped(Effect.forever(round))
  })
)
