/**
 * The period of a statement: the requested one, or the last one that has ended. Unix ms, `from` inclusive, `to` exclusive.
 * All periods are in UTC, except the British tax year. That year begins on 6 April 00:00 in London, which has summer time
 * then: 23:00 UTC of the day before (A2-65, A2-68, A2-72, STS-15, TAX-011).
 */
import { accept, invalidFields, refuse, type Verdict } from "../shared/Refusal.ts"
import { statementLimits } from "../shared/Limits.ts"
import type { StatementKind } from "./statementTokens.ts"
import type { StatementRequest } from "./StatementBody.ts"

export interface Period {
  readonly from: number
  readonly to: number
}

export interface RequestedPeriod extends Period {
  readonly kind: StatementKind
  /** The requested end, when it lies in the future and the statement therefore ends now; otherwise null. */
  readonly cutFrom: number | null
  /** The start year of a TAX statement; null for any other kind. */
  readonly taxYear: number | null
  /** For a TAX statement: true for the British tax year and the British matching order. */
  readonly isBritish: boolean
}

const dayMillis = 86_400_000

/** 00:00 UTC of the day of a moment. */
export const startOfDay = (at: number): number => at - (at % dayMillis)

const yearAt = (at: number): number => new Date(at).getUTCFullYear()
const monthAt = (at: number): number => new Date(at).getUTCMonth()
/** 00:00 UTC of the first day of a month. `month` counts from 0, and values outside 0 to 11 continue into other years. */
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

/** The tax year that begins in a calendar year: the British one from 6 April in London, or the calendar year itself. */
export const taxPeriod = (year: number, isBritish: boolean): Period =>
  isBritish ? { from: britishStart(year), to: britishStart(year + 1) } : calendarYear(year)

/** The start year of the tax year that contains a moment. */
export const taxYearAt = (at: number, isBritish: boolean): number => {
  const year = yearAt(at)
  return isBritish && at < britishStart(year) ? year - 1 : year
}

/** HMRC's 30-day rule, ms: an acquisition up to this long after a disposal can still decide the disposal's cost. */
export const thirtyDaysMillis = 30 * dayMillis

/** The period of a request for any kind except TAX, because tax years depend on the client (taxYears.ts). */
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
  // The future part of the period is cut off first, so it does not count toward the limit.
  else if (Math.min(to, now) - from > statementLimits.periodMillis)
    errors["to"] = "The period must have at most 366 days."
  if (Object.keys(errors).length > 0) return refuse(invalidFields(errors))
  return accept<RequestedPeriod>({ ...uncut, kind, from, to: Math.min(to, now), cutFrom: to > now ? to : null })
}
