/**
 * Text of a small file as it was meant: UTF-8, or UTF-16 where its mark says so (shells of Windows write that), without the
 * mark.
 */
import { readFileSync } from "node:fs"

/** Throws a TypeError when the bytes are no text of the encoding. */
export const textOfBytes = (bytes: Uint8Array): string => {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8"
  return new TextDecoder(encoding, { fatal: true }).decode(bytes)
}

/** Throws when the file can't be read, or is no text. */
export const readText = (path: string): string => textOfBytes(readFileSync(path))

/** One key, without line ends, white space and byte order marks around it; null: it is none that a header can carry. */
export const keyText = (text: string): string | null => {
  const key = text.trim()
  return /^[\x21-\x7e]{1,1024}$/.test(key) ? key : null
}
