/** Whether a client may take new risk, by its lifecycle and restrictions (doc 1, Client lifecycle; A2-52, A3-10). */
import type { LifecycleState } from "./Client.ts"
import type { Reason } from "../shared/RefusalReason.ts"
import { type Restriction, type RestrictionSentence, restrictionReasons, restrictionSentences } from "./Restriction.ts"

const underReview = "The account is under review, so new positions may not be opened."

export type OpeningSentence = RestrictionSentence | typeof underReview
export const openingReasons: Readonly<Record<OpeningSentence, Reason>> = {
  ...restrictionReasons,
  [underReview]: "ACCOUNT_UNDER_REVIEW"
}

/**
 * The sentence that refuses new risk, or null. Any restriction refuses, and so does every lifecycle state except ACTIVE. With
 * several restrictions, the sentence of one that concerns positions is chosen.
 */
export const openingRestriction = (
  lifecycle: LifecycleState,
  restrictions: ReadonlyArray<Restriction>
): OpeningSentence | null => {
  const [first] = restrictions
  if (first === undefined) return lifecycle === "ACTIVE" ? null : underReview
  return restrictionSentences[preferred.find((name) => restrictions.includes(name)) ?? first]
}

const preferred: ReadonlyArray<Restriction> = ["CLOSE_OUT", "NO_NEW_RISK"]
