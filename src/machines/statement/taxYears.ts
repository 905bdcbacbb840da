/**
 * The part of a tax year that a client's statement covers. A year is British or the calendar year, according to the tax
 * residency at its end, so the end of one kind lies within a year of the other. When the residency changes, the last year of
 * the old kind ends as usual, and the first year of the new kind begins there. So every day is in exactly one statement, no
 * statement is longer than a year, and each statement follows the residency at its end. Unix ms (A2-72, STS-26).
 */
import { accept, invalidFields, refuse, type Verdict } from "../shared/Refusal.ts"
import { type RequestedPeriod, calendarYear, type Period, taxPeriod } from "./statementPeriod.ts"

export interface TaxYear {
  /** The calendar year in which the tax year begins. */
  readonly year: number
  readonly isBritish: boolean
}

/** Facts about a client at the ends of tax years. */
export interface TaxFacts {
  /**
   * Whether the tax residency is British at the end of the year (`atEnd`), and at the end of the other kind of year
   * that lies within this year (`within`).
   */
  readonly atEnd: boolean
  readonly within: boolean
  /**
   * Whether any posting is older than the end to which `within` belongs. Without such a posting, the year needs no
   * split.
   */
  readonly isBookedBefore: boolean
}

/**
 * The end of a year of the other kind that lies within this year: 1 January within a British year, 6 April within a
 * calendar year.
 */
export const endWithin = ({ year, isBritish }: TaxYear): number =>
  isBritish ? calendarYear(year).to : taxPeriod(year, true).from

/** The part of an ended year that its statement covers; null when another statement covers the whole year. */
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
 * The ended years that a request may mean, the latest first: the two years with the requested start year, or the latest years
 * when none is requested. The caller takes the first of them that has a statement.
 */
export const requestedYears = (requested: number | null, now: number): ReadonlyArray<TaxYear> => {
  const thisYear = new Date(now).getUTCFullYear()
  // At least one of the two kinds has a statement. The latest ended British year may have begun the year before last.
  const years = requested === null ? [thisYear - 1, thisYear - 2, thisYear - 3] : [requested]
  return years
    .flatMap((year) => [
      { year, isBritish: true },
      { year, isBritish: false }
    ])
    .filter((each) => taxPeriod(each.year, each.isBritish).to <= now)
}

/** The statement's period. `part` is null when no ended year matches the request. */
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
