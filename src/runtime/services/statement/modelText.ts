/**
 * The canonical text of models (RFC 8785; JCS-001). Rows are flat but for `refs`, and many: they are written by hand, to the
 * same text.
 */
import canonicalize from "canonicalize"
import type { Json } from "../../../machines/Effects.ts"
import { emptyRows, type ModelRow, type Skeleton } from "../../../machines/statement/StatementModel.ts"

export const canonicalText = (value: Json): string => {
  const text = canonicalize(value)
  if (text === undefined) throw new Error("a model holds a value that JSON does not know")
  return text
}

/** A row: its columns in the order of their names. */
export const rowText = (row: ModelRow): string => {
  let text = "{"
  for (const name of Object.keys(row).sort()) {
    const value = row[name] as Json
    const written = typeof value === "object" && value !== null ? canonicalText(value) : JSON.stringify(value)
    text += `${text === "{" ? "" : ","}"${name}":${written}`
  }
  return `${text}}`
}

/** What stands before, between and behind the rows of the sections: one more text than sections. */
export const framesOf = (skeleton: Skeleton): ReadonlyArray<string> => {
  const parts = canonicalText({ ...skeleton } as never).split(emptyRows)
  const open = emptyRows.slice(0, -1)
  return parts.map((part, at) => `${at === 0 ? "" : "]"}${part}${at === parts.length - 1 ? "" : open}`)
}

/** The skeleton again, from its frames. */
export const skeletonOf = (frames: ReadonlyArray<string>): Skeleton => JSON.parse(frames.join("")) as Skeleton
