/**
 * Reads of the audit stream in commit order. Rows become visible in the order of their ids, so a reader with a cursor
 * misses none. `ledger verify` proves the chain of hashes (A3-45).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import {
  type AuditQuery,
  auditRows,
  type AuditStatement,
  type HistoryQuery,
  historyStatement,
  isForward,
  tailStatement
} from "../../../store/reads/auditReads.ts"
import type { AuditRow } from "../../../tables/engine.ts"
import { whenAway } from "../../../store/whenAway.ts"

export interface AuditEntry {
  readonly auditId: number
  readonly stream: "client" | "partner" | "system"
  readonly partnerId: number | null
  readonly clientId: number | null
  readonly ts: number
  readonly role: string
  readonly keyLabel: string
  readonly requestId: string
  /** The object of the action, as kind:id. */
  readonly object: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
}

/** Rows, and whether more rows match: later rows when reading forward, otherwise earlier ones. */
export interface AuditPage {
  readonly entries: ReadonlyArray<AuditEntry>
  readonly hasMore: boolean
}

export class AuditTrail extends Context.Service<
  AuditTrail,
  {
    /**
     * Returns rows, newest last. With only `after` or `since`: the first rows after it. Otherwise: the newest rows, or
     * with `before` the newest ones below it.
     */
    read(query: AuditQuery): Effect.Effect<AuditPage, Unavailable>
    /** The newest audit rows of an object's sources, newest last. */
    history(query: HistoryQuery): Effect.Effect<ReadonlyArray<AuditEntry>, Unavailable>
  }
>()("brokerage/runtime/services/operations/operator/AuditTrail") {
  static readonly layer = Layer.effect(
    AuditTrail,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const entries = (statement: AuditStatement) =>
        auditRows(sql, sealing, statement).pipe(
          Effect.map((rows) => rows.map(auditEntry)),
          Effect.catch(whenAway)
        )
      return AuditTrail.of({
        read: (query) =>
          Effect.map(entries(tailStatement({ ...query, limit: query.limit + 1 })), (rows) => {
            const hasMore = rows.length > query.limit
            const shown = isForward(query) ? rows.slice(0, query.limit) : rows.slice(hasMore ? 1 : 0)
            return { entries: shown, hasMore }
          }),
        history: (query) => entries(historyStatement(query))
      })
    })
  )
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
