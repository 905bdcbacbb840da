/**
 * The body of POST .../documents: its fields, and a safe form of the file's name. The content is checked where it is decoded
 * (doc 1, Document and rule 10; A1-14, A1-37).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { bodyCaps, documentLimits } from "../shared/Limits.ts"
import { checkFields, type Refusal } from "../shared/Refusal.ts"
import { notABody } from "../shared/RequestBody.ts"
import { cleanText } from "../shared/Text.ts"
import { type DocumentPurpose, documentPurposes } from "./Document.ts"

const labels = {
  name: "The file name",
  contentType: "The content type",
  dataBase64: "The content",
  purpose: "The purpose"
} as const

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

/** A valid upload; its content is not checked yet. */
export interface DocumentUploadBody {
  /** The file name without its path, 1 to 255 characters. */
  readonly filename: string
  readonly purpose: DocumentPurpose
  readonly dataBase64: string
}

export type DecodedDocumentUpload =
  | { readonly ok: true; readonly body: DocumentUploadBody }
  | { readonly ok: false; readonly refusal: Refusal }

const refused = (refusal: Refusal): DecodedDocumentUpload => ({ ok: false, refusal })

/** The refusal of a file larger than 8 MB: 413 code 4000. */
export const fileTooLarge: Refusal = {
  _tag: "TooLarge",
  sentence: `The file is larger than ${bodyCaps.documentFile} bytes.`
}

/**
 * The number of bytes that a base64 text encodes, by length and padding alone. Invalid base64 has such a number too, so that
 * bad padding does not decide whether a file is too large.
 */
export const decodedLength = (base64: string): number => {
  let end = base64.length
  while (end > 0 && base64.charCodeAt(end - 1) === 0x3d) end--
  return Math.floor((end * 3) / 4)
}

/** Checks an upload's fields. The size check comes first: the content of an oversized file is never decoded. */
export const decodeDocumentUpload = (body: unknown): DecodedDocumentUpload => {
  if (!Fields.isRecord(body)) return refused(notABody)
  const raw = Fields.withoutNulls(body, 0) as Fields.JsonRecord
  const { dataBase64 } = raw
  if (typeof dataBase64 === "string" && decodedLength(dataBase64) > bodyCaps.documentFile) return refused(fileTooLarge)
  const errors: Fields.FieldErrors = {}
  const add: Fields.AddError = (path, sentence) => {
    errors[path] ??= sentence
  }
  const { name } = raw
  if (typeof name === "string" && cleanText(name) !== "") {
    // The rule applies to the stored name, so a long path before it is no fault.
    const safe = safeName(name)
    if (safe === "") add("name", "The file name must name a file.")
    else raw["name"] = safe
  }
  const decoded = decodeBody(raw, add)
  const sentences = Object.values(errors)
  if (decoded === undefined || sentences.length > 0) {
    return refused({
      _tag: "Invalid",
      reason: "INVALID_FIELDS",
      sentence: sentences.length === 1 ? (sentences[0] ?? "") : checkFields,
      errors
    })
  }
  return { ok: true, body: { filename: decoded.name, purpose: decoded.purpose, dataBase64: decoded.dataBase64 } }
}

const decodeBody = Fields.decoderOf(DocumentUploadBody)

/** Invisible format characters, direction marks included: a displayed name must be the stored one. */
const formats = /(?![\u200c\u200d])\p{Cf}/gu
/** Zero-width joiners that do not stand between letters. Between letters they are spelling, in Persian or Hindi for instance. */
const looseJoiners = /(?<![\p{L}\p{M}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}])/gu
/** A visible character. Fillers (which Unicode counts as letters) and the empty Braille pattern (a symbol) are excluded. */
const visible = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u

/** The last part of a Unix or Windows path, without invisible characters; empty when no visible name remains. */
const safeName = (name: string): string => {
  const last = name.split(/[/\\]/).at(-1) ?? ""
  const clean = cleanText(last.replaceAll(formats, "").replaceAll(looseJoiners, ""))
  return clean === "." || clean === ".." || !visible.test(clean) ? "" : clean
}
