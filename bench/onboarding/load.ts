/**
 * The load generator of the onboarding part, in a process of its own. It records the client of each answer for the
 * count afterwards.
 */
import { answerParent } from "../child.ts"
import type { Answer } from "../load/Connection.ts"
import { runSlice } from "../load/runSlice.ts"
import type { OnboardingResult, OnboardingSlice } from "./protocol.ts"
import { makeOnboardingRequests } from "./requests.ts"

const clientIdIn = /"clientId":(\d+)/

const run = async (slice: OnboardingSlice): Promise<OnboardingResult> => {
  const clientIds: Array<number> = []
  let reviews = 0
  let identityChanges = 0
  const onSuccess = (answer: Answer): void => {
    const text = answer.text()
    clientIds.push(Number(clientIdIn.exec(text)?.[1]))
    if (text.includes('"PENDING_REVIEW"')) reviews++
    if (text.includes('"identityChanged":true')) identityChanges++
  }
  const result = await runSlice(slice, makeOnboardingRequests(slice), onSuccess, slice.count !== null)
  return { ...result, clientIds, reviews, identityChanges }
}

answerParent(run)
