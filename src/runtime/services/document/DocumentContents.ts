/**
 * The contents of documents, encrypted at rest (architecture, At rest; A1-37). A content is written on its own before the
 * commit that makes its document, so that 8 MB never stand in a batch in front of anybody's money; a content whose
 * document did not come to be is removed, at once where that is known, else by the sweep.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { placeOf } from "../../engine/journal/columnValues.ts"
import { SealingService } from "../../engine/sealing/SealingService.ts"
import { withinTime } from "../../engine/withinTime.ts"
import type { DocumentContentRow } from "../../store/documentTables.ts"
import { whenAway } from "../../store/whenAway.ts"

export type NewContent = Omit<DocumentContentRow, "storedAt">

export class DocumentContents extends Context.Service<
  DocumentContents,
  {
    /** Writes the content of a document that is about to be made. */
    write(content: NewContent): Effect.Effect<void, Unavailable>
    /** Removes the content of a document that was not made. */
    discard(documentId: number): Effect.Effect<void, Unavailable>
    /** Removes contents older than `before` (wall clock, Unix ms) whose document does not exist; how many. */
    sweep(before: number): Effect.Effect<number, Unavailable>
  }
>()("brokerage/runtime/services/document/DocumentContents") {
  static readonly layer = Layer.effect(
    DocumentContents,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const away = () => new Unavailable({ unknown: false })
      const run = (text: string, values: ReadonlyArray<bigint | Uint8Array>) =>
        withinTime(Effect.catch(sql.unsafe<{ readonly n: bigint }>(text, values), whenAway), away)
      return DocumentContents.of({
        write: ({ documentId, partnerId, clientId, content }) =>
          Effect.gen(function* () {
            // Wall time: business time may be moved while an upload runs, and then its content would look forgotten.
            const storedAt = yield* Clock.currentTimeMillis
            const sealed = sealing.seal(content, placeOf("document_contents", "content"))
            yield* run(
              "INSERT INTO document_contents (document_id, partner_id, client_id, stored_at, content) VALUES ($1, $2, $3, $4, $5)",
              [BigInt(documentId), BigInt(partnerId), BigInt(clientId), BigInt(storedAt), sealed]
            )
          }),
        discard: (documentId) =>
          Effect.asVoid(run("DELETE FROM document_contents WHERE document_id = $1", [BigInt(documentId)])),
        sweep: (before) =>
          Effect.map(
            run(
              `WITH gone AS (DELETE FROM document_contents c WHERE stored_at < $1
                 AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.id = c.document_id) RETURNING 1)
               SELECT count(*) AS n FROM gone`,
              [BigInt(before)]
            ),
            ([row]) => Number(row?.n ?? 0)
          )
      })
    })
  )
}
