/**
 * Compares each member of a venue message with the service's own request. A message has one table with a row for each member of
 * its schema; a missing row does not compile.
 */
import { isLess, scaled } from "../shared/Exact.ts"

/** An error sentence on a misfit; null: the member fits. */
export type Check<Said, Asked> = (said: Said, asked: Asked) => string | null

/** Why a member has no check of its own: no decision depends on it, or other code checks it. */
export interface Unchecked {
  readonly because: string
}

export type Checks<Said, Asked> = { readonly [Member in keyof Said]-?: Check<Said, Asked> | Unchecked }

/** Compares all members of a message with the request; returns the first error sentence, or null. */
export const misfitBy = <Said, Asked>(checks: Checks<Said, Asked>): Check<Said, Asked> => {
  const all = Object.values<Check<Said, Asked> | Unchecked>(checks).filter((row) => typeof row === "function")
  return (said, asked) => {
    for (const check of all) {
      const misfit = check(said, asked)
      if (misfit !== null) return misfit
    }
    return null
  }
}

/** Whether two decimals are equal, in any form. */
export const isSame = (one: string | null, other: string | null): boolean => {
  if (one === other) return true
  if (one === null || other === null) return false
  const [left, right] = [scaled(one), scaled(other)]
  return !isLess(left, right) && !isLess(right, left)
}

export type Plain = string | number | boolean | null

/** The sentence of a member that differs. `called`: its name in the sentence. */
export const differs = (called: string, there: Plain, here: Plain): string =>
  `the ${called} is ${there ?? "none"} instead of ${here ?? "none"}`

/** A check that a member equals the service's own value. `called`: its name in the sentence. */
export const exactly =
  <Said extends { readonly [Member in Name]: Plain }, Asked, Name extends keyof Said & string>(
    called: string,
    member: Name,
    askedOf: (asked: Asked) => Plain
  ): Check<Said, Asked> =>
  (said, asked) => {
    const [there, here]: [Plain, Plain] = [said[member], askedOf(asked)]
    return there === here ? null : differs(called, there, here)
  }

/** Like `exactly`, for decimals. */
export const sameFigure =
  <Said extends { readonly [Member in Name]: string | null }, Asked, Name extends keyof Said & string>(
    called: string,
    member: Name,
    askedOf: (asked: Asked) => string | null
  ): Check<Said, Asked> =>
  (said, asked) => {
    const [there, here]: [string | null, string | null] = [said[member], askedOf(asked)]
    return isSame(there, here) ? null : differs(called, there, here)
  }

/** Why a contract can't be settled with its market, or null. `isListed` as `RecentMarket.isListed`. */
export const settlementMisfit = (isListed: boolean | null): string | null => {
  if (isListed === false) return null
  return isListed === null
    ? "it is settled with its market, and no later listing shows that the market is delisted"
    : "it is settled with its market, but the market is listed"
}
