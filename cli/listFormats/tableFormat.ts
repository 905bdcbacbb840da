/**
 * Reads lists with named fields: CSV with a header row (such as the simple table of OpenSanctions), and JSON. A column or
 * member with an unknown name rejects the file. Several aliases, birth dates or countries are separated by semicolons in CSV,
 * and are arrays in JSON (operator surface, screening import).
 */
import { CsvError, CsvReader } from "../csv.ts"
import type { FormatOptions, ListLine } from "./ListLine.ts"

type Field = "name" | "aliases" | "dob" | "country" | "list" | "schema"

/** The field for each accepted column or member name, in lower case. */
const fieldOf: Readonly<Record<string, Field>> = {
  name: "name",
  aliases: "aliases",
  dob: "dob",
  birth_date: "dob",
  country: "country",
  countries: "country",
  list: "list",
  schema: "schema"
}

/** Further columns of OpenSanctions, which screening does not compare. */
const published = new Set(
  (
    "id caption addresses identifiers sanctions phones emails program_ids programs dataset datasets first_seen last_seen " +
    "last_change"
  ).split(" ")
)

/** Schemas of OpenSanctions that stand for persons, or may stand for one (LegalEntity). */
const persons = new Set(["person", "legalentity"])
const others = new Set(
  (
    "company organization publicbody vessel airplane vehicle asset realestate security cryptowallet address event " +
    "position occupancy family"
  ).split(" ")
)

/** The field of each column of a header row (null when screening does not use the column), or an error sentence. */
export const columnsOf = (header: ReadonlyArray<string>): ReadonlyArray<Field | null> | string => {
  const names = header.map((name) => name.trim().toLowerCase())
  if (!names.includes("name")) return "The header row must have a column called name."
  const isPublished = names.includes("id") && names.includes("schema")
  const columns: Array<Field | null> = []
  for (const name of names) {
    const field = Object.hasOwn(fieldOf, name) ? fieldOf[name]! : null
    if (field === null && !(isPublished && published.has(name))) return unknownName("column", name)
    if (field !== null && columns.includes(field)) return `Two columns are the ${field}: leave one of them out.`
    columns.push(field)
  }
  return columns
}

const unknownName = (kind: string, name: string): string =>
  `The ${kind} ${JSON.stringify(name.slice(0, 100))} is not known: take it out, or call it one of ${Object.keys(fieldOf).join(", ")}.`

/** Reads a CSV record by the columns of its header row. A record with another number of fields is bad. */
export const tableLine = (
  place: string,
  columns: ReadonlyArray<Field | null>,
  fields: ReadonlyArray<string>,
  options: FormatOptions
): ListLine => {
  if (fields.length !== columns.length) {
    return { place, kind: "bad", sentence: `There must be ${columns.length} fields, as in the header row.` }
  }
  const texts = Object.fromEntries(
    columns.flatMap((field, at) => {
      if (field === null) return []
      const text = fields[at]!
      return [[field, field === "name" || field === "list" || field === "schema" ? [text] : listed(text)] as const]
    })
  )
  return lineOf(place, texts, options)
}

/** Splits texts at semicolons; quotes enclose a text that contains one. */
const listed = (text: string): ReadonlyArray<string> => {
  if (!text.includes(";")) return [text.startsWith('"') ? (quotedTexts(text)?.[0] ?? text) : text]
  return quotedTexts(text) ?? text.split(";")
}

const quotedTexts = (text: string): ReadonlyArray<string> | null => {
  const reader = new CsvReader(";")
  try {
    return [...reader.read(text), ...reader.end()].flatMap(({ fields }) => fields)
  } catch (error) {
    if (error instanceof CsvError) return null
    throw error
  }
}

/** Reads an entry of a JSON document. An unknown member, or two members of the same field, make the entry wrong. */
export const jsonLine = (place: string, entry: Readonly<Record<string, unknown>>, options: FormatOptions): ListLine => {
  const texts: Partial<Record<Field, ReadonlyArray<string>>> = {}
  for (const [name, value] of Object.entries(entry)) {
    const field = Object.hasOwn(fieldOf, name) ? fieldOf[name]! : null
    if (field === null) return { place, kind: "wrong", sentence: unknownName("member", name) }
    if (texts[field] !== undefined) return { place, kind: "wrong", sentence: `Two members are the ${field}.` }
    const many = Array.isArray(value) ? (value as ReadonlyArray<unknown>) : [value ?? ""]
    const isOne = field === "name" || field === "list" || field === "schema"
    if (!many.every((each) => typeof each === "string") || (isOne && Array.isArray(value))) {
      const sentence = "name, list and schema must be texts, aliases, dob and country texts or lists of texts."
      return { place, kind: "wrong", sentence }
    }
    texts[field] = many
  }
  return lineOf(place, texts, options)
}

const lineOf = (
  place: string,
  texts: Partial<Record<Field, ReadonlyArray<string>>>,
  { list }: FormatOptions
): ListLine => {
  const [schema, ownList] = [texts.schema?.[0]?.trim() ?? "", texts.list?.[0] ?? ""]
  const kind = schema.toLowerCase()
  if (others.has(kind)) return { place, kind: "notPerson" }
  if (kind !== "" && !persons.has(kind)) {
    return { place, kind: "wrong", sentence: `The schema ${JSON.stringify(schema.slice(0, 100))} is not known.` }
  }
  return {
    place,
    kind: "entry",
    entry: {
      names: [...(texts.name ?? []), ...(texts.aliases ?? [])],
      dobs: texts.dob ?? [],
      countries: texts.country ?? [],
      list: ownList.trim() === "" ? (list ?? "") : ownList.trim()
    }
  }
}
