/**
 * The two tables of documents, rows and columns in one place: facts, and contents apart (document 1, Document; A1-37).
 * Catalogue and Rows list them with the others.
 */
import type { ColumnType } from "./Catalogue.ts"

/** Facts of a document; its content is a row of its own, never held in memory. */
export interface DocumentRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly type: string
  readonly purpose: string
  readonly side: string | null
  /** Sealed: people name files after themselves. */
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
  /** Wall time; the sweep of contents without a document counts from it. */
  readonly storedAt: number
  /** The file in base64; empty once the document is deleted. */
  readonly content: string
}

/** Every column of a table with its type. */
export type Columns<Row> = { readonly [C in keyof Row]: ColumnType }

export const documentColumns: Columns<DocumentRow> = {
  id: "id",
  partnerId: "id",
  clientId: "id",
  shard: "id",
  type: "text",
  purpose: "text",
  side: "text",
  filename: "sealedText",
  mimeType: "text",
  sizeBytes: "id",
  source: "text",
  uploadedAt: "id",
  deletedAt: "id"
}

export const contentColumns: Columns<DocumentContentRow> = {
  documentId: "id",
  partnerId: "id",
  clientId: "id",
  storedAt: "id",
  content: "sealedText"
}

/** Mailboxes hold live documents only. */
export const liveDocuments = {
  sql: "deleted_at IS NULL",
  test: (row: { readonly deletedAt: number | null }): boolean => row.deletedAt === null
}
