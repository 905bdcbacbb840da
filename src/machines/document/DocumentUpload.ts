// The body of POST .../documents: its fields and the file's name made safe. The content itself is judged where it can be
// decoded (doc 1, Document and rule 10; A1-14, A1-37).
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { bodyCaps, documentLimits } from "../shared/Limits.ts"
import { checkFields, type Refusal } from "../shared/Refusal.ts"
import { cleanText } from "../shared/Text.ts"
import { type DocumentPurpose, documentPurposes } from "./Document.ts"

const labels = {
  name: "The file name",
  contentType: "The content type",
  dataBase64: "The content",
  purpose: "The purpose"
} as const

/** The body as sent, null fields left out (doc 1, Document). */
export const DocumentUploadBody = Fields.objectOf(
  {
    name: Fields.text(labels.name, documentLimits.nameLength),
    contentType: Fields.optionalText(labels.contentType, documentLimits.nameLength),
    dataBase64: Schema.String.annotate({
      message: `${labels.dataBase64} must be text.`,
      description: "The file in base64 (RFC 4648, section 4): padded, without white space or a data: prefix"
    }).annotateKey(Fields.missing(labels.dataBase64)),
    purpose: Fields.token(labels.purpose, documentPurposes)
  },
  "The request body"
)

/** A valid upload, its content not yet looked at. */
export interface DocumentUpload {
  /** Without path, 1 to 255 characters. */
  readonly filename: string
  readonly purpose: DocumentPurpose
  readonly dataBase64: string
}

export type DocumentUploadDecision =
  | { readonly ok: true; readonly upload: DocumentUpload }
  | { readonly ok: false; readonly refusal: Refusal }

const refused = (refusal: Refusal): DocumentUploadDecision => ({ ok: false, refusal })

/** 413 code 4000: more than 8 MB of file. */
export const fileTooLarge: Refusal = {
  _tag: "TooLarge",
  sentence: `The file is larger than ${bodyCaps.documentFile} bytes.`
}

/** Judges an upload's fields. A content longer than the longest allowed one is refused unread, before anything else. */
export const decodeDocumentUpload = (body: unknown): DocumentUploadDecision => {
  if (!Fields.isRecord(body)) {
    return refused({ _tag: "Invalid", sentence: "The request body must be a JSON object.", errors: null })
  }
  const raw = Fields.withoutNulls(body, 0) as Fields.JsonRecord
  const { dataBase64 } = raw
  if (typeof dataBase64 === "string" && dataBase64.length > bodyCaps.documentBase64) return refused(fileTooLarge)
  const errors: Fields.FieldErrors = {}
  const add: Fields.AddError = (path, sentence) => {
    errors[path] ??= sentence
  }
  const decoded = decodeBody(raw, add)
  const filename = decoded === undefined ? "" : safeName(decoded.name)
  if (decoded !== undefined && filename === "") add("name", "The file name must name a file.")
  const sentences = Object.values(errors)
  if (decoded === undefined || sentences.length > 0) {
    return refused({ _tag: "Invalid", sentence: sentences.length === 1 ? (sentences[0] ?? "") : checkFields, errors })
  }
  return { ok: true, upload: { filename, purpose: decoded.purpose, dataBase64: decoded.dataBase64 } }
}

const decodeBody = Fields.decoderOf(DocumentUploadBody)

/** Marks that turn the reading direction around: a name must look like what it is. */
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** The last part of a path of either kind, empty when that names no file. */
const safeName = (name: string): string => {
  const last = cleanText((name.split(/[/\\]/).at(-1) ?? "").replaceAll(directionMarks, ""))
  return last === "." || last === ".." ? "" : last
}
