/**
 * Another choice of leverage, and what stands against it (doc 2, Leverage view and its endpoints; A2-50, F3, F9). Pure: the
 * account's figures are worked out with the choice as it stands and as it would be, on the same marks.
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
  /** The recorded risk state: an account that takes no restriction is closed out all the same. */
  readonly recorded: RiskState
  /** As if it were chosen. */
  readonly after: AccountRisk
  /** The margin of the account refuses nothing. */
  readonly force: boolean
}

/** Above the cap: refused whatever is stored. */
export const overCap = ({ leverage, cap }: { readonly leverage: number; readonly cap: number }): Refusal | null => {
  const sentence = capSentence(leverage, cap)
  return sentence === null ? null : invalidBody({ sentence, errors: { leverage: sentence } }, "LEVERAGE_TOO_HIGH")
}

/**
 * What refuses a choice that is another than the stored one. One that lets the account tie up less, or as much, is never
 * refused for its margin.
 */
export const changeRefusal = ({ restrictions, recorded, before, after, force }: LeverageChange): Refusal | null => {
  const isClosedOut = recorded === "CLOSE_OUT" || restrictions.includes("CLOSE_OUT")
  if (isClosedOut) return invalidWhole("IN_CLOSE_OUT", restrictionSentences.CLOSE_OUT)
  if (unjudged(after)) return invalidWhole("PRICES_STALE", leverageSentences.stale)
  const isCovered = after.freeMargin >= 0n && after.riskState === "NORMAL"
  if (force || isCovered || after.initialMargin <= before.initialMargin) return null
  return { _tag: "MarginBreach", after: marginAfter(after) }
}
