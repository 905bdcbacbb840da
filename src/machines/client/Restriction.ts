/**
 * Restrictions of a client account: they accumulate, and any of them makes the lifecycle RESTRICTED. Partners read the
 * sentences in a 409 code 4092 (doc 3, Collateral report rules; A3-10).
 */
import type { Reason } from "../shared/RefusalReason.ts"

export const restrictionNames = ["CLOSE_OUT", "FROZEN", "NO_NEW_RISK", "NO_WITHDRAWALS"] as const
export type Restriction = (typeof restrictionNames)[number]

/** The meaning of each restriction for the partner, answered with 409 code 4092. */
export const restrictionSentences = {
  CLOSE_OUT: "The account is being closed out, so positions can only be reduced.",
  FROZEN: "The account is frozen, so money can be neither deposited nor withdrawn.",
  NO_NEW_RISK: "New positions may not be opened on this account.",
  NO_WITHDRAWALS: "Withdrawals are restricted on this account."
} as const satisfies Readonly<Record<Restriction, string>>
export type RestrictionSentence = (typeof restrictionSentences)[Restriction]

/** The reason token of a refusal with each sentence. */
export const restrictionReasons: Readonly<Record<RestrictionSentence, Reason>> = {
  [restrictionSentences.CLOSE_OUT]: "IN_CLOSE_OUT",
  [restrictionSentences.FROZEN]: "ACCOUNT_FROZEN",
  [restrictionSentences.NO_NEW_RISK]: "NO_NEW_RISK",
  [restrictionSentences.NO_WITHDRAWALS]: "WITHDRAWALS_RESTRICTED"
}

/**
 * The sentence that refuses a money movement, or null when the restrictions allow it: FROZEN refuses both directions,
 * NO_WITHDRAWALS a withdrawal only.
 */
export const moneyRestriction = (
  direction: "DEPOSIT" | "WITHDRAWAL",
  restrictions: ReadonlyArray<Restriction>
): RestrictionSentence | null => {
  if (restrictions.includes("FROZEN")) return restrictionSentences.FROZEN
  if (direction === "WITHDRAWAL" && restrictions.includes("NO_WITHDRAWALS")) return restrictionSentences.NO_WITHDRAWALS
  return null
}
