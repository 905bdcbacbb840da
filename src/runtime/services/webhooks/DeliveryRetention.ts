/**
 * Deletes rows of the delivery log 90 days after they were SENT or FAILED. Walks the log in id order, which is the
 * order of queueing, in pages, and stops at the first page that is young enough (A3-36).
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Latch, Layer } from "effect"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { deleteEndedPage } from "../../store/writes/deliveryWrites.ts"

export const retentionMillis = 90 * 24 * 60 * 60 * 1_000
const pageSize = 2_000
/** Pages per run. A backlog takes several runs. */
const pagesPerRun = 100

/** Runs once and returns the number of deleted rows. `now`: business time, Unix ms. */
export const deleteOldDeliveries = (now: number) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cutoff = BigInt(now - retentionMillis)
    let deleted = 0
    let after = 0n
    for (let page = 0; page < pagesPerRun; page++) {
      const { last, youngest, gone } = yield* deleteEndedPage(sql, after, cutoff, pageSize)
      deleted += Number(gone)
      if (last === null || youngest === null || youngest >= cutoff) break
      after = last
    }
    return deleted
  })

export const DeliveryRetention = {
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const clock = yield* BusinessClock
      const wake = Latch.makeUnsafe(false)
      clock.onMove(() => wake.openUnsafe())
      yield* Effect.suspend(() => {
        wake.closeUnsafe()
        return deleteOldDeliveries(clock.now())
      }).pipe(
        Effect.catchCause((cause) =>
          Effect.logDebug("old webhook deliveries were not deleted: the next run deletes them", cause)
        ),
        Effect.andThen(Effect.race(wake.await, Effect.sleep("1 hour"))),
        Effect.forever,
        Effect.forkScoped
      )
    })
  )
}
