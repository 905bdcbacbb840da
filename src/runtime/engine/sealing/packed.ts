/**
 * A piece of a statement's text as it is stored: compressed, for it is a tenth as long then to seal, to write and to read. Pieces that
 * were stored before, and short ones, are the text itself: none begins with a control character, as compressed ones do.
 */
import { gunzipSync, gzipSync } from "node:zlib"

/** The first byte of everything compressed (RFC 1952). */
const compressed = 0x1f
/** Bytes below which compressing costs more than it spares. */
const worthwhile = 1_024

export const packed = (content: string | Uint8Array): Uint8Array => {
  const bytes = typeof content === "string" ? Buffer.from(content) : content
  return bytes.length < worthwhile ? bytes : gzipSync(bytes, { level: 1 })
}

export const unpacked = (stored: Uint8Array): string =>
  stored[0] === compressed ? gunzipSync(stored).toString() : Buffer.from(stored).toString()
