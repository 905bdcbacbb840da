/** Conversion between a value of a row and the value of its column. */
import type { ColumnType } from "../../tables/Table.ts"
import type { ColumnArray, ColumnKind } from "./ColumnArray.ts"
import type { Sealing } from "../sealing/Sealing.ts"

const kinds: { readonly [T in ColumnType]: ColumnKind } = {
  id: "int8",
  money: "int8",
  text: "text",
  bool: "bool",
  json: "text",
  sealed: "bytea",
  sealedText: "bytea"
}

export const columnKind = (type: ColumnType): ColumnKind => kinds[type]

// Finds the escapes of JSON.stringify for U+0000 and lone surrogates. An escaped backslash before the u starts no such escape.
export const unstorableDocument = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/

/** Returns a JSON text that every reader of the column can decode; throws a RangeError for any other. */
const document = (text: string, place: string): string => {
  if (text.includes("\\u") && unstorableDocument.test(text))
    throw new RangeError(`a text inside ${place} can't be stored`)
  return text
}

const typed = (place: string): never => {
  throw new TypeError(`a value of ${place} has the wrong type`)
}

/** Adds a row's value to its column; throws when no such column can hold it. */
export const appendValue = (
  column: ColumnArray,
  value: unknown,
  type: ColumnType,
  place: string,
  sealing: Pick<Sealing, "seal">
): void => {
  if (value === null || value === undefined) return column.null()
  switch (type) {
    case "id":
    case "money":
      return column.int8(value as number | bigint)
    case "text":
      return column.text(typeof value === "string" ? value : typed(place))
    case "bool":
      return column.bool(typeof value === "boolean" ? value : typed(place))
    case "json":
      return column.text(document(JSON.stringify(value), place))
    case "sealed":
      return column.bytea(sealing.seal(JSON.stringify(value), place))
    case "sealedText":
      return column.bytea(sealing.seal(value as string, place))
  }
}

/** Converts a column value from the driver to the row's value. */
export const fromColumn = (
  value: unknown,
  type: ColumnType,
  place: string,
  sealing: Pick<Sealing, "open">
): unknown => {
  if (value === null || value === undefined) return null
  switch (type) {
    case "id":
      return Number(value)
    case "sealed":
      return JSON.parse(sealing.open(value as Uint8Array, place))
    case "sealedText":
      return sealing.open(value as Uint8Array, place)
    default:
      return value
  }
}

export const placeOf = (table: string, column: string): string => `${table}.${column}`
