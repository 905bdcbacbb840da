/**
 * The stored form of a piece of a statement's text. A compressed piece costs a tenth to seal, write and read. Older and short
 * pieces are stored as plain text: a plain text never begins with a control character, and a compressed one always does.
 */
import { gunzipSync, gzipSync } from "node:zlib"

/** The first byte of a compressed piece (RFC 1952). */
const compressed = 0x1f
/** Below this many bytes, compression costs more than it saves. */
const worthwhile = 1_024

export const packed = (content: string | Uint8Array): Uint8Array => {
  const bytes = typeof content === "string" ? Buffer.from(content) : content
  return bytes.length < worthwhile ? bytes : gzipSync(bytes, { level: 1, ...roomFor(bytes.length) })
}

/**
 * The zlib window that fits a text. The default window takes a quarter of a megabyte outside the heap: for very many short texts,
 * clearing it costs more than compressing, and the garbage makes V8 collect the whole heap repeatedly.
 */
const roomFor = (length: number) => {
  const windowBits = Math.min(15, Math.max(9, Math.ceil(Math.log2(length))))
  return { windowBits, memLevel: windowBits < 15 ? 6 : 8 }
}

export const unpacked = (stored: Uint8Array): string =>
  stored[0] === compressed ? gunzipSync(stored).toString() : Buffer.from(stored).toString()
