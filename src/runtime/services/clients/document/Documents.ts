/**
 * Documents of clients: uploaded by the partner, listed without their content, deleted only by the operator. The
 * content is stored before the turn (DocumentContents). The client's mailbox counts the documents, so that no race
 * exceeds the twenty live ones. A deletion empties the content in its own commit (doc 1, Document and rule 10; A1-37,
 * A1-38).
 */
import { Context, Effect, Layer } from "effect"
import {
  type Document,
  type DocumentMimeType,
  type DocumentPurpose,
  type DocumentSource,
  documentTypeOf,
  type UploadedDocument
} from "../../../../machines/document/Document.ts"
import { decodeDocumentUpload, type DocumentUploadBody } from "../../../../machines/document/DocumentUploadBody.ts"
import { bodyCaps, documentLimits } from "../../../../machines/shared/Limits.ts"
import { accept, conflict, type Refusal, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import {
  ActorHost,
  type DispatchError,
  type StoreAnswer,
  type Turn,
  type Unavailable
} from "../../../engine/mailbox/ActorHost.ts"
import { yieldToEventLoop, longWork } from "../../../engine/yieldToEventLoop.ts"
import { IdsExhausted } from "../../../engine/journal/IdBlocks.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { Instance } from "../../../effects/Instance.ts"
import { Journal } from "../../../engine/journal/Journal.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import type { DocumentRow } from "../../../tables/document.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { shardOf } from "../../../store/shard.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { noteOpenCases } from "../compliance/caseNotes.ts"
import { movePackage } from "../client/clientDecisions.ts"
import { clientSubject, instanceOf, ownClient, readersClient } from "../../account/clientState.ts"
import { Directory } from "../../partners/Directory.ts"
import { type DocumentFacts, judgeContent } from "./judgeContent.ts"
import { DocumentContents } from "../../../ports/DocumentContents.ts"
import { emptyDocument } from "./documentRetention.ts"
import { FairLimiter, type LimiterOptions } from "../../shared/FairLimiter.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import { RowReads } from "../../../ports/RowReads.ts"

const longest = bodyCaps.documentBase64
/**
 * Limits of uploads that are checked, sealed and written, in base64 characters. While an upload arrives, `BodyBudget`
 * counts it. The longest content fits each limit. An upload in this queue has been received completely.
 */
export const uploadRoom: LimiterOptions = {
  capacity: 4 * longest,
  share: 2 * longest,
  waiting: 8 * longest,
  waitingShare: 4 * longest,
  waitMillis: 5_000
}

export type UploadVerdict = Verdict<UploadedDocument>

/** A deleted document as the operator sees it. */
export type DeletedDocument = Document & { readonly clientId: number }

export class Documents extends Context.Service<
  Documents,
  {
    upload(
      caller: Caller,
      clientId: number,
      body: unknown,
      store: StoreAnswer<UploadVerdict>
    ): Effect.Effect<UploadVerdict, DispatchError>
    /** The client's documents, newest first, including deleted ones; null: the partner has no such client. */
    list(partnerId: number, clientId: number): Effect.Effect<ReadonlyArray<Document> | null, Unavailable>
    /** Deletes the content of a live document for good. The facts of the document stay, with the time of deletion (A1-38). */
    remove(
      caller: OperatorCaller,
      documentId: number,
      reason: string
    ): Effect.Effect<Verdict<DeletedDocument>, DispatchError>
  }
>()("brokerage/runtime/services/clients/document/Documents") {
  static readonly layer = Layer.effect(
    Documents,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const journal = yield* Journal
      const directory = yield* Directory
      const stored = yield* RowReads
      const contents = yield* DocumentContents

      const room = new FairLimiter(uploadRoom)

      /** The id of the new document, taken before the turn because the content is stored under it. */
      const newDocumentId: Effect.Effect<number> = Effect.suspend(() => {
        try {
          return Effect.succeed(journal.nextId("document"))
        } catch (error) {
          return error instanceof IdsExhausted ? Effect.andThen(journal.idsRefilled, newDocumentId) : Effect.die(error)
        }
      })

      /** The document type in the client's identification block; null without one. */
      const identificationType = (clientId: number): Effect.Effect<string | null, Unavailable> =>
        Effect.map(
          stored.page(
            "blockPayloads",
            [
              { column: "client_id", value: clientId },
              { column: "code", value: "IDENTIFICATION" }
            ],
            { limit: 1 }
          ),
          ([row]) => (row === undefined ? null : (row.data as { readonly type: string }).type)
        )

      const file = (caller: Caller, document: NewDocument, store: StoreAnswer<UploadVerdict>) =>
        host.dispatch({
          subject: clientSubject(document.clientId),
          by: caller.by,
          partner: () => directory.stamp(caller.partner.row.id),
          decide: (turn): UploadVerdict => {
            const partner = partnerNow(directory, caller)
            const refusal = uploadRefusal(turn.state, partner.row.id)
            const client = turn.state.one("clients")
            if (refusal !== null || client === undefined) return refuse(refusal ?? unknown("Client"))
            return accept(fileDocument(turn, document, instanceOf(client, partner)))
          },
          store
        })

      const keep = (
        caller: Caller,
        clientId: number,
        { filename, purpose, dataBase64 }: DocumentUploadBody,
        store: StoreAnswer<UploadVerdict>
      ): Effect.Effect<UploadVerdict, DispatchError> =>
        Effect.gen(function* () {
          const judged = judgeContent(dataBase64)
          if (!judged.ok) return judged
          if (dataBase64.length >= longWork) yield* yieldToEventLoop
          const partnerId = caller.partner.row.id
          // The turn checks this again. The check here avoids a stored content for an upload that would be refused
          // anyway.
          const refusal = yield* host.read(clientSubject(clientId), (state) => uploadRefusal(state, partnerId))
          if (refusal !== null) return refuse(refusal)
          const type = documentTypeOf(purpose, purpose === "identity" ? yield* identificationType(clientId) : null)
          const documentId = yield* newDocumentId
          const forget = Effect.ignore(contents.discard(documentId))
          const document = { ...judged.value, documentId, partnerId, clientId, type, purpose, filename }
          // An interruption of the caller must not leave a stored content without a document.
          return yield* Effect.uninterruptible(
            Effect.gen(function* () {
              yield* contents.write({ documentId, partnerId, clientId, content: dataBase64 })
              const verdict = yield* Effect.tapError(file(caller, document, store), (error) =>
                error._tag === "Unavailable" && error.unknown ? Effect.void : forget
              )
              if (!verdict.ok) yield* forget
              return verdict
            })
          )
        })

      return Documents.of({
        upload: (caller, clientId, body, store) => {
          const decoded = decodeDocumentUpload(body)
          return decoded.ok
            ? room.within(
                caller.partner.row.id,
                decoded.body.dataBase64.length,
                keep(caller, clientId, decoded.body, store)
              )
            : Effect.succeed(refuse(decoded.refusal))
        },
        list: (partnerId, clientId) =>
          Effect.gen(function* () {
            const own = yield* host.read(clientSubject(clientId), (state) => readersClient(state, partnerId) !== null)
            if (!own) return null
            return (yield* documentsOf(stored, clientId)).map(documentOf)
          }),
        remove: (caller, documentId, reason) =>
          Effect.gen(function* () {
            const [found] = yield* stored.page("documents", [{ column: "id", value: documentId }], { limit: 1 })
            if (found === undefined) return refuse(unknown("Document"))
            return yield* host.dispatch({
              subject: clientSubject(found.clientId),
              by: caller.by,
              decide: (turn) => deleteDocument(turn, found, reason)
            })
          })
      })
    })
  )
}

/** Every document of a client, newest first: the list is not paged on the wire, so it must be complete. */
export const documentsOf = (
  stored: Pick<RowReads["Service"], "page">,
  clientId: number,
  pageSize = 1_000
): Effect.Effect<ReadonlyArray<DocumentRow>, Unavailable> =>
  Effect.gen(function* () {
    const rows: Array<DocumentRow> = []
    for (;;) {
      const last = rows.at(-1)
      const page = yield* stored.page("documents", [{ column: "client_id", value: clientId }], {
        limit: pageSize,
        ...(last === undefined ? {} : { before: last.id })
      })
      rows.push(...page)
      if (page.length < pageSize) return rows
    }
  })

interface NewDocument extends DocumentFacts {
  readonly documentId: number
  readonly partnerId: number
  readonly clientId: number
  readonly type: string
  readonly purpose: DocumentPurpose
  readonly filename: string
}

/** The reason why this client can't take another document, or null. */
const uploadRefusal = (state: SubjectState, partnerId: number): Refusal | null => {
  const client: ClientRow | null = ownClient(state, partnerId)
  if (client === null) return unknown("Client")
  if (client.state === "CLOSED") return conflict("ACCOUNT_CLOSED", "The account is closed.")
  const live = state.all("documents").filter(({ source }) => source === "PARTNER").length
  return live < documentLimits.livePerClient
    ? null
    : conflict("TOO_MANY_DOCUMENTS", `The client has ${documentLimits.livePerClient} documents already.`)
}

/** Writes the document. A package that requested documents and the client's open cases record its arrival (D2). */
const fileDocument = (turn: Turn, document: NewDocument, instance: Instance): UploadedDocument => {
  const { documentId, partnerId, clientId, type, purpose, filename, mimeType, sizeBytes } = document
  turn.draft.put("documents", {
    id: documentId,
    partnerId,
    clientId,
    shard: shardOf(clientId),
    type,
    purpose,
    side: null,
    filename,
    mimeType,
    sizeBytes,
    source: "PARTNER",
    uploadedAt: turn.now,
    deletedAt: null
  })
  applyEffects(turn, { ...instance, object: `document:${documentId}` }, [
    { type: "audit", action: "document.upload", before: null, after: "LIVE", reason: null }
  ])
  const kyc = turn.state.one("kycPackages")
  if (kyc !== undefined) {
    movePackage({ turn, instance, by: "PARTNER" }, kyc, { type: "DOCUMENT_UPLOADED", at: turn.now, documentId })
    if (kyc.state === "DOCUMENTS_REQUESTED") noteOpenCases(turn, instance, `document ${documentId} uploaded`)
  }
  return { documentId, type, purpose, filename, mimeType, sizeBytes, uploadedAt: turn.now, source: "PARTNER" }
}

/**
 * Empties the content and sets the time of deletion in one commit. The mailbox holds live rows only, so a second
 * deletion finds none.
 */
const deleteDocument = (turn: Turn, found: DocumentRow, reason: string): Verdict<DeletedDocument> => {
  const live = turn.state.get("documents", String(found.id))
  if (live === undefined) return refuse(conflict("DOCUMENT_DELETED", "The document is deleted already."))
  const row = emptyDocument(turn, live, reason)
  return accept({ ...documentOf(row), clientId: row.clientId })
}

/** A stored row as a list shows it. */
export const documentOf = (row: DocumentRow): Document => ({
  documentId: row.id,
  type: row.type,
  side: row.side,
  filename: row.filename,
  mimeType: row.mimeType as DocumentMimeType,
  sizeBytes: row.sizeBytes,
  uploadedAt: row.uploadedAt,
  deletedAt: row.deletedAt,
  source: row.source as DocumentSource
})
