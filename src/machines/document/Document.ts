/**
 * A client's document as partners read it: its facts, never its content. A document has no state machine: it is live until an
 * operator deletes it, and nothing else ever changes (doc 1, Document; A1-37, A1-38).
 */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"

export const documentPurposes = ["identity", "address", "w9", "other"] as const
export type DocumentPurpose = (typeof documentPurposes)[number]

/** The sender of a document: the client, the service's own identity provider, or the partner. */
export const documentSources = ["CLIENT", "IDENTITY_PROVIDER", "PARTNER"] as const
export type DocumentSource = (typeof documentSources)[number]

/** The accepted formats, detected by the first bytes. */
export const documentMimeTypes = ["image/jpeg", "image/png", "application/pdf"] as const
export type DocumentMimeType = (typeof documentMimeTypes)[number]

/**
 * The stored type: the kind of document that the identification block names, or the type that follows from the purpose.
 * `identification` is null while the client has no such block; an identity document then has the general type.
 */
export const documentTypeOf = (purpose: DocumentPurpose, identification: string | null): string => {
  switch (purpose) {
    case "identity":
      return identification ?? "identity"
    case "address":
      return "utility_bill"
    case "w9":
      return "w9_form"
    case "other":
      return "other"
  }
}

const documentId = Id
const type = Schema.String.annotate({
  description:
    "What it is: the type of the client's identification block, identity before there is one, utility_bill, w9_form or other."
})
const filename = Schema.String.annotate({ description: "The name it was sent with, without its path." })
const mimeType = Schema.Literals(documentMimeTypes).annotate({ description: "Found in the content." })
const sizeBytes = Schema.Int.annotate({ description: "Bytes of the file." })
const uploadedAt = Schema.Int.annotate({ description: "Unix ms." })
const source = Schema.Literals(documentSources)

/** The data of the answer to POST .../documents. */
export const UploadedDocument = Schema.Struct({
  documentId,
  type,
  purpose: Schema.Literals(documentPurposes),
  filename,
  mimeType,
  sizeBytes,
  uploadedAt,
  source
}).annotate({ identifier: "UploadedDocument" })
export type UploadedDocument = typeof UploadedDocument.Type

/** One document of the answer to GET .../documents. */
export const Document = Schema.Struct({
  documentId,
  type,
  side: Schema.NullOr(Schema.String).annotate({
    description: "Front or back, where the source knows it; null for a partner's documents."
  }),
  filename,
  mimeType,
  sizeBytes,
  uploadedAt,
  deletedAt: Schema.NullOr(Schema.Int).annotate({
    description: "Unix ms when the operator deleted its content; null while it is live."
  }),
  source
}).annotate({ identifier: "Document" })
export type Document = typeof Document.Type
