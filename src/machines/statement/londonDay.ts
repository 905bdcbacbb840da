/**
 * Days in London by number, for HMRC's same-day and 30-day rules. British summer time runs from the last Sunday of March to
 * the last Sunday of October, both at 01:00 UTC (A2-83).
 */

const hourMillis = 3_600_000
const dayMillis = 24 * hourMillis

/** 01:00 UTC of the last Sunday of a month that has 31 days; `month` counts from 0. */
const lastSunday = (year: number, month: number): number => {
  const last = Date.UTC(year, month, 31, 1)
  return last - new Date(last).getUTCDay() * dayMillis
}

const isSummer = (at: number): boolean => {
  const year = new Date(at).getUTCFullYear()
  return at >= lastSunday(year, 2) && at < lastSunday(year, 9)
}

/** London's local time at a moment, written as if it were UTC: Unix ms. */
export const londonTimeOf = (at: number): number => at + (isSummer(at) ? hourMillis : 0)

/** The number of the London day of a moment: the next day has the next number. */
export const londonDayOf = (at: number): number => Math.floor(londonTimeOf(at) / dayMillis)
