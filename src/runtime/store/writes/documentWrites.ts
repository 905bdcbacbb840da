/** Contents of documents, written before the commit of the document, and removed if that commit fails (A1-37). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { placeOf } from "../../engine/journal/columnValues.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"
import type { DocumentContentRow } from "../../tables/document.ts"

/** `storedAt`: wall clock, Unix ms. */
export const writeContent = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  { documentId, partnerId, clientId, storedAt, content }: DocumentContentRow
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.suspend(() =>
    Effect.asVoid(
      sql.unsafe(
        "INSERT INTO document_contents (document_id, partner_id, client_id, stored_at, content) VALUES ($1, $2, $3, $4, $5)",
        [
          BigInt(documentId),
          BigInt(partnerId),
          BigInt(clientId),
          BigInt(storedAt),
          sealing.seal(content, placeOf("document_contents", "content"))
        ]
      )
    )
  )

export const deleteContent = (sql: PgClient.PgClient, documentId: number): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(sql.unsafe("DELETE FROM document_contents WHERE document_id = $1", [BigInt(documentId)]))

/** Deletes contents stored before this time (wall clock, Unix ms) whose document does not exist. Returns the number. */
export const deleteForgottenContents = (
  sql: PgClient.PgClient,
  before: number
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly n: bigint }>(
      `WITH gone AS (DELETE FROM document_contents c WHERE stored_at < $1
         AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.id = c.document_id) RETURNING 1)
       SELECT count(*) AS n FROM gone`,
      [BigInt(before)]
    ),
    ([row]) => Number(row?.n ?? 0)
  )
