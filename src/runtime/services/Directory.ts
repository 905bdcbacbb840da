/**
 * Partners and keys in memory: what authentication, rate limits and every gate read on each request. A live view:
 * filled at start, changed only by committed rows, so that nobody is served under a change that is not durable.
 */
import { Context, Effect, Layer } from "effect"
import { ActorHost } from "../engine/ActorHost.ts"
import type { PartnerStamp } from "../engine/Commit.ts"
import type {
  ApiKeyRow,
  EndpointRow,
  OperatorKeyRow,
  PartnerRow,
  RelianceRow,
  TableName,
  Tables
} from "../store/Rows.ts"
import { RowReads } from "./RowReads.ts"

/** A partner as every gate sees it. */
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
    /** The credential behind the SHA-256 (hex) of a key; null when unknown, revoked, or its partner is CLOSED. */
    readonly credential: (hash: string) => PartnerCredential | null
    readonly partner: (partnerId: number) => PartnerView | null
    /** By id or code. */
    readonly findPartner: (idOrCode: string) => PartnerView | null
    readonly partners: () => ReadonlyArray<PartnerView>
    readonly keys: (partnerId: number) => ReadonlyArray<ApiKeyRow>
    readonly key: (keyId: number) => ApiKeyRow | null
    readonly operatorKey: (hash: string) => OperatorKeyRow | null
    readonly operatorKeys: () => ReadonlyArray<OperatorKeyRow>
    /** The stamp a client's commit is decided under. */
    readonly stamp: (partnerId: number) => PartnerStamp
  }
>()("brokerage/runtime/services/Directory") {
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

      const follow = <T extends TableName>(table: T, take: (row: Tables[T]) => void) =>
        Effect.map(Effect.orDie(stored.all(table)), (rows) => {
          for (const row of rows) take(row)
          host.onCommitted(table, take)
        })

      yield* follow("partners", (row) => {
        partners.set(row.id, row)
        byCode.set(row.code, row.id)
      })
      yield* follow("reliances", (row) => void reliances.set(row.partnerId, row))
      yield* follow("webhookEndpoints", (row) => void endpoints.set(row.partnerId, row))
      yield* follow("apiKeys", (row) => {
        keys.set(row.id, row)
        byHash.set(row.hash, row)
      })
      yield* follow("operatorKeys", (row) => {
        operators.set(row.id, row)
        operatorByHash.set(row.hash, row)
      })

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
        stamp: (partnerId) => ({ partnerId, epoch: partners.get(partnerId)?.epoch ?? -1 })
      })
    })
  )
}
