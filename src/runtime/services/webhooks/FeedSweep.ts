/**
 * Forwards the clients' notification feeds as webhook events: every five seconds, and when the business clock moves,
 * for each partner with an ACTIVE endpoint. The first sweep after an activation begins at the time of the activation.
 * Each notification is forwarded once, because the commit that queues its delivery claims it (A3-38).
 *
 * The progress of each partner is in memory. After a restart a sweep resumes at the last forwarded notification. All
 * older ones were read before it, so only the notifications since then are read again.
 */
import { Context, Effect, Latch, Layer, Semaphore } from "effect"
import { notificationLimits } from "../../../machines/shared/Limits.ts"
import { eventOfKind } from "../../../machines/webhook/feedEventOf.ts"
import { ActorHost, type Attribution, type Turn, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { queueDelivery } from "../../effects/queueDelivery.ts"
import type { EndpointRow } from "../../tables/webhook.ts"
import { feedClaim, FeedSource } from "../../ports/FeedSource.ts"
import type { FeedItem } from "../../store/reads/notificationReads.ts"
import { subscribe } from "../../subscriptions.ts"
import { WebhookEndpoints } from "./WebhookEndpoints.ts"

const by: Attribution = { role: "SYSTEM", keyLabel: "feed", requestId: "feed", actor: "system:feed" }

/** Notifications of one partner per commit. */
const pageSize = 500
/**
 * The longest time from a row's writtenAt until the row is visible (a commit under load), business ms. Sweeps read it
 * again.
 */
const commitMillis = 30_000
const rereadMillis = notificationLimits.rereadMillis + commitMillis

/** The progress of the sweeps of a partner since its endpoint became ACTIVE. */
interface Progress {
  /** Older notifications are not forwarded, Unix ms. */
  readonly activeFrom: number
  /** The start of the last complete sweep, Unix ms. */
  sweptAt: number
}

export class FeedSweep extends Context.Service<
  FeedSweep,
  {
    /** Sweeps all partners now; returns the number of notifications forwarded. */
    readonly sweep: Effect.Effect<number, Unavailable>
  }
>()("brokerage/runtime/services/webhooks/FeedSweep") {
  static readonly layer: Layer.Layer<FeedSweep, never, ActorHost | BusinessClock | FeedSource | WebhookEndpoints> =
    Layer.effect(
      FeedSweep,
      Effect.gen(function* () {
        const host = yield* ActorHost
        const clock = yield* BusinessClock
        const source = yield* FeedSource
        const endpoints = yield* WebhookEndpoints
        const progressOf = followProgress(host, source)
        const wake = Latch.makeUnsafe(false)
        // Only one sweep at a time, because two would claim the same notifications.
        const one = Semaphore.makeUnsafe(1)
        clock.onMove(() => wake.openUnsafe())

        const forward = (partnerId: number, items: ReadonlyArray<FeedItem>) =>
          host.dispatch({
            subject: `partner:${partnerId}`,
            by,
            lane: "internal",
            decide: (turn) => queueItems(turn, items)
          })

        const sweepPartner = Effect.fnUntraced(function* (partnerId: number, first: ReadonlyArray<FeedItem>) {
          let forwarded = 0
          for (let items = first; items.length > 0;) {
            const queued = yield* forward(partnerId, items)
            forwarded += queued
            if (queued === 0 || items.length < pageSize) break
            const from = (items.at(-1) as FeedItem).ts
            items = yield* source.unforwarded([{ partnerId, from }], pageSize)
          }
          return forwarded
        })

        const sweep = Effect.gen(function* () {
          const now = clock.now()
          const partners = yield* Effect.forEach(endpoints.active(), (row) =>
            Effect.map(progressOf(row), (state) => ({ partnerId: row.partnerId, state }))
          )
          const windows = partners.map(({ partnerId, state }) => ({
            partnerId,
            from: Math.max(state.activeFrom, state.sweptAt - rereadMillis)
          }))
          const found = Map.groupBy(yield* source.unforwarded(windows, pageSize), (item) => item.partnerId)
          const counts = yield* Effect.forEach(
            partners,
            ({ partnerId, state }) =>
              sweepPartner(partnerId, found.get(partnerId) ?? []).pipe(
                Effect.tap(() => Effect.sync(() => (state.sweptAt = now))),
                // Another process has claimed it, or the partner's mailbox is full. The next sweep reads it again.
                Effect.catch((error) =>
                  Effect.as(
                    Effect.logDebug(
                      `the notification feed of partner ${partnerId} was not forwarded: the next sweep reads it again`,
                      error
                    ),
                    0
                  )
                ),
                Effect.catchDefect((defect) =>
                  Effect.as(
                    Effect.logError(
                      `the notification feed of partner ${partnerId} can not be forwarded: the next sweep reads it again`,
                      defect
                    ),
                    0
                  )
                )
              ),
            { concurrency: 8 }
          )
          return counts.reduce((sum, count) => sum + count, 0)
        }).pipe(one.withPermit)

        yield* Effect.suspend(() => {
          wake.closeUnsafe()
          return sweep
        }).pipe(
          Effect.catchCause((cause) =>
            Effect.logDebug("notification feeds were not swept: the next sweep reads them again", cause)
          ),
          Effect.andThen(Effect.race(wake.await, Effect.sleep(notificationLimits.sweepEveryMillis))),
          Effect.forever,
          Effect.forkScoped
        )
        return FeedSweep.of({ sweep })
      })
    )
}

/** The progress of each partner, derived from the delivery log on first use. */
const followProgress = (host: ActorHost["Service"], source: FeedSource["Service"]) => {
  const progress = new Map<number, Progress>()
  // A rotation of the secret is no activation. Progress restarts only if the endpoint was not ACTIVE before.
  subscribe(host, "FeedSweep", {
    webhookEndpoints: (row) => {
      if (row.state !== "ACTIVE") progress.delete(row.partnerId)
      else if (!progress.has(row.partnerId)) progress.set(row.partnerId, startOf(row, 0))
    }
  })
  return (row: EndpointRow): Effect.Effect<Progress, Unavailable> => {
    const found = progress.get(row.partnerId)
    if (found !== undefined) return Effect.succeed(found)
    return Effect.map(source.lastForwarded(row.partnerId), (ts) => {
      const made = progress.get(row.partnerId) ?? startOf(row, ts ?? 0)
      progress.set(row.partnerId, made)
      return made
    })
  }
}

const startOf = (row: EndpointRow, sweptAt: number): Progress => ({
  activeFrom: row.context.sweepFrom,
  sweptAt
})

/** Queues a delivery for each item, and claims the item in the same commit. Returns the number of queued deliveries. */
const queueItems = (turn: Turn, items: ReadonlyArray<FeedItem>): number => {
  const endpoint = turn.state.one("webhookEndpoints") ?? null
  let queued = 0
  for (const { id, partnerId, clientId, clientUid, partnerClientRef, kind, ref, ts } of items) {
    const name = eventOfKind(kind)
    if (name === null) continue
    const instance = { partnerId, clientId, clientUid, partnerClientRef, endpoint }
    const deliveryId = queueDelivery(turn, instance, { name, data: { kind, ref, ts } })
    if (deliveryId === null) continue
    turn.draft.claim(feedClaim(id), deliveryId)
    queued++
  }
  return queued
}
