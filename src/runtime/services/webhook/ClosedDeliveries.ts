/**
 * Ends what the commit that closed a partner left waiting: that one ends a bounded number of deliveries, and a partner may
 * have more (migration 0023; D13, D15). Nobody would have tried them in between, because a closed partner's endpoint is
 * INACTIVE for good. Looks when a partner is closed, and at the start for those that a crash has left.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Queue } from "effect"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"

/** Deliveries in one statement: short enough that no worker's own waits for it. */
const atOnce = 2_000
/** After the database was away. */
const retryEvery = "5 seconds"

const endText = "SELECT end_deliveries(id, (context ->> 'changedAt')::bigint, $2) AS ended FROM partners WHERE id = $1"

export const layerClosedDeliveries: Layer.Layer<never, never, ActorHost | PgClient.PgClient> = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const host = yield* ActorHost
    const closed = yield* Queue.unbounded<number>()
    host.onCommitted("partners", ({ id, state }) => {
      if (state === "CLOSED") Queue.offerUnsafe(closed, id)
    })
    const insistently = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A> =>
      Effect.catch(work, (error) =>
        Effect.logDebug("deliveries of a closed partner could not be ended yet", error).pipe(
          Effect.andThen(Effect.sleep(retryEvery)),
          Effect.andThen(Effect.suspend(() => insistently(work)))
        )
      )
    const end = (partnerId: number): Effect.Effect<void> =>
      Effect.flatMap(
        insistently(sql.unsafe<{ readonly ended: bigint }>(endText, [BigInt(partnerId), BigInt(atOnce)])),
        ([row]) => (Number(row?.ended ?? 0) < atOnce ? Effect.void : Effect.suspend(() => end(partnerId)))
      )
    const before = insistently(sql.unsafe<{ readonly id: bigint }>("SELECT id FROM partners WHERE state = 'CLOSED'"))
    yield* Effect.flatMap(before, (rows) => Effect.forEach(rows, ({ id }) => end(Number(id)), { discard: true })).pipe(
      Effect.andThen(Effect.forever(Effect.flatMap(Queue.take(closed), end))),
      Effect.forkScoped
    )
  })
)
