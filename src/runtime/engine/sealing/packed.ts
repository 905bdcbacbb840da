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
  return bytes.length < worthwhile ? bytes : gzipSync(bytes, { level: 1, ...roomFor(bytes.length) })
}

/**
 * The window of zlib that a text fills. Its usual room is a quarter of a megabyte outside of the heap: for each of very many short texts
 * that is more to clear than to compress, and so much garbage that V8 collects all the heap over and over.
 */
const roomFor = (length: number) => {
  const windowBits = Math.min(15, Math.max(9, Math.ceil(Math.log2(length))))
  return { windowBits, memLevel: windowBits < 15 ? 6 : 8 }
}

export const unpacked = (stored: Uint8Array): string =>
  stored[0] === compressed ? gunzipSync(stored).toString() : Buffer.from(stored).toString()
