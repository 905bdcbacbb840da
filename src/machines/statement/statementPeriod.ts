/**
 * The period of a statement: the requested one, or the last one that has ended. Unix ms, `from` inclusive, `to` exclusive. All
 * periods are in UTC except the British tax year, which begins on 6 April 00:00 in London. London has summer time on that day
 * in every year, so the year begins at 23:00 UTC of 5 April (A2-65, A2-68, A2-72, STS-15, TAX-011).
 */
import { accept, invalidFields, refuse, type Verdict } from "../shared/Refusal.ts"
import { statementLimits } from "../shared/Limits.ts"
import type { StatementKind } from "./Statement.ts"
import type { StatementRequest } from "./StatementBody.ts"

export interface Period {
  readonly from: number
  readonly to: number
}

export interface RequestedPeriod extends Period {
  readonly kind: StatementKind
  /** The requested end when it is in the future: the statement ends now instead. */
  readonly cutFrom: number | null
  /** The start year of a TAX statement. */
  readonly taxYear: number | null
  /** For a TAX statement: British tax year and matching order. */
  readonly isBritish: boolean
}

const dayMillis = 86_400_000

/** 00:00 UTC of the day of a moment. */
export const startOfDay = (at: number): number => at - (at % dayMillis)

const yearAt = (at: number): number => new Date(at).getUTCFullYear()
const monthAt = (at: number): number => new Date(at).getUTCMonth()
/** 00:00 UTC of the first of a month; `month` counts from 0 and may lie outside the year. */
const monthStart = (year: number, month: number): number => Date.UTC(year, month, 1)

/** The last calendar month that has ended. */
export const lastMonth = (now: number): Period => ({
  from: monthStart(yearAt(now), monthAt(now) - 1),
  to: monthStart(yearAt(now), monthAt(now))
})

export const quarterOf = (year: number, number: number): Period => ({
  from: monthStart(year, 3 * (number - 1)),
  to: monthStart(year, 3 * number)
})

/** The last quarter that has ended. */
export const lastQuarter = (now: number): Period => {
  const first = 3 * Math.floor(monthAt(now) / 3)
  return { from: monthStart(yearAt(now), first - 3), to: monthStart(yearAt(now), first) }
}

export const calendarYear = (year: number): Period => ({ from: monthStart(year, 0), to: monthStart(year + 1, 0) })

const britishStart = (year: number): number => Date.UTC(year, 3, 5, 23)

/** The tax year that begins in a year: the British one from 6 April in London, otherwise the calendar year. */
export const taxPeriod = (year: number, isBritish: boolean): Period =>
  isBritish ? { from: britishStart(year), to: britishStart(year + 1) } : calendarYear(year)

/** The start year of the tax year that contains a moment. */
export const taxYearAt = (at: number, isBritish: boolean): number => {
  const year = yearAt(at)
  return isBritish && at < britishStart(year) ? year - 1 : year
}

/** Days after the end in which an acquisition still decides the cost of a British disposal (HMRC, 30-day rule). */
export const thirtyDaysMillis = 30 * dayMillis

/** The period of a request for any kind except TAX, whose years depend on the client (taxYears.ts). */
export const periodOf = (
  request: Exclude<StatementRequest, { kind: "TAX" }>,
  now: number
): Verdict<RequestedPeriod> => {
  const { kind } = request
  if (kind === "CLIENT_ASSETS") {
    const { quarter } = request
    const period = quarter === null ? lastQuarter(now) : quarterOf(quarter.year, quarter.number)
    return period.to > now ? notEnded("quarter", "The quarter") : accept({ kind, ...period, ...uncut })
  }
  if (request.range === null) return accept({ kind, ...lastMonth(now), ...uncut })
  return rangeOf(kind, request.range, now)
}

const uncut = { cutFrom: null, taxYear: null, isBritish: false } as const
const notEnded = (field: string, label: string): Verdict<never> =>
  refuse(invalidFields({ [field]: `${label} has not ended yet.` }))

const rangeOf = (kind: "ACCOUNT" | "COSTS" | "TRANSACTIONS", { from, to }: Period, now: number) => {
  const errors: Record<string, string> = {}
  if (from >= now) errors["from"] = "The period must begin in the past."
  if (from >= to) errors["to"] = "The period must end after it begins."
  // The future part is cut off, so it does not count.
  else if (Math.min(to, now) - from > statementLimits.periodMillis)
    errors["to"] = "The period must have at most 366 days."
  if (Object.keys(errors).length > 0) return refuse(invalidFields(errors))
  return accept<RequestedPeriod>({ ...uncut, kind, from, to: Math.min(to, now), cutFrom: to > now ? to : null })
}
