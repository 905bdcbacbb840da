/**
 * Reads of the audit stream in commit order: ids become visible in that order, so a reader by cursor never skips one
 * (A3-45; operator surface, audit tail). The chain of hashes is proved by `ledger verify`.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../engine/ActorHost.ts"
import type { ObjectName } from "../engine/Interpreter.ts"
import { SealingService } from "../engine/SealingService.ts"
import { columnList, decodeRow } from "../engine/SubjectLoader.ts"
import { catalogue } from "../store/Catalogue.ts"
import type { AuditRow } from "../store/Rows.ts"
import { whenAway } from "./whenAway.ts"

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
  /** Only rows about exactly this object. */
  readonly object?: ObjectName
  readonly limit: number
}

export class AuditTrail extends Context.Service<
  AuditTrail,
  {
    /** Newest last. Without `after` and `since` the newest rows, otherwise the first that follow. */
    read(query: AuditQuery): Effect.Effect<ReadonlyArray<AuditEntry>, Unavailable>
  }
>()("brokerage/runtime/services/AuditTrail") {
  static readonly layer = Layer.effect(
    AuditTrail,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      return AuditTrail.of({
        read: (query) => {
          const { text, values } = statement(query)
          return sql.unsafe<Record<string, unknown>>(text, values).pipe(
            Effect.map((rows) =>
              rows
                .map((raw) => auditEntry(decodeRow(catalogue.audit, raw, sealing) as AuditRow))
                .toSorted((a, b) => a.auditId - b.auditId)
            ),
            Effect.catch(whenAway)
          )
        }
      })
    })
  )
}

const statement = (query: AuditQuery) => {
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
