/**
 * One line of a published list, from the command line to the service: both sides check and clean it with these functions, so
 * that a line always has one form and one hash (operator surface, screening; F26).
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

/** A real year, month or day: missing parts count as the first. */
export const isPartialDate = (text: string): boolean =>
  /^[0-9]{4}(-[0-9]{2}){0,2}$/.test(text) && parseCalendarDate(`${text}-01-01`.slice(0, 10)) !== undefined

/** The line in its stored form, which is also compared. */
export const cleanPerson = ({ list, name, dob, country }: RawPerson): RawPerson => ({
  list: cleanText(list),
  name: cleanText(name),
  dob: cleanText(dob ?? "") || null,
  country: cleanText(country ?? "") || null
})

/** The faults of a clean line by field; null without faults. */
export const personErrors = ({ list, name, dob, country }: RawPerson): Readonly<Record<string, string>> | null => {
  const errors: Record<string, string> = {}
  // A published list may mark the direction of a name; the comparison removes such marks.
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

/** The line as one text: equal for equal entries, different for different ones. */
export const personLine = ({ list, name, dob, country }: ListedPerson): string =>
  JSON.stringify([list, name, dob, country])

/**
 * True when version `a` of a list is older than `b`. Runs of digits count as numbers, so that 9 comes before 10 and a
 * date written YYYY-MM-DD before a later one.
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
