/**
 * Partners and keys in memory: authentication, rate limits and every gate read them on each request. This is a
 * projection: loaded at the start and changed by committed rows only. So no request is served under a change that is
 * not durable.
 */
import { Context, Effect, Latch, Layer, Semaphore } from "effect"
import { ActorHost, type DispatchError } from "../../engine/mailbox/ActorHost.ts"
import type { PartnerStamp } from "../../engine/journal/Commit.ts"
import { TurnHeld } from "../../engine/mailbox/TurnHeld.ts"
import { inTurn } from "../../engine/withinTime.ts"
import type { ApiKeyRow, PartnerRow, RelianceRow } from "../../tables/partner.ts"
import type { EndpointRow } from "../../tables/webhook.ts"
import type { OperatorKeyRow } from "../../tables/operator.ts"
import type { Tables } from "../../tables/Catalogue.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { type ListenersOf, subscribe } from "../../subscriptions.ts"

/** A partner as all gates see it. */
export interface PartnerView {
  readonly row: PartnerRow
  readonly reliance: string
  readonly endpoint: EndpointRow | null
}

export interface PartnerCredential {
  readonly partner: PartnerView
  readonly key: ApiKeyRow
}

export class Directory extends Context.Service<
  Directory,
  {
    /** The credential of the key with this SHA-256 (hex). Null: the key is unknown or revoked, or its partner is CLOSED. */
    readonly credential: (hash: string) => PartnerCredential | null
    readonly partner: (partnerId: number) => PartnerView | null
    /** The partner with this id or code; null if there is none. */
    readonly findPartner: (idOrCode: string) => PartnerView | null
    readonly partners: () => ReadonlyArray<PartnerView>
    readonly keys: (partnerId: number) => ReadonlyArray<ApiKeyRow>
    readonly key: (keyId: number) => ApiKeyRow | null
    readonly operatorKey: (hash: string) => OperatorKeyRow | null
    readonly operatorKeys: () => ReadonlyArray<OperatorKeyRow>
    /** The version of the partner. Every turn that depends on the partner stamps its commit with it. */
    readonly stamp: (partnerId: number) => PartnerStamp
    /**
     * Runs `work` while no turn of the partner's clients is decided. It begins once every earlier decision is in the
     * database or rejected. New turns wait for its end, and then see its changes. One `work` at a time per partner.
     */
    hold<A, E>(partnerId: number, work: Effect.Effect<A, E>): Effect.Effect<A, E | DispatchError>
  }
>()("brokerage/runtime/services/partners/Directory") {
  static readonly layer: Layer.Layer<Directory, never, ActorHost | RowReads> = Layer.effect(
    Directory,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const stored = yield* RowReads
      const partners = new Map<number, PartnerRow>()
      const reliances = new Map<number, RelianceRow>()
      const keys = new Map<number, ApiKeyRow>()
      const endpoints = new Map<number, EndpointRow>()
      const operators = new Map<number, OperatorKeyRow>()
      const byHash = new Map<string, ApiKeyRow>()
      const operatorByHash = new Map<string, OperatorKeyRow>()
      const byCode = new Map<string, number>()

      const listeners: ListenersOf<"Directory"> = {
        partners: (row) => {
          partners.set(row.id, row)
          byCode.set(row.code, row.id)
        },
        reliances: (row) => void reliances.set(row.partnerId, row),
        webhookEndpoints: (row) => void endpoints.set(row.partnerId, row),
        apiKeys: (row) => {
          keys.set(row.id, row)
          byHash.set(row.hash, row)
        },
        operatorKeys: (row) => {
          operators.set(row.id, row)
          operatorByHash.set(row.hash, row)
        }
      }
      const load = <T extends keyof typeof listeners>(table: T) =>
        Effect.map(Effect.orDie(stored.all(table)), (rows) => {
          for (const row of rows) (listeners[table] as (row: Tables[T]) => void)(row)
        })
      for (const table of Object.keys(listeners) as ReadonlyArray<keyof typeof listeners>) yield* load(table)
      subscribe(host, "Directory", listeners)

      const holds = new Map<number, TurnHeld>()
      const turns = new Map<number, Semaphore.Semaphore>()
      const hold = <A, E>(partnerId: number, work: Effect.Effect<A, E>): Effect.Effect<A, E | DispatchError> =>
        Effect.suspend(() => {
          const latch = Latch.makeUnsafe(false)
          holds.set(partnerId, new TurnHeld(latch.await))
          // The journal is first in, first out: once this empty commit is stored, every commit submitted before it is
          // stored.
          return Effect.ensuring(
            Effect.andThen(host.record({}), work),
            Effect.sync(() => {
              holds.delete(partnerId)
              latch.openUnsafe()
            })
          )
        })
      const turnOf = (partnerId: number): Semaphore.Semaphore => {
        let found = turns.get(partnerId)
        if (found === undefined) turns.set(partnerId, (found = Semaphore.makeUnsafe(1)))
        return found
      }

      const partner = (partnerId: number): PartnerView | null => {
        const row = partners.get(partnerId)
        if (row === undefined) return null
        return { row, reliance: reliances.get(partnerId)?.state ?? "NONE", endpoint: endpoints.get(partnerId) ?? null }
      }
      return Directory.of({
        credential: (hash) => {
          const key = byHash.get(hash)
          if (key === undefined || key.state !== "ACTIVE") return null
          const view = partner(key.partnerId)
          return view === null || view.row.state === "CLOSED" ? null : { partner: view, key }
        },
        partner,
        findPartner: (idOrCode) =>
          partner(byCode.get(idOrCode) ?? (/^[1-9]\d{0,15}$/.test(idOrCode) ? Number(idOrCode) : -1)),
        partners: () => [...partners.keys()].map((id) => partner(id) as PartnerView),
        keys: (partnerId) => [...keys.values()].filter((key) => key.partnerId === partnerId),
        key: (keyId) => keys.get(keyId) ?? null,
        operatorKey: (hash) => {
          const key = operatorByHash.get(hash)
          return key === undefined || key.state !== "ACTIVE" ? null : key
        },
        operatorKeys: () => [...operators.values()],
        stamp: (partnerId) => {
          const held = holds.get(partnerId)
          if (held !== undefined) throw held
          return { partnerId, epoch: partners.get(partnerId)?.epoch ?? -1 }
        },
        hold: (partnerId, work) => inTurn(turnOf(partnerId), hold(partnerId, work))
      })
    })
  )
}
