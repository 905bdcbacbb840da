/**
 * The refusal of a request, as data. Rules return a Refusal; the one table in `wireRefusal.ts` turns it into status, code and
 * envelope. Sentences stand beside the rules that give them. Where a code has several reasons, the refusal names its own by a
 * token of the catalogue (RefusalReason.ts) (doc 2, orders and margin preview; doc 1, error registry, code 4090; A2-50,
 * A2-51, A2-75, A1-51, A1-52).
 */
import type { JsonObject } from "./Json.ts"
import { type Noun, type Reason, unknownReasons } from "./RefusalReason.ts"

export type Refusal =
  /** 400 4000; `errors` maps dotted field paths to sentences, `data` names the affected objects. */
  | {
      readonly _tag: "Invalid"
      readonly reason: Reason
      readonly sentence: string
      readonly errors: Readonly<Record<string, string>> | null
      readonly data?: JsonObject
      /** Members that the answers of some routes have beside code and sentence, such as the figures of a preview. */
      readonly beside?: JsonObject
    }
  /** 413 4000: a part of the body is larger than the route allows, although the whole body is within its cap. */
  | { readonly _tag: "TooLarge"; readonly sentence: string }
  /** 404 4004: the object is unknown, or another partner's; the answer is the same. */
  | { readonly _tag: "Unknown"; readonly reason: Reason; readonly sentence: string; readonly data?: JsonObject }
  /** 403 4030: the client's verification does not allow the action. */
  | {
      readonly _tag: "Unverified"
      readonly action: string
      readonly level: string
      readonly requiredLevel: string
      readonly missingBlocks: ReadonlyArray<string>
    }
  /** 403 4036: the partner's reliance is not approved. */
  | { readonly _tag: "RelianceNotApproved" }
  /** 409 4090: another account uses the e-mail address. */
  | { readonly _tag: "EmailTaken" }
  /** 409 4090: after the change, the account would be in a margin call or a close-out, or would need more margin than it has. */
  | { readonly _tag: "MarginBreach"; readonly after: MarginAfter }
  /** 409 4091: the leverage of an order differs from the one in force. */
  | { readonly _tag: "LeverageMismatch"; readonly sent: number; readonly stored: number }
  /** 429 4290: the appropriateness test may be taken again at `retakeAt`, Unix ms. */
  | { readonly _tag: "RetakeTooEarly"; readonly retakeAt: number }
  /** 429 4290: the client has used all builds of statements of this hour; the next is possible at `retryAt`, Unix ms. */
  | { readonly _tag: "TooManyBuilds"; readonly retryAt: number }
  /**
   * 502 5020: the venue can't be reached. Without `data` nothing was stored; with `data` the stored object waits for the
   * venue's answer.
   */
  | { readonly _tag: "VenueAway"; readonly reason: Reason; readonly sentence: string; readonly data?: JsonObject }
  /** 503 5030: no venue is attached to this service, so it can't execute the request. */
  | { readonly _tag: "NoVenue"; readonly sentence: string }
  /** 409 4092: the Idempotency-Key belongs to another request, which has no answer yet. This request stores nothing. */
  | { readonly _tag: "KeyReused" }
  /** 409 4092: the present state does not allow the request. */
  | { readonly _tag: "Conflict"; readonly reason: Reason; readonly sentence: string; readonly data: JsonObject | null }

/** An account after a change of leverage; money as decimal text with six places. */
export interface MarginAfter {
  readonly initialMarginAfter: string
  readonly maintenanceMarginAfter: string
  readonly freeMarginAfter: string
  /** Percent with two places; null while no margin is in use. */
  readonly marginLevelAfter: string | null
  readonly riskStateAfter: string
}

/** The result of a command: a value, or a refusal. After a refusal nothing is stored, or only a record of the refusal. */
export type Verdict<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly refusal: Refusal }

export const accept = <A>(value: A): Verdict<A> => ({ ok: true, value })
export const refuse = (refusal: Refusal): Verdict<never> => ({ ok: false, refusal })

/** The faults that one answer names: at most `limit`. The caller sees further faults after fixing these. */
export const shownErrors = (
  errors: Readonly<Record<string, string>>,
  limit: number
): Readonly<Record<string, string>> => {
  const all = Object.entries(errors)
  return all.length <= limit ? errors : Object.fromEntries(all.slice(0, limit))
}

/** The sentence of every refusal with 403 code 4030. */
export const unverified = "The client's verification does not allow this action."
export const checkFields = "Please check the highlighted fields."
/** A refusal of fields (400 4000). `reason` is given when a rule with its own reason refused a field. */
export const invalidFields = (
  errors: Readonly<Record<string, string>>,
  reason: Reason = "INVALID_FIELDS"
): Refusal => ({
  _tag: "Invalid",
  reason,
  sentence: checkFields,
  errors
})
export const unknown = (what: Noun): Refusal => ({
  _tag: "Unknown",
  reason: unknownReasons[what],
  sentence: `${what} not found.`
})
export const notOffered: Refusal = {
  _tag: "Unknown",
  reason: "MARKET_NOT_OFFERED",
  sentence: "This market is not offered."
}
/** The refusal of a request that could not start because the venue can't be reached; nothing was stored. */
export const venueAway: Refusal = {
  _tag: "VenueAway",
  reason: "VENUE_UNREACHABLE",
  sentence: "The venue can not be reached: nothing was done."
}
/**
 * The answer to a request whose venue call was voided; it is stored under the request's key. `data`: the ids and the present
 * state of the object.
 */
export const venueNotReached = (data: JsonObject): Refusal => ({
  _tag: "VenueAway",
  reason: "VENUE_NOT_REACHED",
  sentence: "The venue was not reached: nothing was executed.",
  data
})
/** 409 4092 with the reason that the state does not allow the request. */
export type Conflict = Extract<Refusal, { readonly _tag: "Conflict" }>
export const conflict = (reason: Reason, sentence: string, data: JsonObject | null = null): Conflict => ({
  _tag: "Conflict",
  reason,
  sentence,
  data
})
