/**
 * Deliveries over the memory store, for deterministic simulation: the guarantees of DeliveryStore without a database. Several
 * workers may share one store.
 */
import { Effect, Layer } from "effect"
import { webhookLimits } from "../../machines/shared/Limits.ts"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { versionOf } from "../engine/machine/step.ts"
import type { MemoryStore } from "../engine/journal/MemoryStore.ts"
import type { DeliveryRow } from "../tables/webhook.ts"
import { DeliveryStore } from "./DeliveryStore.ts"

export interface DeliveryStoreMemoryOptions {
  readonly store: MemoryStore
  /** True while the store is unreachable; called at each call. */
  readonly away?: () => boolean
}

const oldestFirst = (a: DeliveryRow, b: DeliveryRow): number => a.nextAt - b.nextAt || a.id - b.id

export const DeliveryStoreMemory = {
  layer: ({ store, away }: DeliveryStoreMemoryOptions): Layer.Layer<DeliveryStore> => {
    const reach = <A>(work: () => A): Effect.Effect<A, Unavailable> =>
      Effect.suspend(() => (away?.() === true ? Effect.fail(new Unavailable({ unknown: false })) : Effect.sync(work)))
    const write = (rows: ReadonlyArray<DeliveryRow>): void => {
      if (rows.length === 0) return
      const outcome = store.apply({
        fence: null,
        partner: null,
        claims: [],
        releases: [],
        rows: { webhookDeliveries: rows },
        clearedTimers: [],
        endedCalls: []
      })
      if (outcome._tag === "Rejected") throw outcome.cause
    }
    return Layer.succeed(
      DeliveryStore,
      DeliveryStore.of({
        lease: ({ token, now, lanes, except }) =>
          reach(() => {
            const held = new Set(except)
            const isFree = ({ id, claimedAt }: DeliveryRow) =>
              !held.has(id) && (claimedAt === null || claimedAt < now - webhookLimits.leaseTakeoverMillis)
            const due = store
              .rows("webhookDeliveries")
              .filter(
                (row) => (row.state === "PENDING" || row.state === "RETRYING") && row.nextAt <= now && isFree(row)
              )
              .toSorted(oldestFirst)
            const leased = lanes
              .flatMap(({ partnerId, limit }) => due.filter((row) => row.partnerId === partnerId).slice(0, limit))
              .map((row) => ({ ...row, claimToken: token, claimedAt: now }))
              .toSorted(oldestFirst)
            write(leased)
            return leased
          }),
        finish: (changes) =>
          reach(() => {
            const rows = new Map(store.rows("webhookDeliveries").map((row) => [row.id, row]))
            const version = versionOf("webhookDelivery")
            const written = changes.flatMap(({ before, state, context, nextAt }) => {
              const row = rows.get(before.id)
              const same =
                row?.claimToken === before.claimToken && row.state === before.state && row.nextAt === before.nextAt
              if (row === undefined || !same) return []
              return [{ ...row, state, version, context: { ...context }, nextAt, claimToken: null, claimedAt: null }]
            })
            write(written)
            return new Set(written.map(({ id }) => id))
          }),
        read: (ids) => reach(() => store.rows("webhookDeliveries").filter(({ id }) => ids.includes(id)))
      })
    )
  }
}
