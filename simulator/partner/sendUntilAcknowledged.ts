/**
 * One request with idempotent retries: the same bytes under the same key until a final answer. A timeout, a 503, "still in
 * progress" and a 502 without an object leave the outcome unknown, so the request is retried; a 429 names the time. A 502 with
 * an object is the stored answer: its call is in flight, or never reached the venue (doc 1, Idempotency; SC-ONB-17, A1-51).
 */
import { Effect } from "effect"
import type { PartnerAnswer, PartnerCall, PartnerClient } from "./PartnerClient.ts"
import type { SeededRandom } from "./SeededRandom.ts"

/** Counts of the attempts of a run, by result. */
export interface Tally {
  attempts: number
  timeouts: number
  connectionFailures: number
  /** Attempts answered with 503, and those of them without a Retry-After header, which the contract promises. */
  unavailable: number
  unavailableWithoutRetryAfter: number
  badGateway: number
  rateLimited: number
  inProgress: number
  /** Attempts answered with a 5xx that the contract does not foresee. They are retried, and reported at the end. */
  serverErrors: number
}

export const makeTally = (): Tally => ({
  attempts: 0,
  timeouts: 0,
  connectionFailures: 0,
  unavailable: 0,
  unavailableWithoutRetryAfter: 0,
  badGateway: 0,
  rateLimited: 0,
  inProgress: 0,
  serverErrors: 0
})

const firstPauseMillis = 25
const longestPauseMillis = 1_000

/**
 * Sends a request until it has a final answer, and returns that answer. Never fails: the caller interrupts it at the
 * caller's own limit.
 */
export const sendUntilAcknowledged = Effect.fnUntraced(function* (
  client: PartnerClient,
  call: PartnerCall,
  random: SeededRandom,
  tally: Tally
): Effect.fn.Return<PartnerAnswer> {
  for (let attempt = 0; ; attempt++) {
    tally.attempts++
    const answer = yield* Effect.match(client.send(call), { onSuccess: (value) => value, onFailure: (error) => error })
    const backoff = Math.min(firstPauseMillis * 2 ** Math.min(attempt, 10), longestPauseMillis) * (0.5 + random.next())
    if ("timedOut" in answer) {
      if (answer.timedOut) tally.timeouts++
      else tally.connectionFailures++
    } else if (isFinal(answer, tally)) return answer
    const seconds = "status" in answer && answer.status === 429 ? answer.retryAfter : null
    yield* Effect.sleep(seconds === null ? backoff : seconds * 1_000)
  }
})

/** Counts an answer in the tally. True if it is the final answer of the request, so that no retry follows. */
const isFinal = (answer: PartnerAnswer, tally: Tally): boolean => {
  switch (answer.status) {
    case 429:
      tally.rateLimited++
      return false
    case 502:
      tally.badGateway++
      return namesObject(answer)
    case 503:
      tally.unavailable++
      if (answer.retryAfter === null) tally.unavailableWithoutRetryAfter++
      return false
    case 409:
      if (!isInProgress(answer)) return true
      tally.inProgress++
      return false
    default:
      if (answer.status < 500) return true
      tally.serverErrors++
      return false
  }
}

const namesObject = ({ body }: PartnerAnswer): boolean => /"(orderId|rfqId|swapId)":\d/.test(body.toString())

/** 4092 covers many conflicts; only the sentence identifies a request still in progress (doc 1, Idempotency rule 2). */
const isInProgress = ({ body }: PartnerAnswer): boolean =>
  /"code":4092\b/.test(body.toString()) && /still in progress/.test(body.toString())
