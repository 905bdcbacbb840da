/**
 * Judges a document's content: strict base64, size, and what it is by its first bytes; the content type the partner sent
 * is informational (document 1, rule 10; A1-37; RFC 4648, sections 3.3 and 3.5).
 */
import { Effect } from "effect"
import { fileTypeFromBuffer } from "file-type"
import { type DocumentMimeType, documentMimeTypes } from "../../machines/document/Document.ts"
import { fileTooLarge } from "../../machines/document/DocumentUpload.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { accept, refuse, type Verdict } from "../../machines/shared/Refusal.ts"

export interface DocumentFacts {
  readonly mimeType: DocumentMimeType
  readonly sizeBytes: number
}

const bad = (sentence: string): Verdict<never> =>
  refuse({ _tag: "Invalid", sentence, errors: { dataBase64: sentence } })

const unread = bad("The content must be a JPEG, PNG or PDF file.")

/** What a file is, or why it is refused. Reads the bytes once; keeps nothing of them. */
export const judgeContent = (dataBase64: string): Effect.Effect<Verdict<DocumentFacts>> =>
  Effect.suspend(() => {
    if (dataBase64 === "") return Effect.succeed(bad("The content is empty."))
    const bytes = Buffer.from(dataBase64, "base64")
    // One spelling for each content: whatever the decoder overlooked (white space, other alphabets, missing padding,
    // bits behind the last byte) is not what the encoder writes.
    if (bytes.toString("base64") !== dataBase64) {
      return Effect.succeed(bad("The content must be padded base64 without white space or a data: prefix."))
    }
    if (bytes.length > bodyCaps.documentFile) return Effect.succeed(refuse(fileTooLarge))
    return Effect.map(typeOf(bytes), (mimeType) =>
      mimeType === null ? unread : accept({ mimeType, sizeBytes: bytes.length })
    )
  })

/** Animated PNG has its signature and is stored as PNG. A file the library stumbles over is none of the three. */
const typeOf = (bytes: Uint8Array): Effect.Effect<DocumentMimeType | null> =>
  Effect.tryPromise(() => fileTypeFromBuffer(bytes)).pipe(
    Effect.map((found) => {
      const mime = found?.mime === "image/apng" ? "image/png" : found?.mime
      return documentMimeTypes.find((known) => known === mime) ?? null
    }),
    Effect.catch(() => Effect.succeed(null))
  )
