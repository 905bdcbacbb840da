/**
 * The part of a tax year that a client's statement covers. The tax residency at the end of a year decides whether the year is
 * British or the calendar year. Each of the two years contains an end of the other. Where the residency changed, the year under
 * the old residency ends at the last year's end with that residency, and the year under the new residency begins there. So
 * every day is in exactly one statement, no statement is longer than a year, and each statement follows the residency at its
 * end. Unix ms (A2-72, STS-26).
 */
import { accept, invalidFields, refuse, type Verdict } from "../shared/Refusal.ts"
import { type RequestedPeriod, calendarYear, type Period, taxPeriod } from "./statementPeriod.ts"

export interface TaxYear {
  /** The calendar year in which the tax year begins. */
  readonly year: number
  readonly isBritish: boolean
}

/** Known facts of a client at the ends of years. */
export interface TaxFacts {
  /**
   * True if the tax residency is British at the end of the year (`atEnd`), and at the other rule's year end inside it
   * (`within`).
   */
  readonly atEnd: boolean
  readonly within: boolean
  /** Whether any posting lies before the year end inside the year. Without such a posting the year needs no split. */
  readonly isBookedBefore: boolean
}

/** The year end by the other rule that lies inside a year: 1 January inside a British year, 6 April inside a calendar year. */
export const endWithin = ({ year, isBritish }: TaxYear): number =>
  isBritish ? calendarYear(year).to : taxPeriod(year, true).from

/** The part of an ended year that a statement by its rule covers; null: another statement covers all of it. */
export const partOfYear = (taxYear: TaxYear, { atEnd, within, isBookedBefore }: TaxFacts): Period | null => {
  const { year, isBritish } = taxYear
  const { from, to } = taxPeriod(year, isBritish)
  const middle = endWithin(taxYear)
  if (atEnd === isBritish) return { from: within === isBritish || !isBookedBefore ? from : middle, to }
  return within === isBritish ? { from, to: middle } : null
}

/** Whether a period is shorter than its year. */
export const isPartOfYear = ({ from, to }: Period): boolean => to - from < shortestYear

const shortestYear = 365 * 86_400_000

/**
 * The ended years that a request may mean, the latest first: both years with the requested start year, else the latest. The
 * first of them that has a statement is answered.
 */
export const requestedYears = (requested: number | null, now: number): ReadonlyArray<TaxYear> => {
  const thisYear = new Date(now).getUTCFullYear()
  // Three start years, because the latest ended British year may have begun two calendar years ago, and one of the latest two
  // may have no statement of its own.
  const years = requested === null ? [thisYear - 1, thisYear - 2, thisYear - 3] : [requested]
  return years
    .flatMap((year) => [
      { year, isBritish: true },
      { year, isBritish: false }
    ])
    .filter((each) => taxPeriod(each.year, each.isBritish).to <= now)
}

/** The statement's period; `part` null: no ended year matches the request. */
export const requestedTaxPeriod = (part: (TaxYear & Period) | null): Verdict<RequestedPeriod> =>
  part === null
    ? refuse(invalidFields({ taxYear: "The tax year has not ended yet." }))
    : accept({
        kind: "TAX",
        from: part.from,
        to: part.to,
        cutFrom: null,
        taxYear: part.year,
        isBritish: part.isBritish
      })
