/**
 * Reads birth dates as published lists write them. A range of years stands for every year in it. An approximate date ("circa
 * 1970"), a date in another calendar, and an ambiguous date (03/04/1970) count as unknown, because a guess could hide a match
 * (F26).
 */
import { isPartialDate } from "../../src/machines/screening/ListedPerson.ts"

/** Longest range of years that is expanded; longer ranges are nearly worthless for a comparison. */
const longestRange = 10

/** The dates (YYYY, YYYY-MM or YYYY-MM-DD) that the text stands for; null when it is unreadable. */
export const readDates = (text: string): ReadonlyArray<string> | null => {
  const written = text.trim().replace(/\.$/, "")
  const one = oneDate(written)
  if (one !== null) return [one]
  const sides = /^([0-9]{4}) ?- ?([0-9]{4})$/.exec(written) ?? /^(?:between )?(.+) (?:to|and) (.+)$/i.exec(written)
  const [from, to] = [yearIn(sides?.[1]), yearIn(sides?.[2])]
  if (from === null || to === null || to < from || to - from >= longestRange) return null
  return Array.from({ length: to - from + 1 }, (_, n) => String(from + n).padStart(4, "0"))
}

const oneDate = (text: string): string | null => {
  const iso = /^([0-9]{4}(?:-[0-9]{2}){0,2})(?:Z|[+-][0-9]{2}:[0-9]{2})?$/.exec(text)?.[1]
  const date = iso ?? wordedDate(text)
  return date !== undefined && isPartialDate(date) ? date : null
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const monthNames =
  /^(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)$/

/** Parses a date with a month name: "12 Mar 1971", "March 1971", "Nov. 1973". Undefined for any other text. */
const wordedDate = (text: string): string | undefined => {
  const match = /^(?:([0-9]{1,2}) )?([A-Za-z]+)\.? ?([0-9]{4})$/.exec(text)
  if (match === null) return undefined
  const [, day, word = "", year] = match
  const name = word.toLowerCase()
  if (!monthNames.test(name)) return undefined
  const month = `${year}-${String(months.indexOf(name.slice(0, 3)) + 1).padStart(2, "0")}`
  return day === undefined ? month : `${month}-${day.padStart(2, "0")}`
}

const yearIn = (text: string | undefined): number | null => {
  const date = text === undefined ? null : oneDate(text)
  return date === null ? null : Number(date.slice(0, 4))
}
