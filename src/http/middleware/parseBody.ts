// A JSON body that is safe to hand on: valid UTF-8 and JSON, no deeper than needed, no `__proto__` member, nothing that
// a database text or canonical JSON could not hold (A1-01; architecture 5: refused before the key is claimed).
import { isUtf8 } from "node:buffer"

/** Containers inside containers; the deepest documented body has six. */
const depthLimit = 64

export type ParsedBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly sentence: string }

const notJson = "The request body must be valid JSON."
const tooDeep = "The request body is nested too deeply."
const badText = "The request body contains a character that is not allowed (U+0000 or half of a surrogate pair)."
const badNumber = "The request body contains a number that is too large."

/** Parses a body once. Duplicate members: the last wins, as JSON.parse does; `__proto__` members are dropped. */
export const parseBody = (bytes: Uint8Array): ParsedBody => {
  if (!isUtf8(bytes)) return { ok: false, sentence: notJson }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, sentence: notJson }
  }
  const sentence = fault(value, 0)
  return sentence === null ? { ok: true, value } : { ok: false, sentence }
}

/** The first thing wrong inside a value, or null; drops `__proto__` members on the way. */
const fault = (value: unknown, depth: number): string | null => {
  if (typeof value === "string") return clean(value) ? null : badText
  if (typeof value === "number") return Number.isFinite(value) ? null : badNumber
  if (typeof value !== "object" || value === null) return null
  if (depth >= depthLimit) return tooDeep
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = fault(item, depth + 1)
      if (found !== null) return found
    }
    return null
  }
  const record = value as Record<string, unknown>
  if (Object.hasOwn(record, "__proto__")) delete record["__proto__"]
  for (const key of Object.keys(record)) {
    const found = clean(key) ? fault(record[key], depth + 1) : badText
    if (found !== null) return found
  }
  return null
}

const clean = (text: string): boolean => !text.includes("\0") && text.isWellFormed()
