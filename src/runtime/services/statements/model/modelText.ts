/**
 * The canonical text of models (RFC 8785; JCS-001). Rows are flat but for `refs`, and many: their members are put in
 * order once a shape, and written in one go, to the same text.
 */
import canonicalize from "canonicalize"
import type { Json, JsonObject } from "../../../../machines/shared/Json.ts"
import { emptyRows, type ModelRow, type Skeleton } from "../../../../machines/statement/StatementModel.ts"

export const canonicalText = (value: Json): string => {
  const text = canonicalize(value)
  if (text === undefined) throw new Error("a model holds a value that JSON does not know")
  return text
}

/** A row: its columns in the order of their names. */
export const rowText = (row: ModelRow): string => {
  const ordered = inOrder(row)
  return ordered === null ? canonicalText(row as Json) : JSON.stringify(ordered)
}

/** A shape that was met: the names of an object as they come, and in order; null: JavaScript has an order of its own for them. */
interface Shape {
  readonly names: ReadonlyArray<string>
  readonly order: ReadonlyArray<string> | null
  /** They come in order. */
  readonly isOrdered: boolean
}

/** The shapes met lately; rows of a section have one or a few. */
const shapes: Array<Shape> = []
const mostShapes = 32

const isOf = (names: ReadonlyArray<string>, found: ReadonlyArray<string>): boolean =>
  names.length === found.length && names.every((name, at) => name === found[at])

const shapeOf = (found: ReadonlyArray<string>): Shape => {
  for (const shape of shapes) if (isOf(shape.names, found)) return shape
  const isOwn = found.some((name) => /^[0-9]|^__proto__$/.test(name))
  const order = isOwn ? null : found.toSorted()
  const shape = { names: found, order, isOrdered: order !== null && isOf(order, found) }
  shapes.unshift(shape)
  if (shapes.length > mostShapes) shapes.pop()
  return shape
}

/** The same with the members of every object in the order of their names, for one writing of the whole; null: it can't be had. */
const inOrder = (value: Json): Json | null => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null
  const members = value as JsonObject
  const { order, isOrdered } = shapeOf(Object.keys(members))
  if (order === null) return null
  // Most come in order, and are their own copy then.
  let ordered: Record<string, Json> | null = isOrdered ? null : {}
  for (const name of order) {
    const member = members[name] as Json
    const whole = typeof member === "object" && member !== null ? inOrder(member) : member
    if (whole === null && member !== null) return null
    if (ordered === null && whole !== member) ordered = { ...members }
    if (ordered !== null) ordered[name] = whole
  }
  return ordered ?? members
}

/** What stands before, between and behind the rows of the sections: one more text than sections. */
export const framesOf = (skeleton: Skeleton): ReadonlyArray<string> => {
  const parts = canonicalText({ ...skeleton } as never).split(emptyRows)
  const open = emptyRows.slice(0, -1)
  return parts.map((part, at) => `${at === 0 ? "" : "]"}${part}${at === parts.length - 1 ? "" : open}`)
}

/** The skeleton again, from its frames. */
export const skeletonOf = (frames: ReadonlyArray<string>): Skeleton => JSON.parse(frames.join("")) as Skeleton
