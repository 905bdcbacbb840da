/**
 * Checks a client's new choice of leverage. Pure: the account's figures are computed with the present and with the new
 * choice, on the same marks (doc 2, Leverage view and its endpoints; A2-50, F3, F9).
 */
import { type AccountRisk, marginAfter, type RiskState, unjudged } from "../margin/accountRisk.ts"
import { type Restriction, restrictionSentences } from "../client/Restriction.ts"
import type { Refusal } from "../shared/Refusal.ts"
import { invalidBody, invalidWhole } from "../shared/RequestBody.ts"
import { capSentence } from "./LeverageBody.ts"

export const leverageSentences = {
  stale: "The margin at another leverage can not be judged without live prices: try again shortly."
} as const

export interface LeverageChange {
  readonly restrictions: ReadonlyArray<Restriction>
  readonly before: AccountRisk
  /** The recorded risk state. It shows a close-out even if the account could not be given the restriction. */
  readonly recorded: RiskState
  /** The account's risk if the choice took effect. */
  readonly after: AccountRisk
  /** True: the change is made even if the margin does not allow it. */
  readonly force: boolean
}

/** Refuses a choice above the cap, whatever choice is stored. */
export const overCap = ({ leverage, cap }: { readonly leverage: number; readonly cap: number }): Refusal | null => {
  const sentence = capSentence(leverage, cap)
  return sentence === null ? null : invalidBody({ sentence, errors: { leverage: sentence } }, "LEVERAGE_TOO_HIGH")
}

/** The refusal of a choice that differs from the stored one, or null. Margin never refuses a choice that needs no more margin. */
export const changeRefusal = ({ restrictions, recorded, before, after, force }: LeverageChange): Refusal | null => {
  const isClosedOut = recorded === "CLOSE_OUT" || restrictions.includes("CLOSE_OUT")
  if (isClosedOut) return invalidWhole("IN_CLOSE_OUT", restrictionSentences.CLOSE_OUT)
  if (unjudged(after)) return invalidWhole("PRICES_STALE", leverageSentences.stale)
  const isCovered = after.freeMargin >= 0n && after.riskState === "NORMAL"
  if (force || isCovered || after.initialMargin <= before.initialMargin) return null
  return { _tag: "MarginBreach", after: marginAfter(after) }
}
