/**
 * The canonical text of models (RFC 8785). The many rows are flat except for `refs`. The order of their members is
 * computed once per shape, and the text equals that of the library (JCS-001).
 */
import canonicalize from "canonicalize"
import type { Json, JsonObject } from "../../../../machines/shared/Json.ts"
import { emptyRows, type ModelRow, type Skeleton } from "../../../../machines/statement/StatementModel.ts"

export const canonicalText = (value: Json): string => {
  const text = canonicalize(value)
  if (text === undefined) throw new Error("a model holds a value that JSON does not know")
  return text
}

/** The text of a row, with its columns in the order of their names. */
export const rowText = (row: ModelRow): string => {
  const ordered = inOrder(row)
  return ordered === null ? canonicalText(row as Json) : JSON.stringify(ordered)
}

/**
 * A shape of objects: its names as they come, and in order. `order` null: some names are integers, which JavaScript
 * orders itself.
 */
interface Shape {
  readonly names: ReadonlyArray<string>
  readonly order: ReadonlyArray<string> | null
  /** True if the names already come in order. */
  readonly isOrdered: boolean
}

/** Recently used shapes. The rows of a section have one shape or a few. */
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

/**
 * The value with the members of every object in the order of their names, ready for one serialisation. Null: JavaScript
 * can't hold the members in this order.
 */
const inOrder = (value: Json): Json | null => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null
  const members = value as JsonObject
  const { order, isOrdered } = shapeOf(Object.keys(members))
  if (order === null) return null
  // Most objects are in order already and need no copy.
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

/** The texts before, between and after the rows of the sections, one more than there are sections. */
export const framesOf = (skeleton: Skeleton): ReadonlyArray<string> => {
  const parts = canonicalText({ ...skeleton } as never).split(emptyRows)
  const open = emptyRows.slice(0, -1)
  return parts.map((part, at) => `${at === 0 ? "" : "]"}${part}${at === parts.length - 1 ? "" : open}`)
}

/** The skeleton, restored from its frames. */
export const skeletonOf = (frames: ReadonlyArray<string>): Skeleton => JSON.parse(frames.join("")) as Skeleton
