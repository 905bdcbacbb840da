/**
 * Turns an entry into lines of the watch list: one line per combination of name, birth date and country, so that no fact of
 * the file is lost. An unreadable value adds an unknown value to the readable ones (F26).
 */
import { type ListedPerson, maxListedName, personErrors } from "../../src/machines/screening/ListedPerson.ts"
import { cleanText, textSentence } from "../../src/machines/shared/Text.ts"
import type { ListEntry } from "./ListLine.ts"
import { readCountry } from "./readCountry.ts"
import { readDates } from "./readDates.ts"

/** Limit on the lines of one entry; the longest published entries have some hundreds. */
const mostLines = 10_000

export type Persons =
  | {
      readonly kind: "persons"
      readonly persons: ReadonlyArray<ListedPerson>
      /** Names of the fields that have an unreadable value. */
      readonly unread: ReadonlyArray<string>
    }
  | { readonly kind: "bad" | "wrong"; readonly sentence: string }

export const personsOf = ({ names, dobs, countries, list, cut = [] }: ListEntry): Persons => {
  const written = valuesOf(names.map((name) => name.replace(/\s+/gu, " ")))
  const readable = written.filter((name) => wrongIn(name) === null)
  if (readable.length === 0) return { kind: "bad", sentence: wrongIn(written[0] ?? "") ?? "" }
  const dates = alternatives(dobs, readDates)
  const codes = alternatives(countries, (text) => {
    const code = readCountry(text)
    return code === null ? null : [code]
  })
  if (readable.length * dates.values.length * codes.values.length > mostLines) {
    return { kind: "wrong", sentence: `An entry may have at most ${mostLines} names with birth dates and countries.` }
  }
  const persons = readable.flatMap((name) =>
    dates.values.flatMap((dob) => codes.values.map((country) => ({ list, name, dob, country })))
  )
  const wrongList = personErrors(persons[0]!)?.list
  if (wrongList !== undefined) return { kind: "wrong", sentence: wrongList }
  const unread = [
    ...(readable.length < written.length ? ["name"] : []),
    ...(dates.isWhole ? [] : ["dob"]),
    ...(codes.isWhole ? [] : ["country"]),
    ...cut
  ]
  return { kind: "persons", persons: persons as ReadonlyArray<ListedPerson>, unread }
}

/** The reason that a name can't be read, as a sentence; null when it can. */
const wrongIn = (name: string): string | null =>
  textSentence(name, "The name", maxListedName, true) ?? (/\p{L}/u.test(name) ? null : "The name must have a letter.")

/** The texts that are not blank, each once. */
const valuesOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(texts.map(cleanText).filter((text) => text !== ""))
]

interface Alternatives {
  /** The values of a field; null stands for an unknown value. The list is never empty. */
  readonly values: ReadonlyArray<string | null>
  readonly isWhole: boolean
}

const alternatives = (
  texts: ReadonlyArray<string>,
  read: (text: string) => ReadonlyArray<string> | null
): Alternatives => {
  const found = valuesOf(texts).map(read)
  const values = new Set(found.flatMap((each): ReadonlyArray<string | null> => each ?? [null]))
  return { values: values.size === 0 ? [null] : [...values], isWhole: !found.includes(null) }
}
