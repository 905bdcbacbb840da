/** Withdrawal requests on which somebody still has to act: they stand in the way of a client's end (D1). */
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"

const sentencesOf = (states: ReadonlyArray<string>): ReadonlyArray<string> => {
  const counts = ["REQUESTED", "APPROVED"].flatMap((state) => {
    const n = states.filter((each) => each === state).length
    return n === 0 ? [] : [`${n} ${state}`]
  })
  return counts.length === 0 ? [] : [`Withdrawal requests are not decided and paid: ${counts.join(", ")}.`]
}

/** Of a client, as its mailbox holds them: none, or the sentence that counts them. */
export const openWithdrawals = (state: SubjectState): ReadonlyArray<string> =>
  sentencesOf(state.all("withdrawalRequests").map((row) => row.state))
