/**
 * Parses a JSON body safely: valid UTF-8 and JSON, limited depth and size, no `__proto__` members, and only text that
 * Postgres and canonical JSON can hold. An invalid body is refused before its key is taken (A1-01).
 */
import { isUtf8 } from "node:buffer"
import { bodyMembers } from "../../machines/shared/Limits.ts"

/** Limit on nested containers; the deepest documented body has six. */
const depthLimit = 64

export type ParsedBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly sentence: string }

export const notJson = "The request body must be valid JSON."
const tooDeep = "The request body is nested too deeply."
const tooMany = `The request body has more than ${bodyMembers} members and entries.`
const badText = "The request body contains a character that is not allowed (U+0000 or half of a surrogate pair)."
const badNumber = "The request body contains a number that is too large."

/** Parses a body. The last of duplicate members wins, as in JSON.parse; `__proto__` members are dropped. */
export const parseBody = (bytes: Uint8Array): ParsedBody => {
  if (!isUtf8(bytes)) return { ok: false, sentence: notJson }
  const shape = shapeFault(bytes)
  if (shape !== null) return { ok: false, sentence: shape }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, sentence: notJson }
  }
  const sentence = fault(value)
  return sentence === null ? { ok: true, value } : { ok: false, sentence }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

/**
 * Whether containers are nested too deep or hold too many values, found by one pass over the bytes before a parser builds
 * them. A container holds at most one value more than it has commas, so brackets and commas bound the total. Bytes inside
 * strings are skipped, and no byte of a multi-byte UTF-8 sequence equals a bracket or a comma.
 */
const shapeFault = (bytes: Uint8Array): string | null => {
  let depth = 0
  let members = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte === quote) {
      i = endOfString(bytes, i + 1)
    } else if ((byte | 0x20) === 0x7b) {
      // The opening brackets 0x5b and 0x7b differ only in this bit; so do the closing ones.
      if (++depth > depthLimit) return tooDeep
      if (++members > bodyMembers) return tooMany
    } else if ((byte | 0x20) === 0x7d) {
      depth--
    } else if (byte === comma && ++members > bodyMembers) return tooMany
  }
  return null
}

/** Up to this many bytes of a string are scanned here; native code finds the end of longer ones. */
const walked = 256

/** The end of the string that begins here: the index of its closing quote, or the length of the bytes when it has none. */
const endOfString = (bytes: Uint8Array, start: number): number => {
  let i = start
  for (const limit = start + walked; i < bytes.length && bytes[i] !== quote; i++) {
    if (i >= limit) return endOfLongString(bytes, i)
    if (bytes[i] === backslash) i++
  }
  return i
}

/** Like `endOfString`, from any byte of the string that does not follow a backslash. */
const endOfLongString = (bytes: Uint8Array, start: number): number => {
  for (let from = start; ;) {
    const end = bytes.indexOf(quote, from)
    if (end === -1) return bytes.length
    let before = end
    while (before > from && bytes[before - 1] === backslash) before--
    // An even number of backslashes are escaped pairs; with an odd number, the last one escapes the quote.
    if ((end - before) % 2 === 0) return end
    from = end + 1
  }
}

/** The first fault inside a value, or null. Drops `__proto__` members. */
const fault = (value: unknown): string | null => {
  if (typeof value === "string") return clean(value) ? null : badText
  if (typeof value === "number") return Number.isFinite(value) ? null : badNumber
  if (typeof value !== "object" || value === null) return null
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = fault(item)
      if (found !== null) return found
    }
    return null
  }
  const record = value as Record<string, unknown>
  if (Object.hasOwn(record, "__proto__")) delete record["__proto__"]
  for (const key of Object.keys(record)) {
    const found = clean(key) ? fault(record[key]) : badText
    if (found !== null) return found
  }
  return null
}

const clean = (text: string): boolean => !text.includes("\0") && text.isWellFormed()
