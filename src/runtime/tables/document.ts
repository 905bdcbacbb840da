/** Documents of clients: facts, and contents in a separate table (doc 1, Document; A1-37). */
import { ofClient, table } from "./Table.ts"

/** The facts of a document; its content is in a separate row that is never kept in memory. */
export interface DocumentRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly type: string
  readonly purpose: string
  readonly side: string | null
  /** Sealed, because filenames may contain names of persons. */
  readonly filename: string
  readonly mimeType: string
  readonly sizeBytes: number
  readonly source: string
  readonly uploadedAt: number
  readonly deletedAt: number | null
}

export interface DocumentContentRow {
  readonly documentId: number
  readonly partnerId: number
  readonly clientId: number
  /** Wall time; the sweep of contents without a document uses it. */
  readonly storedAt: number
  /** The file in base64; empty once the document is deleted. */
  readonly content: string
}

export const documentTables = {
  documents: table<DocumentRow>()({
    title: "document",
    machine: null,
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      shard: "id",
      type: "text",
      purpose: "text",
      side: "text?",
      filename: "sealedText",
      mimeType: "text",
      sizeBytes: "id",
      source: "text",
      uploadedAt: "id",
      deletedAt: "id?"
    },
    // Mailboxes hold live documents only.
    residence: { ...ofClient, only: { sql: "deleted_at IS NULL", test: (row) => row.deletedAt === null } },
    id: ["document", "usual"]
  }),
  documentContents: table<DocumentContentRow>()({
    title: "document content",
    machine: null,
    key: ["documentId"],
    mode: "upsert",
    columns: { documentId: "id", partnerId: "id", clientId: "id", storedAt: "id", content: "sealedText" }
  })
}
