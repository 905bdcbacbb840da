/**
 * Which part of a tax year a client's statement has. A year is the British one or the calendar year by the tax residency at its
 * end; each has the other's end within it. Where the residency changed, the year under the old one ends at the last end of a
 * year at which that one held, and the year under the new one begins there: every day is in exactly one statement, no statement
 * is longer than a year, and of each the residency at its end is the one that it goes by. Unix ms (A2-72, STS-26).
 */
import { accept, invalidFields, refuse, type Verdict } from "../shared/Refusal.ts"
import { type AskedPeriod, calendarYear, type Period, taxPeriod } from "./statementPeriod.ts"

/** A year by one of the two rules. */
export interface TaxYear {
  /** In which it begins. */
  readonly year: number
  readonly isBritish: boolean
}

/** What is known of a client at the ends of years. */
export interface TaxFacts {
  /** Whether a tax residency is British at the end of the year, and at the other rule's end within it. */
  readonly atEnd: boolean
  readonly within: boolean
  /** Whether anything was booked before that end within: without it nothing has to be told apart. */
  readonly isBookedBefore: boolean
}

/** The end of a year by the other rule that lies within a year: 1 January of a British one, 6 April of a calendar year. */
export const endWithin = ({ year, isBritish }: TaxYear): number =>
  isBritish ? calendarYear(year).to : taxPeriod(year, true).from

/** The part of a year that has ended which a statement by its rule is of; null: another statement has all of it. */
export const partOfYear = (taxYear: TaxYear, { atEnd, within, isBookedBefore }: TaxFacts): Period | null => {
  const { year, isBritish } = taxYear
  const { from, to } = taxPeriod(year, isBritish)
  const middle = endWithin(taxYear)
  if (atEnd === isBritish) return { from: within === isBritish || !isBookedBefore ? from : middle, to }
  return within === isBritish ? { from, to: middle } : null
}

/** Whether a period is less than the year that it is of. */
export const isPartOfYear = ({ from, to }: Period): boolean => to - from < shortestYear

const shortestYear = 365 * 86_400_000

/**
 * The years that a request may mean which have ended, the last one first: both of the start year that it names, else the latest.
 * The first of them that has a statement is answered.
 */
export const yearsAsked = (asked: number | null, now: number): ReadonlyArray<TaxYear> => {
  const thisYear = new Date(now).getUTCFullYear()
  // Of two years one has a statement; a British one of the year before last may be the last that has ended.
  const years = asked === null ? [thisYear - 1, thisYear - 2, thisYear - 3] : [asked]
  return years
    .flatMap((year) => [
      { year, isBritish: true },
      { year, isBritish: false }
    ])
    .filter((each) => taxPeriod(each.year, each.isBritish).to <= now)
}

/** The statement's period; `part` null: no year that the request may mean has ended. */
export const taxPeriodAsked = (part: (TaxYear & Period) | null): Verdict<AskedPeriod> =>
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
