/**
 * Rows of the memory store: copied on the way in and frozen on the way out, so that no reader can change them. Values that the
 * column types of the database refuse are refused here too.
 */
import { catalogue, type TableName, type Tables } from "../../tables/Catalogue.ts"
import type { ColumnType, TableSpec } from "../../tables/Table.ts"
import { presentRow } from "../machine/upcast.ts"
import { unstorableDocument } from "./columnValues.ts"

/** Column values by name; JSON as text. */
export type StoredRow = Readonly<Record<string, unknown>>

/** Data that the database would refuse; the message names the column, never the value. */
export class RefusedData extends Error {}

const maxInt8 = 2n ** 63n - 1n

const encodeValue = (value: unknown, type: ColumnType, place: string): unknown => {
  const refuse = (why: string): never => {
    throw new RefusedData(`${place} ${why}`)
  }
  switch (type) {
    case "id":
    case "money": {
      const whole = type === "id" ? BigInt(value as number) : value
      if (typeof whole !== "bigint" || whole > maxInt8 || whole < -maxInt8 - 1n) return refuse("is outside 64 bits")
      return type === "id" ? Number(whole) : whole
    }
    case "text":
      if (typeof value !== "string" || value.includes("\u0000")) return refuse("is no text the database can hold")
      return value.toWellFormed()
    case "bool":
      return typeof value === "boolean" ? value : refuse("is no boolean")
    case "json": {
      const text = JSON.stringify(value)
      return unstorableDocument.test(text) ? refuse("is no JSON the database can hold") : text
    }
    case "sealed":
      return JSON.stringify(value)
    case "sealedText":
      return typeof value === "string" ? value.toWellFormed() : refuse("is no text")
  }
}

/** The row as it is stored. Throws if a column type can't hold a value; `missingColumn` checks empty columns. */
export const encodeRow = (table: TableName, row: object): StoredRow => {
  const spec = catalogue[table] as TableSpec
  const stored: Record<string, unknown> = {}
  for (const { name, type } of spec.columns) {
    const value = (row as Record<string, unknown>)[name] ?? null
    stored[name] = value === null ? null : encodeValue(value, type, `${spec.sqlName}.${name}`)
  }
  return stored
}

/** The first empty column that must not be empty, if any. */
export const missingColumn = (table: TableName, stored: StoredRow): string | undefined => {
  return catalogue[table].columns.find(({ name, nullable }) => stored[name] === null && !nullable)?.name
}

/** The decoded row of each stored row, as long as the stored row is referenced. */
const decodedRows = new WeakMap<StoredRow, object>()

/** The row in the current version of its machine, frozen, because all readers share it. Throws if a newer program wrote it. */
export const decodeStored = <T extends TableName>(table: T, stored: StoredRow): Tables[T] => {
  let row = decodedRows.get(stored)
  if (row === undefined) decodedRows.set(stored, (row = frozen(decoded(table, stored))))
  return row as Tables[T]
}

const decoded = (table: TableName, stored: StoredRow): object => {
  const row: Record<string, unknown> = { ...stored }
  for (const { name, type } of (catalogue[table] as TableSpec).columns) {
    if ((type === "json" || type === "sealed") && row[name] !== null) row[name] = JSON.parse(row[name] as string)
  }
  return presentRow(catalogue[table], row)
}

const frozen = <A extends object>(value: A): A => {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) frozen(part)
  return Object.freeze(value)
}
