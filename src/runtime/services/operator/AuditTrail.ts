/**
 * Reads of the audit stream in commit order: ids become visible in that order, so a reader by cursor never skips one
 * (A3-45; operator surface, audit tail, machine inspect). The chain of hashes is proved by `ledger verify`.
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Result } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { ObjectName } from "../../effects/Instance.ts"
import { SealingService } from "../../engine/sealing/SealingService.ts"
import { columnList, decodeRow } from "../../engine/journal/SubjectLoader.ts"
import { catalogue } from "../../store/Catalogue.ts"
import type { AuditRow } from "../../store/tables/engine.ts"
import { whenAway } from "../../store/whenAway.ts"

export interface AuditEntry {
  readonly auditId: number
  readonly stream: "client" | "partner" | "system"
  readonly partnerId: number | null
  readonly clientId: number | null
  readonly ts: number
  readonly role: string
  readonly keyLabel: string
  readonly requestId: string
  /** kind:id of what was acted on. */
  readonly object: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
}

export interface AuditQuery {
  readonly clientId?: number | null
  readonly partnerId?: number | null
  /** Unix ms, inclusive. */
  readonly since?: number
  /** Exclusive: the rows after this id, oldest first. */
  readonly after?: number
  /** Only rows of exactly this object (kind:id). */
  readonly object?: string
  readonly limit: number
}

/** Rows that name an object: all that name one, or only those of some actions. */
export interface HistorySource {
  readonly object: ObjectName
  readonly actions?: ReadonlyArray<string>
}

export interface HistoryQuery {
  readonly sources: ReadonlyArray<HistorySource>
  /** Exclusive: only older rows. */
  readonly before?: number
  readonly limit: number
}

export class AuditTrail extends Context.Service<
  AuditTrail,
  {
    /** Newest last. Without `after` and `since` the newest rows, otherwise the first that follow. */
    read(query: AuditQuery): Effect.Effect<ReadonlyArray<AuditEntry>, Unavailable>
    /** The newest rows of the sources, newest last. */
    history(query: HistoryQuery): Effect.Effect<ReadonlyArray<AuditEntry>, Unavailable>
  }
>()("brokerage/runtime/services/operator/AuditTrail") {
  static readonly layer = Layer.effect(
    AuditTrail,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const entries = ({ text, values }: AuditStatement) =>
        sql.unsafe<Record<string, unknown>>(text, values).pipe(
          Effect.map((rows) =>
            rows
              .map((raw) => auditEntry(decodeRow(catalogue.audit, raw, sealing) as AuditRow))
              .toSorted((a, b) => a.auditId - b.auditId)
          ),
          Effect.catch(whenAway)
        )
      return AuditTrail.of({
        read: (query) => entries(tailStatement(query)),
        history: (query) => entries(historyStatement(query))
      })
    })
  )
}

interface AuditStatement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

const texts = (values: ReadonlyArray<string | null>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))

/** Each source is read by itself from its newest row on, so that the index gives the order and nothing else is read. */
export const historyStatement = ({ sources, before, limit }: HistoryQuery): AuditStatement => ({
  text: `SELECT r.* FROM unnest($1::text[], $2::text[]) AS s(o, a)
     CROSS JOIN LATERAL (
       SELECT ${columnList(catalogue.audit)} FROM audit
        WHERE object = s.o AND id < $3 AND (s.a IS NULL OR action = ANY(string_to_array(s.a, ' ')))
        ORDER BY id DESC LIMIT $4) r
    ORDER BY r.id DESC LIMIT $4`,
  values: [
    texts(sources.map(({ object }) => object)),
    texts(sources.map(({ actions }) => actions?.join(" ") ?? null)),
    BigInt(before ?? Number.MAX_SAFE_INTEGER),
    BigInt(limit)
  ]
})

const tailStatement = (query: AuditQuery): AuditStatement => {
  const values: Array<bigint | string> = []
  const tests: Array<string> = []
  const test = (condition: (place: string) => string, value: bigint | string) =>
    void tests.push(condition(`$${values.push(value)}`))
  if (query.clientId != null) test((place) => `client_id = ${place}`, BigInt(query.clientId))
  if (query.clientId === null) tests.push("client_id IS NULL")
  if (query.partnerId != null) test((place) => `partner_id = ${place}`, BigInt(query.partnerId))
  if (query.partnerId === null) tests.push("partner_id IS NULL")
  if (query.since !== undefined) test((place) => `ts >= ${place}`, BigInt(query.since))
  if (query.after !== undefined) test((place) => `id > ${place}`, BigInt(query.after))
  if (query.object !== undefined) test((place) => `object = ${place}`, query.object)
  const forward = query.after !== undefined || query.since !== undefined
  const where = tests.length === 0 ? "" : ` WHERE ${tests.join(" AND ")}`
  const limit = `$${values.push(BigInt(query.limit))}`
  const text = `SELECT ${columnList(catalogue.audit)} FROM audit${where} ORDER BY id ${forward ? "ASC" : "DESC"} LIMIT ${limit}`
  return { text, values }
}

const auditEntry = (row: AuditRow): AuditEntry => ({
  auditId: row.id,
  stream: row.clientId !== null ? "client" : row.partnerId !== null ? "partner" : "system",
  partnerId: row.partnerId,
  clientId: row.clientId,
  ts: row.ts,
  role: row.role,
  keyLabel: row.keyLabel,
  requestId: row.requestId,
  object: row.object,
  action: row.action,
  before: row.before,
  after: row.after,
  reason: row.reason
})
