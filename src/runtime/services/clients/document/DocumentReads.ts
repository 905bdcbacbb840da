/**
 * Reads of clients' documents by compliance: the facts of all documents of a client, or one document with its content.
 * Reads require --reason and are audited. The audit row is committed before the reply. It names the document by its id
 * only, because file names often contain names of people (A1-38).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Document, DocumentPurpose } from "../../../../machines/document/Document.ts"
import { accept, conflict, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { ActorHost, type DispatchError, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { DocumentRow } from "../../../tables/document.ts"
import { findClient } from "../../account/findClient.ts"
import { clientSubject } from "../../account/clientState.ts"
import { documentOf, documentsOf } from "./Documents.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import { RowReads } from "../../../ports/RowReads.ts"

export type ClientDocument = Document & { readonly clientId: number; readonly purpose: DocumentPurpose }

/** A document as compliance reads it. `dataBase64`: its content; null when the content was not requested. */
export type ReadDocument = ClientDocument & { readonly dataBase64: string | null }

export interface DocumentReading {
  readonly reason: string
  /** True: the answer has the document's content; false: only its facts. */
  readonly content: boolean
}

export class DocumentReads extends Context.Service<
  DocumentReads,
  {
    /** The documents of a client (by id or uid), newest first, including deleted ones. */
    list(
      caller: OperatorCaller,
      client: string,
      reason: string
    ): Effect.Effect<Verdict<{ readonly documents: ReadonlyArray<ClientDocument> }>, DispatchError>
    read(
      caller: OperatorCaller,
      documentId: number,
      reading: DocumentReading
    ): Effect.Effect<Verdict<ReadDocument>, DispatchError>
  }
>()("brokerage/runtime/services/clients/document/DocumentReads") {
  static readonly layer = Layer.effect(
    DocumentReads,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const stored = yield* RowReads
      const sql = yield* PgClient.PgClient

      let open = 0
      /** Limits the number of files in memory. Above the limit the operator has to retry. */
      const holding = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E | Unavailable> =>
        Effect.suspend((): Effect.Effect<A, E | Unavailable> => {
          if (open === contentsAtOnce) return Effect.fail(new Unavailable({ unknown: false }))
          open++
          return Effect.ensuring(
            work,
            Effect.sync(() => void open--)
          )
        })

      const find = (documentId: number) =>
        Effect.map(stored.page("documents", [{ column: "id", value: documentId }], { limit: 1 }), ([row]) => row)

      const audited = (caller: OperatorCaller, found: DocumentRow, { reason, content }: DocumentReading) =>
        host.dispatch({
          subject: clientSubject(found.clientId),
          by: caller.by,
          decide: (turn): Verdict<DocumentRow> => {
            const live = turn.state.get("documents", String(found.id))
            if (live === undefined) return refuse(contentGone)
            const { id, clientId, partnerId } = live
            applyEffects(turn, { clientId, partnerId, object: `document:${id}` }, [
              { type: "audit", action: content ? "document.read" : "document.show", before: null, after: null, reason }
            ])
            return accept(live)
          }
        })

      /** The content of a document; null: it was deleted. A content whose size differs from the stored size is an error. */
      const contentOf = ({ id, sizeBytes }: DocumentRow) =>
        Effect.flatMap(
          stored.page("documentContents", [{ column: "document_id", value: id }], { limit: 1 }),
          ([row]) => {
            if (row === undefined || row.content === "") return Effect.succeed(null)
            return Buffer.byteLength(row.content, "base64") === sizeBytes
              ? Effect.succeed(row.content)
              : Effect.die(new Error(`the content of document ${id} is not as long as it was`))
          }
        )

      const read = (caller: OperatorCaller, documentId: number, reading: DocumentReading) =>
        Effect.gen(function* () {
          const found = yield* find(documentId)
          if (found === undefined) return refuse(unknown("Document"))
          const verdict = yield* audited(caller, found, reading)
          if (!verdict.ok) return verdict
          const facts = factsOf(verdict.value)
          if (!reading.content) return accept({ ...facts, dataBase64: null })
          const dataBase64 = yield* contentOf(verdict.value)
          // Without content here, the document was deleted after the audit row was written and before the content was read.
          return dataBase64 === null ? refuse(contentGone) : accept({ ...facts, dataBase64 })
        })

      return DocumentReads.of({
        list: (caller, client, reason) =>
          Effect.gen(function* () {
            const named = yield* findClient(host, sql, client)
            if (!named.ok) return named
            const found = named.value
            // The list is audited too, because it shows file names, which often contain names of people.
            yield* host.dispatch({
              subject: clientSubject(found.id),
              by: caller.by,
              decide: (turn) =>
                applyEffects(turn, { clientId: found.id, partnerId: found.partnerId, object: `client:${found.id}` }, [
                  { type: "audit", action: "document.list", before: null, after: null, reason }
                ])
            })
            return accept({ documents: (yield* documentsOf(stored, found.id)).map(factsOf) })
          }),
        read: (caller, documentId, reading) =>
          reading.content ? holding(read(caller, documentId, reading)) : read(caller, documentId, reading)
      })
    })
  )
}

/** Limit on the complete files that are in memory at the same time. */
export const contentsAtOnce = 2

const contentGone = conflict("DOCUMENT_DELETED", "The document was deleted: its content is gone.")

const factsOf = (row: DocumentRow): ClientDocument => ({
  ...documentOf(row),
  clientId: row.clientId,
  purpose: row.purpose as DocumentPurpose
})
