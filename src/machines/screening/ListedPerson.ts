/**
 * One line of a published list. The command line and the service both check and clean it with these functions, so that a line
 * always has the same form and hash (operator surface, screening; F26).
 */
import { parseCalendarDate } from "../shared/CalendarDate.ts"
import { isCountry } from "../shared/Country.ts"
import { cleanText, textSentence } from "../shared/Text.ts"
import type { WatchListName } from "./WatchList.ts"

export interface ListedPerson {
  readonly list: WatchListName
  readonly name: string
  /** YYYY, YYYY-MM or YYYY-MM-DD, as precise as the list; null when the list has no date. */
  readonly dob: string | null
  readonly country: string | null
}

/** A line before its check; an empty text counts as absent. */
export interface RawPerson {
  readonly list: string
  readonly name: string
  readonly dob: string | null
  readonly country: string | null
}

/** Longest name of an entry, in characters. */
export const maxListedName = 200

/** True if the text is a real year, month or day: YYYY, YYYY-MM or YYYY-MM-DD. */
export const isPartialDate = (text: string): boolean =>
  /^[0-9]{4}(-[0-9]{2}){0,2}$/.test(text) && parseCalendarDate(`${text}-01-01`.slice(0, 10)) !== undefined

/** The fields of a line in the form that is stored and compared: trimmed, in Unicode normal form C, absent when empty. */
export const cleanPerson = ({ list, name, dob, country }: RawPerson): RawPerson => ({
  list: cleanText(list),
  name: cleanText(name),
  dob: cleanText(dob ?? "") || null,
  country: cleanText(country ?? "") || null
})

/** The faults of a cleaned line as sentences by field; null if it has none. */
export const personErrors = ({ list, name, dob, country }: RawPerson): Readonly<Record<string, string>> | null => {
  const errors: Record<string, string> = {}
  // A published name may contain marks that set the writing direction; the comparison removes them.
  const wrongName = textSentence(name, "The name", maxListedName, true)
  if (wrongName !== undefined) errors.name = wrongName
  if (dob !== null && !isPartialDate(dob)) {
    errors.dob = "The date of birth must be written YYYY, YYYY-MM or YYYY-MM-DD."
  }
  if (country !== null && !isCountry(country)) {
    errors.country = "The country must be an ISO 3166-1 alpha-2 country code in upper case."
  }
  if (list !== "SANCTIONS" && list !== "PEP") errors.list = "The list must be one of: SANCTIONS, PEP."
  return Object.keys(errors).length === 0 ? null : errors
}

/** The line as one text for the hash of a list. Two lines have the same text exactly when all four fields are equal. */
export const personLine = ({ list, name, dob, country }: ListedPerson): string =>
  JSON.stringify([list, name, dob, country])

/**
 * Whether version `a` of a list is older than `b`. Runs of digits count as numbers, so 9 comes before 10, and dates written
 * YYYY-MM-DD sort by time.
 */
export const isOlderVersion = (a: string, b: string): boolean => {
  const [left, right] = [partsOf(a), partsOf(b)]
  for (let i = 0; i < Math.max(left.length, right.length); i += 1) {
    const [mine, theirs] = [left[i] ?? "", right[i] ?? ""]
    if (mine === theirs) continue
    const numbers = /^[0-9]+$/.test(mine) && /^[0-9]+$/.test(theirs)
    if (!numbers) return mine < theirs
    const [one, other] = [BigInt(mine), BigInt(theirs)]
    if (one !== other) return one < other
  }
  return false
}

const partsOf = (version: string): ReadonlyArray<string> => version.match(/[0-9]+|[^0-9]+/g) ?? []
