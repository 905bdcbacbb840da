/**
 * The notifications for which no delivery was queued yet, as read by the sweep. Each queued delivery claims its notification, so
 * a repeated read only costs the query (doc 3, sweep rules; A3-38).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { withinTime } from "../engine/withinTime.ts"
import { type FeedItem, type FeedWindow, lastForwardedAt, unforwardedItems } from "../store/reads/notificationReads.ts"
import { whenAway } from "../store/whenAway.ts"

/** The unique fact "this notification was forwarded"; its owner is the delivery. */
export const feedClaim = (notificationId: number): string => `feed:${notificationId}`

export class FeedSource extends Context.Service<
  FeedSource,
  {
    /**
     * Notifications of each window without a delivery, oldest first, at most `limit` for each partner; late ones are left out.
     */
    unforwarded(windows: ReadonlyArray<FeedWindow>, limit: number): Effect.Effect<ReadonlyArray<FeedItem>, Unavailable>
    /** The time of the last forwarded notification, Unix ms; null if the log has none. */
    lastForwarded(partnerId: number): Effect.Effect<number | null, Unavailable>
  }
>()("brokerage/runtime/ports/FeedSource") {
  static readonly layer: Layer.Layer<FeedSource, never, PgClient.PgClient> = Layer.effect(
    FeedSource,
    Effect.map(PgClient.PgClient, (sql) => {
      const inTime = <A>(query: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, Unavailable> =>
        withinTime(Effect.catch(query, whenAway), () => new Unavailable({ unknown: false }))
      return FeedSource.of({
        unforwarded: (windows, limit) =>
          windows.length === 0 ? Effect.succeed([]) : inTime(unforwardedItems(sql, windows, limit)),
        lastForwarded: (partnerId) => inTime(lastForwardedAt(sql, partnerId))
      })
    })
  )
}
