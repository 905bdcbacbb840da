/**
 * Validates a document's content: strict base64, and the file type by its first bytes; the content type that the
 * partner sent is informational. The size is checked before, by the length of the text (DocumentUploadBody). Doc 1,
 * rule 10; A1-37; RFC 4648, sections 3.3 and 3.5; WHATWG MIME Sniffing.
 */
import type { DocumentMimeType } from "../../../../machines/document/Document.ts"
import { decodedLength } from "../../../../machines/document/DocumentUploadBody.ts"
import { accept, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"

export interface DocumentFacts {
  readonly mimeType: DocumentMimeType
  readonly sizeBytes: number
}

const bad = (sentence: string): Verdict<never> =>
  refuse({ _tag: "Invalid", reason: "INVALID_FIELDS", sentence, errors: { dataBase64: sentence } })

/** The type and facts of a file, or its refusal. Reads the bytes once and keeps none. */
export const judgeContent = (dataBase64: string): Verdict<DocumentFacts> => {
  if (dataBase64 === "") return bad("The content is empty.")
  const bytes = decodeBase64Strict(dataBase64)
  if (bytes === null) return bad("The content must be padded base64 without white space or a data: prefix.")
  const mimeType = sniff(bytes)
  return mimeType === null
    ? bad("The content must be a JPEG, PNG or PDF file.")
    : accept({ mimeType, sizeBytes: bytes.length })
}

/**
 * Decodes base64 in its only valid spelling; any other text gives null. Node's decoder skips unknown characters, which
 * the length reveals. It also accepts the URL alphabet and stray bits after the last byte. These two are tested
 * directly, because encoding eight megabytes again for a comparison takes much longer.
 */
export const decodeBase64Strict = (text: string): Buffer | null => {
  if (text.includes("-") || text.includes("_")) return null
  // A character beyond ASCII has at least two bytes.
  if (Buffer.byteLength(text, "utf8") !== text.length) return null
  const bytes = Buffer.from(text, "base64")
  if (bytes.length !== decodedLength(text) || text.length !== 4 * Math.ceil(bytes.length / 3)) return null
  const tail = bytes.subarray(Math.max(0, bytes.length - (bytes.length % 3 || 3)))
  return text.endsWith(tail.toString("base64")) ? bytes : null
}

const signatures: ReadonlyArray<readonly [DocumentMimeType, Buffer]> = [
  ["image/png", Buffer.from("89504e470d0a1a0a", "hex")],
  ["image/jpeg", Buffer.from("ffd8ff", "hex")]
]

/** A PDF may begin within these first bytes: scanners, printers and old systems put their own bytes before it. */
const pdfHead = 1_024

/** A byte order mark and white space may precede the header of a PDF. */
const pdfStart = /^(?:\u00ef\u00bb\u00bf|\u00fe\u00ff|\u00ff\u00fe)?[\t\n\f\r ]*%PDF-/

/** The start of the lines of a printer job (PJL). */
const printerJob = "\u001b%-12345X"

/**
 * The length of a MacBinary header. The header is recognised by a zero, the length of a name, and zeros at two fixed
 * offsets.
 */
const macBinary = 128

const isMacBinary = (bytes: Buffer): boolean =>
  bytes[0] === 0 && bytes[1]! >= 1 && bytes[1]! <= 63 && bytes[74] === 0 && bytes[82] === 0

const isPdf = (bytes: Buffer): boolean => {
  const head = bytes.toString("latin1", isMacBinary(bytes) ? macBinary : 0, pdfHead)
  const isJob = head.startsWith(printerJob)
  return pdfStart.test(isJob ? head.slice(printerJob.length).replace(/^(?:@PJL[^\r\n]*\r?\n)+/, "") : head)
}

/**
 * The type of a file by its first bytes. A picture must begin with its signature: no byte order mark and no other header may
 * precede it.
 */
export const sniff = (bytes: Buffer): DocumentMimeType | null =>
  signatures.find(([, signature]) => bytes.subarray(0, signature.length).equals(signature))?.[0] ??
  (isPdf(bytes) ? "application/pdf" : null)
