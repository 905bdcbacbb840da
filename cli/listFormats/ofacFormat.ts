/**
 * The list of the US Treasury (OFAC) as CSV (sdn.csv or cons_prim.csv): twelve fields without a header row, `-0-` for an
 * empty field, names as "SURNAME, Given". The remarks contain birth dates, nationalities and weak names. Two further files
 * contain the alternate names, and the continuation of each remark after its first thousand characters.
 */
import { sanctionsUnless, type FormatOptions, type ListLine } from "./ListLine.ts"

const fieldCount = 12
/** A remark of this length continues in the file of comments. */
const longestRemark = 1_000

export const isOfac = (fields: ReadonlyArray<string>): boolean =>
  fields.length === fieldCount && /^[0-9]+$/.test(fields[0] ?? "")

/** Texts of a further file (alternate names, or the rest of long remarks), by the number of the entry that they belong to. */
export type OfacTexts = ReadonlyMap<string, ReadonlyArray<string>>

/**
 * The texts of a record in a further file, from the first text column on. Null when the record does not belong to such a
 * file.
 */
export const ofacText = (
  kind: "alternateNames" | "comments",
  fields: ReadonlyArray<string>
): readonly [entry: string, text: string] | null => {
  const [count, at] = kind === "alternateNames" ? [5, 3] : [2, 1]
  if (fields.length !== count || !/^[0-9]+$/.test(fields[0] ?? "")) return null
  return [fields[0]!, filled(fields[at]!)]
}

/** The trimmed field; empty for `-0-`, which marks an empty field. */
const filled = (field: string): string => (field.trim() === "-0-" ? "" : field.trim())

export const ofacLine = (
  place: string,
  fields: ReadonlyArray<string>,
  options: FormatOptions,
  alternateNames: OfacTexts,
  comments: OfacTexts | null
): ListLine => {
  if (!isOfac(fields)) {
    return { place, kind: "wrong", sentence: `There must be ${fieldCount} fields, and the first a number.` }
  }
  const [entry = "", name = "", type = "", , , , , , , , , remarks = ""] = fields.map(filled)
  if (type === "" || type === "vessel" || type === "aircraft") return { place, kind: "notPerson" }
  if (type !== "individual") {
    return { place, kind: "wrong", sentence: `The type ${JSON.stringify(type.slice(0, 100))} is not known.` }
  }
  const isCut = remarks.length >= longestRemark
  const rest = comments?.get(entry)
  const stated = remarksIn(rest === undefined ? remarks : remarks + rest.join(""))
  return {
    place,
    kind: "entry",
    entry: {
      names: [name, ...(alternateNames.get(entry) ?? []), ...stated.names],
      dobs: stated.dobs,
      countries: stated.countries,
      list: sanctionsUnless(options),
      ...(isCut && rest === undefined ? { cut: ["remarks"] } : {})
    }
  }
}

/** Parses remarks such as "DOB 31 Aug 1960; alt. DOB 1953; nationality Lebanon; a.k.a. 'ABU HADI'." */
const remarksIn = (text: string) => {
  const parts = text
    .replace(/\.$/, "")
    .split(";")
    .map((part) => part.trim().replace(/^alt\. /, ""))
  const after = (pattern: RegExp): ReadonlyArray<string> =>
    parts.flatMap((part) => {
      const value = pattern.exec(part)?.[1]
      return value === undefined ? [] : [value]
    })
  return {
    dobs: after(/^DOB (.+)$/),
    countries: after(/^(?:nationality|citizen) (.+)$/),
    names: after(/^[afn]\.k\.a\. ['"](.+)['"]$/)
  }
}
