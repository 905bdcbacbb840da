/**
 * Calendar dates without a time, written YYYY-MM-DD. They are kept as text, which sorts by plain comparison and which no time
 * zone can shift. "Today" is always the UTC date of receipt (doc 1, kyc.personalInfo; A1-19, DATE-001).
 */

declare const calendarDateBrand: unique symbol
/** A text that is known to be a real Gregorian date, YYYY-MM-DD. */
export type CalendarDate = string & { readonly [calendarDateBrand]: true }

const shape = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/

/** The date, or undefined when the text is not a real date of the years 0001 to 9999. */
export const parseCalendarDate = (text: string): CalendarDate | undefined => {
  const match = shape.exec(text)
  if (match === null) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const real = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
  return real ? (text as CalendarDate) : undefined
}

/** The UTC date at a moment in Unix ms. */
export const utcDateAt = (now: number): CalendarDate => new Date(now).toISOString().slice(0, 10) as CalendarDate

export const yearOf = (date: CalendarDate): number => Number(date.slice(0, 4))

/** True when `date` is strictly later than `other`. */
export const isAfterDate = (date: CalendarDate, other: CalendarDate): boolean => date > other

/**
 * Completed years on a day; negative before birth. The birthday itself counts. A person born on 29 February completes a year
 * on 1 March of a common year.
 */
export const ageOn = (birth: CalendarDate, day: CalendarDate): number =>
  yearOf(day) - yearOf(birth) - (day.slice(5) < birth.slice(5) ? 1 : 0)

/** True for a person who has completed 18 years on that day. */
export const isAdultOn = (birth: CalendarDate, day: CalendarDate): boolean => ageOn(birth, day) >= 18

const daysInMonth = (year: number, month: number): number => {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/**
 * True if a number is probably Unix seconds instead of Unix ms. As seconds it lies in the years 2001 to 5138; as ms it
 * would be before March 1973, when this service had no events.
 */
export const isInSeconds = (at: number): boolean => at >= 1_000_000_000 && at < 100_000_000_000
