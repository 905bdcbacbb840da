/**
 * A client's notification feed as partners poll it. It contains every item, including late ones and those without a
 * webhook event. So it shows everything that webhooks did not deliver (A2-64, EVT-10).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { NotificationsWire } from "../../../machines/account/NotificationWire.ts"
import { notificationLimits } from "../../../machines/shared/Limits.ts"
import { accept, type Refusal, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { eventOfKind } from "../../../machines/webhook/feedEventOf.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { ActorHost, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { clientFeed, type FeedPlace, isOfFeed } from "../../store/reads/notificationReads.ts"
import { whenAway } from "../../store/whenAway.ts"
import { clientSubject, readersClient } from "./clientState.ts"

export interface FeedQuery {
  /** Inclusive, Unix ms; 24 hours ago when absent. */
  readonly since?: number
  /** Exclusive: `next` of an earlier page. */
  readonly after?: string
}

/** A page with the cursor of the next page; null: this is the last page. */
export interface FeedPage {
  readonly answer: NotificationsWire
  readonly next: Required<FeedQuery> | null
}

export class Notifications extends Context.Service<
  Notifications,
  {
    /**
     * The first items from `since` on, or after `after`. Refuses another partner's client, and an `after` that names no
     * item of the feed.
     */
    feed(partnerId: number, clientId: number, query: FeedQuery): Effect.Effect<Verdict<FeedPage>, Unavailable>
  }
>()("brokerage/runtime/services/account/Notifications") {
  static readonly layer = Layer.effect(
    Notifications,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const clock = yield* BusinessClock
      return Notifications.of({
        feed: Effect.fnUntraced(function* (partnerId, clientId, query) {
          const own = yield* host.read(clientSubject(clientId), (state) => readersClient(state, partnerId) !== null)
          if (!own) return refuse(unknown("Client"))
          const asOf = clock.now()
          const since = query.since ?? Math.max(0, asOf - notificationLimits.usualMillis)
          const after = query.after === undefined ? null : placeOf(query.after)
          if (query.after !== undefined) {
            const known = after !== null && (yield* Effect.catch(isOfFeed(sql, clientId, after), whenAway))
            if (!known) return refuse(noPlace)
          }
          const behind = after !== null && after.ts >= since ? after : { ts: since, id: 0 }
          // If `since` is in the future, items that are booked during the read must not appear.
          const rows =
            since > asOf
              ? []
              : yield* Effect.catch(clientFeed(sql, clientId, behind, notificationLimits.answerMax + 1), whenAway)
          const shown = rows.slice(0, notificationLimits.answerMax)
          const last = shown.at(-1)
          const items = shown.map(({ kind, ref, ts }) => ({ kind, ref, ts, event: eventOfKind(kind) }))
          return accept({
            answer: { items, since, asOf },
            next: rows.length > shown.length && last !== undefined ? { since, after: cursorOf(last) } : null
          })
        })
      })
    })
  )
}

const sentence = "The cursor after must be one that the list of this client's notifications answered."
const noPlace: Refusal = { _tag: "Invalid", reason: "INVALID_PARAMETERS", sentence, errors: { after: sentence } }

/** The cursor of a position: opaque to readers, so that its form can change. */
const cursorOf = ({ ts, id }: FeedPlace): string => Buffer.from(`${ts}.${id}`).toString("base64url")

/** The position of a cursor; null: this service did not issue it. */
const placeOf = (cursor: string): FeedPlace | null => {
  const [, ts = "", id = ""] = /^([0-9]{1,16})\.([0-9]{1,16})$/.exec(Buffer.from(cursor, "base64url").toString()) ?? []
  const place = { ts: Number(ts), id: Number(id) }
  const exact = Number.isSafeInteger(place.ts) && Number.isSafeInteger(place.id)
  return exact && cursorOf(place) === cursor ? place : null
}
