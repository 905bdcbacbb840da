/**
 * Reads the text of a small file, without its byte order mark: UTF-8, or UTF-16 when the mark indicates it (Windows shells
 * write UTF-16). Published lists may declare further encodings.
 */
import { readFileSync } from "node:fs"

/** Throws a TypeError when the bytes are not valid in the encoding. */
export const textOfBytes = (bytes: Uint8Array): string =>
  new TextDecoder(markedEncoding(bytes) ?? "utf-8", { fatal: true }).decode(bytes)

const markedEncoding = ([first, second]: Uint8Array): string | null => {
  // XML may be UTF-16 without a byte order mark; the byte order then follows from its first character, "<".
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return "utf-16le"
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return "utf-16be"
  return first === 0xef && second === 0xbb ? "utf-8" : null
}

const declaration = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]{1,40})["']/

/** The encoding of a text by its first bytes: from the byte order mark, or else the XML declaration, or else UTF-8. */
export const encodingOf = (start: Uint8Array): string => {
  const declared = declaration.exec(Buffer.from(start).toString("latin1"))?.[1]
  // A declaration that can be read byte by byte is not in UTF-16, even if it names UTF-16.
  return markedEncoding(start) ?? (declared === undefined || /^utf-?16/i.test(declared) ? "utf-8" : declared)
}

/** The text of a file. Throws when the file is unreadable or not text. */
export const readText = (path: string): string => textOfBytes(readFileSync(path))

/** The trimmed key, without line ends, white space and byte order marks; null when an HTTP header can't carry it. */
export const keyText = (text: string): string | null => {
  const key = text.trim()
  return /^[\x21-\x7e]{1,1024}$/.test(key) ? key : null
}
