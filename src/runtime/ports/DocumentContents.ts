/**
 * The contents of documents, encrypted at rest (architecture, At rest; A1-37). A content is written separately before the commit
 * of its document, so that 8 MB never delay money commits in a batch. If the commit fails, the content is removed: at once if the
 * failure is known, otherwise by the sweep.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { SealingService } from "../engine/sealing/SealingService.ts"
import { withinTime } from "../engine/withinTime.ts"
import type { DocumentContentRow } from "../tables/document.ts"
import { whenAway } from "../store/whenAway.ts"
import { deleteContent, deleteForgottenContents, writeContent } from "../store/writes/documentWrites.ts"

export type NewContent = Omit<DocumentContentRow, "storedAt">

export class DocumentContents extends Context.Service<
  DocumentContents,
  {
    /** Writes the content of a document that will be committed next. */
    write(content: NewContent): Effect.Effect<void, Unavailable>
    /** Removes the content of a document that was not committed. */
    discard(documentId: number): Effect.Effect<void, Unavailable>
    /** Removes contents older than `before` (wall clock, Unix ms) whose document does not exist. Returns the number. */
    sweep(before: number): Effect.Effect<number, Unavailable>
  }
>()("brokerage/runtime/ports/DocumentContents") {
  static readonly layer = Layer.effect(
    DocumentContents,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const away = () => new Unavailable({ unknown: false })
      const run = <A>(statement: Effect.Effect<A, SqlError.SqlError>) =>
        withinTime(Effect.catch(statement, whenAway), away)
      return DocumentContents.of({
        write: (content) =>
          // Wall time: business time may be advanced during an upload, and then the content would appear abandoned.
          Effect.flatMap(Clock.currentTimeMillis, (storedAt) =>
            run(writeContent(sql, sealing, { ...content, storedAt }))
          ),
        discard: (documentId) => run(deleteContent(sql, documentId)),
        sweep: (before) => run(deleteForgottenContents(sql, before))
      })
    })
  )
}
