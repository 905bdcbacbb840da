/**
 * Renders the text of an answer, and decides whether a retry may get the same answer again. Pure, so that the turn that ends
 * a request stores exactly the bytes that every replay repeats (doc 1, Envelope; A1-03, A1-51).
 */
import type { Verdict } from "./Refusal.ts"
import { refusalText, toWire, type WireRefusal } from "./wireRefusal.ts"

/** A rendered answer: the status and the exact text of the body. */
export interface Rendered {
  readonly status: number
  readonly body: string
  /** The time at which the request can succeed, Unix ms of business time, when the refusal knows it (A1-04). */
  readonly retryAt?: number
  /** Set when the answer depends on more than the request, whatever its status: the request's key is freed (A1-51). */
  readonly passing?: true
}

/** The JSON form of a route's success: its statuses, and whether it has the envelope (A1-03). */
export interface JsonForm {
  readonly statuses: ReadonlyArray<number>
  readonly enveloped: boolean
}

/** Adds a route's own members to a refusal. */
export type Refusing = (refusal: WireRefusal) => WireRefusal

/**
 * Statuses of answers that a retry must not get again (wrong key, body too large, rate limit, defect, unavailable):
 * the request's Idempotency-Key is freed (A1-51).
 */
const passing: ReadonlySet<number> = new Set([401, 413, 429, 500, 503])

/** Whether an answer is stored under the request's key. */
export const isKept = ({ status, passing: passes }: Rendered): boolean => passes !== true && !passing.has(status)

/** The status of a success; null selects the only one of the contract. Throws for a status that the contract lacks. */
export const statusOf = ({ statuses }: Pick<JsonForm, "statuses">, status: number | null): number => {
  const chosen = status ?? (statuses.length === 1 ? statuses[0] : undefined)
  if (chosen === undefined || !statuses.includes(chosen)) throw new Error(`the contract has no status ${status} here`)
  return chosen
}

/** Renders a success as JSON text: in the envelope with code 0, or bare if the route's form is bare. */
export const renderJson = (form: JsonForm, data: unknown, status: number | null): Rendered => ({
  status: statusOf(form, status),
  body: JSON.stringify(form.enveloped ? { code: 0, data } : data)
})

/** Renders a refusal as an answer. It keeps the time of a retry, and whether the request's key is freed. */
export const renderRefusal = (refusal: WireRefusal): Rendered => ({
  status: refusal.status,
  body: refusalText(refusal),
  ...(refusal.retryAt === undefined ? {} : { retryAt: refusal.retryAt }),
  ...(refusal.passing === true ? { passing: true } : {})
})

/** The answer to a verdict; its value is the data of the route's only success. */
export const renderVerdict = (form: JsonForm, verdict: Verdict<unknown>, refusing?: Refusing): Rendered => {
  if (verdict.ok) return renderJson(form, verdict.value, null)
  const refusal = toWire(verdict.refusal)
  return renderRefusal(refusing === undefined ? refusal : refusing(refusal))
}
