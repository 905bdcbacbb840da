/** Deposit notices that finance has not decided: they stand in the way of closing a client (D1, D9). */
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"

/** Of a client, as its mailbox holds them: none, or the sentence that counts them. */
export const undecidedDeposits = (state: SubjectState): ReadonlyArray<string> => {
  const pending = state.all("depositNotices").length
  return pending === 0 ? [] : [`Deposit notices are not decided: ${pending} PENDING.`]
}
