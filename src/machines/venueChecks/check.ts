/**
 * Compares each member of a venue message with the service's own request. Each message has one table with a row for every
 * member of its schema; a missing row does not compile.
 */
import { isLess, scaled } from "../shared/Exact.ts"

/** Returns an error sentence for a member that does not fit, or null. */
export type Check<Report, Expected> = (report: Report, expected: Expected) => string | null

/** The reason why a member has no check: no decision depends on it, or other code checks it. */
export interface Unchecked {
  readonly because: string
}

export const row = (because: string): Unchecked => ({ because })

/** Rows of messages that other code checks, or on which no decision depends. */
export type Rows<Message> = { readonly [Member in keyof Message]-?: Unchecked }

export type Checks<Report, Expected> = { readonly [Member in keyof Report]-?: Check<Report, Expected> | Unchecked }

/** Combines the checks of all members: returns the first error sentence, or null. */
export const misfitBy = <Report, Expected>(checks: Checks<Report, Expected>): Check<Report, Expected> => {
  const all = Object.values<Check<Report, Expected> | Unchecked>(checks).filter((row) => typeof row === "function")
  return (report, expected) => {
    for (const check of all) {
      const misfit = check(report, expected)
      if (misfit !== null) return misfit
    }
    return null
  }
}

/** Whether two decimals are equal; "1.50" equals "1.5". */
export const isSame = (one: string | null, other: string | null): boolean => {
  if (one === other) return true
  if (one === null || other === null) return false
  const [left, right] = [scaled(one), scaled(other)]
  return !isLess(left, right) && !isLess(right, left)
}

export type Plain = string | number | boolean | null

/** The sentence for a member that differs. `called`: the member's name in the sentence. */
export const differs = (called: string, there: Plain, here: Plain): string =>
  `the ${called} is ${there ?? "none"} instead of ${here ?? "none"}`

/** A check that a member equals the service's own value. `called`: the member's name in the sentence. */
export const exactly =
  <Report extends { readonly [Member in Name]: Plain }, Expected, Name extends keyof Report & string>(
    called: string,
    member: Name,
    expectedOf: (expected: Expected) => Plain
  ): Check<Report, Expected> =>
  (report, expected) => {
    const [there, here]: [Plain, Plain] = [report[member], expectedOf(expected)]
    return there === here ? null : differs(called, there, here)
  }

/** Like `exactly`, but compares decimals by value. */
export const sameFigure =
  <Report extends { readonly [Member in Name]: string | null }, Expected, Name extends keyof Report & string>(
    called: string,
    member: Name,
    expectedOf: (expected: Expected) => string | null
  ): Check<Report, Expected> =>
  (report, expected) => {
    const [there, here]: [string | null, string | null] = [report[member], expectedOf(expected)]
    return isSame(there, here) ? null : differs(called, there, here)
  }

/** The reason that a contract can't be settled with its market, or null. `isListed` as in `RecentMarket.isListed`. */
export const settlementMisfit = (isListed: boolean | null): string | null => {
  if (isListed === false) return null
  return isListed === null
    ? "it is settled with its market, and no later listing shows that the market is delisted"
    : "it is settled with its market, but the market is listed"
}
