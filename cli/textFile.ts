/**
 * Reads the text of a small file without its byte order mark: UTF-8, or UTF-16 when the mark shows it. Windows shells write
 * UTF-16.
 */
import { readFileSync } from "node:fs"

/** Throws a TypeError when the bytes are not valid in the encoding. */
export const textOfBytes = (bytes: Uint8Array): string => {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8"
  return new TextDecoder(encoding, { fatal: true }).decode(bytes)
}

/** Throws when the file is unreadable or not text. */
export const readText = (path: string): string => textOfBytes(readFileSync(path))

/** A key, trimmed of line ends, white space and byte order marks; null when a header can't carry it. */
export const keyText = (text: string): string | null => {
  const key = text.trim()
  return /^[\x21-\x7e]{1,1024}$/.test(key) ? key : null
}
