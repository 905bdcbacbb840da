/** The clients' feeds in the memory store: the guarantees of FeedSource without SQL, for the sweep in a simulation. */
import { Effect, Layer } from "effect"
import { notificationLimits } from "../../machines/shared/Limits.ts"
import { eventOfKind, feedEventOf } from "../../machines/webhook/feedEventOf.ts"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import type { MemoryStore } from "../engine/journal/MemoryStore.ts"
import { feedClaim, FeedSource } from "./FeedSource.ts"

export interface FeedSourceMemoryOptions {
  readonly store: MemoryStore
  /** True while the store is unreachable; called at each read. */
  readonly away?: () => boolean
}

export const FeedSourceMemory = {
  layer: ({ store, away }: FeedSourceMemoryOptions): Layer.Layer<FeedSource> => {
    const reach = <A>(read: () => A): Effect.Effect<A, Unavailable> =>
      Effect.suspend(() => (away?.() === true ? Effect.fail(new Unavailable({ unknown: false })) : Effect.sync(read)))
    return Layer.succeed(
      FeedSource,
      FeedSource.of({
        unforwarded: (windows, limit) =>
          reach(() => {
            const clients = new Map(store.rows("clients").map((row) => [row.id, row]))
            const fresh = store
              .rows("notifications")
              .filter(
                ({ id, kind, ts, writtenAt }) =>
                  eventOfKind(kind) !== null &&
                  writtenAt - ts <= notificationLimits.rereadMillis &&
                  store.ownerOf(feedClaim(id)) === undefined
              )
              .toSorted((a, b) => a.ts - b.ts || a.id - b.id)
            return windows.flatMap(({ partnerId, from }) =>
              fresh
                .filter((row) => row.partnerId === partnerId && row.ts >= from)
                .slice(0, limit)
                .flatMap(({ id, clientId, kind, ref, ts }) => {
                  const client = clients.get(clientId)
                  if (client === undefined) return []
                  const { uid, partnerClientRef } = client
                  return [{ id, partnerId, clientId, clientUid: uid, partnerClientRef, kind, ref, ts }]
                })
            )
          }),
        lastForwarded: (partnerId) =>
          reach(() => {
            const last = store
              .rows("webhookDeliveries")
              .findLast((row) => row.partnerId === partnerId && feedEvents.includes(row.event))
            return last === undefined
              ? null
              : (JSON.parse(last.body) as { readonly data: { readonly ts: number } }).data.ts
          })
      })
    )
  }
}

const feedEvents: ReadonlyArray<string> = Object.values(feedEventOf)
