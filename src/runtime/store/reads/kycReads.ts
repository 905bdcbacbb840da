/** Revisions of a client's KYC data, without their payloads: those are as large as a request (A1-25, A1-32). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

export interface KnownRevision {
  readonly kycPackageId: number
  readonly revision: number
  readonly receivedAt: number
}

/** Newest first, at most `limit` of them. */
export const knownRevisions = (
  sql: PgClient.PgClient,
  clientId: number,
  limit: number
): Effect.Effect<ReadonlyArray<KnownRevision>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly package_id: bigint; readonly revision: bigint; readonly received_at: bigint }>(
      `SELECT r.package_id, r.revision, r.received_at FROM kyc_packages p JOIN kyc_revisions r ON r.package_id = p.id
        WHERE p.client_id = $1 ORDER BY r.revision DESC LIMIT $2`,
      [BigInt(clientId), BigInt(limit)]
    ),
    (rows) =>
      rows.map((row) => ({
        kycPackageId: Number(row.package_id),
        revision: Number(row.revision),
        receivedAt: Number(row.received_at)
      }))
  )
