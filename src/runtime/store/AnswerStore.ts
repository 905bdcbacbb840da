/** Stored answers of idempotent requests, read when the commit of a request finds its key taken (A1-51..A1-53). */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { SealingService } from "../engine/sealing/SealingService.ts"
import { columnList, decodeRow } from "../engine/journal/SubjectLoader.ts"
import { withinTime } from "../engine/withinTime.ts"
import { catalogue } from "../tables/Catalogue.ts"
import type { AnswerRow } from "../tables/engine.ts"

export class AnswerStore extends Context.Service<
  AnswerStore,
  {
    find(principal: string, key: string): Effect.Effect<AnswerRow | null, Unavailable>
    /** Deletes the answer of a key if it was given at or before `cutoff` (Unix ms), which frees the key. */
    discardExpired(principal: string, key: string, cutoff: number): Effect.Effect<void, Unavailable>
    /** Deletes at most `limit` answers given at or before `cutoff`, and returns their number. */
    sweep(cutoff: number, limit: number): Effect.Effect<number, Unavailable>
    /** As `sweep`, for keys of requests that began and were never answered, together with their claims (VenueGateway). */
    sweepBegun(cutoff: number, limit: number): Effect.Effect<number, Unavailable>
    /** As `sweep`, for the parts of bulk reports, which are kept for as long as answers are replayed. */
    sweepParts(cutoff: number, limit: number): Effect.Effect<number, Unavailable>
  }
>()("brokerage/runtime/store/AnswerStore") {
  static readonly layer = Layer.effect(
    AnswerStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const spec = catalogue.answers
      const away = () => new Unavailable({ unknown: false })
      return AnswerStore.of({
        find: (principal, key) =>
          withinTime(
            sql.unsafe<Record<string, unknown>>(
              `SELECT ${columnList(spec)} FROM answers WHERE principal = $1 AND key = $2`,
              [principal, key]
            ),
            away
          ).pipe(
            Effect.map((rows) => (rows[0] === undefined ? null : (decodeRow(spec, rows[0], sealing) as AnswerRow))),
            Effect.mapError(away)
          ),
        discardExpired: (principal, key, cutoff) =>
          sql
            .unsafe("DELETE FROM answers WHERE principal = $1 AND key = $2 AND answered_at <= $3", [
              principal,
              key,
              BigInt(cutoff)
            ])
            .pipe(Effect.asVoid, Effect.mapError(away)),
        sweep: (cutoff, limit) =>
          sql
            .unsafe<{ readonly n: bigint }>(
              `WITH old AS (SELECT principal, key FROM answers WHERE answered_at <= $1 ORDER BY answered_at LIMIT $2),
               gone AS (DELETE FROM answers a USING old WHERE a.principal = old.principal AND a.key = old.key RETURNING 1)
               SELECT count(*) AS n FROM gone`,
              [BigInt(cutoff), BigInt(limit)]
            )
            .pipe(
              Effect.map((rows) => Number(rows[0]?.n ?? 0)),
              Effect.mapError(away)
            ),
        sweepBegun: (cutoff, limit) =>
          sql
            .unsafe<{ readonly n: bigint }>(
              `WITH old AS (SELECT name FROM claims WHERE name LIKE 'request:% %' AND owner <= $1 ORDER BY owner LIMIT $2),
               gone AS (DELETE FROM claims WHERE name IN (SELECT name FROM old UNION ALL SELECT split_part(name, ' ', 1) FROM old))
               SELECT count(*) AS n FROM old`,
              [BigInt(cutoff), BigInt(limit)]
            )
            .pipe(
              Effect.map((rows) => Number(rows[0]?.n ?? 0)),
              Effect.mapError(away)
            ),
        sweepParts: (cutoff, limit) =>
          sql
            .unsafe<{ readonly n: bigint }>(
              `WITH old AS (SELECT partner_id, key, client_id FROM bulk_report_parts WHERE decided_at <= $1 ORDER BY decided_at LIMIT $2),
               gone AS (DELETE FROM bulk_report_parts p USING old
                         WHERE (p.partner_id, p.key, p.client_id) = (old.partner_id, old.key, old.client_id) AND p.decided_at <= $1 RETURNING 1)
               SELECT count(*) AS n FROM gone`,
              [BigInt(cutoff), BigInt(limit)]
            )
            .pipe(
              Effect.map((rows) => Number(rows[0]?.n ?? 0)),
              Effect.mapError(away)
            )
      })
    })
  )
}
