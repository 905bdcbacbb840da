/**
 * Deletes rows of the delivery log 90 days after they were SENT or FAILED (A3-36). Walks the log in id order, which is the
 * order of queueing, a bounded number of rows at a time, and stops at the first page that is young enough.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Latch, Layer } from "effect"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"

/** A3-36. */
export const retentionMillis = 90 * 24 * 60 * 60 * 1_000
const pageSize = 2_000
/** Pages of one run: a backlog is worked off over several runs. */
const pagesPerRun = 100

// A page is a walk of the primary key, whatever is in it. nextAt of a finished delivery is when it was SENT or FAILED; a
// row that a redelivery revived stays, and so does each partner's last SENT one: lastDeliveryAt is read from it (A3-39).
const pageText = `WITH page AS (SELECT id, ts FROM webhook_deliveries WHERE id > $1 ORDER BY id LIMIT $3),
gone AS (
  DELETE FROM webhook_deliveries d USING page
   WHERE d.id = page.id AND page.ts < $2 AND d.state IN ('SENT', 'FAILED') AND d.next_at < $2
     AND (d.state = 'FAILED' OR EXISTS (
       SELECT 1 FROM webhook_deliveries l WHERE l.partner_id = d.partner_id AND l.state = 'SENT'
          AND (l.context->>'sentAt')::bigint >= (d.context->>'sentAt')::bigint AND l.id <> d.id)) RETURNING 1)
SELECT max(id) AS last, max(ts) AS youngest, (SELECT count(*) FROM gone) AS gone FROM page`

interface Page {
  readonly last: bigint | null
  readonly youngest: bigint | null
  readonly gone: bigint
}

/** One run; the number of rows deleted. `now`: business time, Unix ms. */
export const deleteOldDeliveries = (now: number) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cutoff = BigInt(now - retentionMillis)
    let deleted = 0
    let after = 0n
    for (let page = 0; page < pagesPerRun; page++) {
      const [row] = yield* sql.unsafe<Page>(pageText, [after, cutoff, BigInt(pageSize)])
      deleted += Number(row?.gone ?? 0n)
      if (row?.last == null || row.youngest === null || row.youngest >= cutoff) break
      after = row.last
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
        Effect.catchCause((cause) => Effect.logDebug("old webhook deliveries not deleted", cause)),
        Effect.andThen(Effect.race(wake.await, Effect.sleep("1 hour"))),
        Effect.forever,
        Effect.forkScoped
      )
    })
  )
}
