/**
 * The one table from refusals to the wire: status, code, sentence, data. Gates and services return a Refusal or a named gate
 * refusal; no other file contains codes (doc 1, Errors; A1-02, A1-04, A1-51, A2-21).
 */
import type { JsonObject } from "./Json.ts"
import { shownFaults } from "./Limits.ts"
import { checkFields, type Refusal, shownErrors, unverified } from "./Refusal.ts"
import type { Reason } from "./RefusalReason.ts"

/** A refusal in its wire form. */
export interface WireRefusal {
  readonly status: number
  readonly code: number
  readonly msg: string
  readonly data: JsonObject | null
  /** The time at which the request can succeed, Unix ms of business time; Retry-After counts down to it. */
  readonly retryAt?: number
  /** Members of the answer beside code, sentence and data. */
  readonly beside?: JsonObject
  /** Set when other requests caused the refusal, whatever its status: the request's Idempotency-Key is freed. */
  readonly passing?: true
}

/** A refusal whose code has only one reason. */
const wire = (status: number, code: number, msg: string, data: JsonObject | null = null): WireRefusal => ({
  status,
  code,
  msg,
  data
})

/** A refusal whose code has several reasons: `data` names the reason beside its other facts. */
const reasoned = (
  status: number,
  code: number,
  reason: Reason,
  msg: string,
  data: JsonObject | null = null
): WireRefusal => wire(status, code, msg, { reason, ...data })

/** Refusals of the gates, in their order. */
export const gateRefusals = {
  verb: reasoned(404, 4004, "UNKNOWN_ROUTE", "This route or method does not exist."),
  edgeCap: wire(413, 4130, "The request body is larger than 12058624 bytes."),
  unauthorized: wire(401, 4010, "A valid partner key is required."),
  suspended: wire(403, 4037, "This partner is suspended.", { error: "PARTNER_SUSPENDED" }),
  rateLimited: reasoned(
    429,
    4290,
    "RATE_LIMITED",
    "The rate limit is used up: try again after the time in Retry-After."
  ),
  route: reasoned(404, 4004, "UNKNOWN_ROUTE", "This route or method does not exist."),
  scope: wire(403, 4034, "This partner key cannot use this endpoint."),
  idempotencyKey: reasoned(
    400,
    4000,
    "INVALID_IDEMPOTENCY_KEY",
    "The Idempotency-Key header must be sent once, with 1 to 128 printable ASCII characters."
  ),
  routeCap: reasoned(413, 4000, "BODY_TOO_LARGE", "The request body is larger than this route allows."),
  reliance: {
    ...wire(403, 4036, "Reliance on this partner's checks is not approved.", { error: "RELIANCE_NOT_APPROVED" }),
    passing: true
  },
  unknownClient: reasoned(404, 4004, "UNKNOWN_CLIENT", "Client not found."),
  keyReused: reasoned(409, 4092, "IDEMPOTENCY_KEY_REUSED", "This Idempotency-Key was used for another request."),
  inProgress: reasoned(409, 4092, "IN_PROGRESS", "The request with this Idempotency-Key is still in progress."),
  tooSlow: reasoned(408, 4000, "TOO_SLOW", "The request took too long to arrive."),
  unavailable: reasoned(503, 5030, "UNAVAILABLE", "The service can not take this request now: try again shortly."),
  aborted: reasoned(400, 4000, "BODY_INCOMPLETE", "The request body ended early.")
} as const satisfies Record<string, WireRefusal>

/** Sentences of the direct API where they differ from those of partners. */
export const directRefusals = {
  unauthorized: wire(401, 4010, "A valid session or API key is required.")
} as const satisfies Record<string, WireRefusal>

/** The refusal 400 code 4000, with or without a sentence for each failing field. */
export const invalid = (
  reason: Reason,
  msg: string,
  errors: Readonly<Record<string, string>> | null = null
): WireRefusal =>
  reasoned(400, 4000, reason, msg, errors === null ? null : { errors: shownErrors(errors, shownFaults.partner) })

/** The refusal 400 code 4000 of query parameters, with a sentence for each failing parameter. */
export const invalidQuery = (errors: Readonly<Record<string, string>>): WireRefusal => {
  const sentences = Object.values(errors)
  return invalid("INVALID_PARAMETERS", sentences.length === 1 ? (sentences[0] ?? checkFields) : checkFields, errors)
}

/** The refusal 500 code 5000 for a defect. The answer shows only the id under which the log has the cause. */
export const defect = (id: string): WireRefusal => wire(500, 5000, "The request failed inside the service.", { id })

type Table = { readonly [T in Refusal["_tag"]]: (refusal: Extract<Refusal, { readonly _tag: T }>) => WireRefusal }

const table: Table = {
  Invalid: ({ reason, sentence, errors, data, beside }) => ({
    ...(data === undefined ? invalid(reason, sentence, errors) : reasoned(400, 4000, reason, sentence, data)),
    ...(beside === undefined ? {} : { beside })
  }),
  TooLarge: ({ sentence }) => reasoned(413, 4000, "BODY_TOO_LARGE", sentence),
  Unknown: ({ reason, sentence, data }) => reasoned(404, 4004, reason, sentence, data),
  Unverified: ({ action, level, requiredLevel, missingBlocks }) =>
    wire(403, 4030, unverified, {
      action,
      level,
      requiredLevel,
      missingBlocks
    }),
  RelianceNotApproved: () => gateRefusals.reliance,
  EmailTaken: () => reasoned(409, 4090, "EMAIL_IN_USE", "This e-mail address is used by an open account."),
  MarginBreach: ({ after }) =>
    reasoned(
      409,
      4090,
      "WOULD_BREACH_MARGIN",
      "This leverage needs more margin than the account has: send force to apply it.",
      { wouldBreach: true, ...after }
    ),
  LeverageMismatch: ({ sent, stored }) =>
    wire(409, 4091, `The leverage in force is ${stored}, not ${sent}: nothing was done.`, {
      leverageSent: sent,
      leverageStored: stored
    }),
  RetakeTooEarly: ({ retakeAt }) => ({
    ...reasoned(429, 4290, "RETAKE_TOO_EARLY", "The cooling period after the last attempt is not over yet.", {
      retakeAt
    }),
    retryAt: retakeAt
  }),
  // Other requests of the client used up the limit, which resets within an hour, so this request's key is freed.
  TooManyBuilds: ({ retryAt }) => ({
    ...reasoned(
      429,
      4290,
      "TOO_MANY_STATEMENTS",
      "The client has had 30 statements made within an hour: try again after the time in Retry-After."
    ),
    retryAt,
    passing: true
  }),
  // Without data, nothing was stored and the key is freed. Status and code are the same in both cases.
  VenueAway: ({ reason, sentence, data }) =>
    data === undefined ? { ...wire(502, 5020, sentence), passing: true } : reasoned(502, 5020, reason, sentence, data),
  // Stored under the key, this refusal would replace the answer of the key's first request.
  KeyReused: () => ({ ...gateRefusals.keyReused, passing: true }),
  NoVenue: ({ sentence }) => reasoned(503, 5030, "NO_VENUE", sentence),
  Conflict: ({ reason, sentence, data }) => reasoned(409, 4092, reason, sentence, data)
}

/** The wire form of a refusal: status, code, sentence and data. */
export const toWire = (refusal: Refusal): WireRefusal =>
  (table[refusal._tag] as (refusal: Refusal) => WireRefusal)(refusal)

/** The error envelope as text (doc 1, Envelope). */
export const refusalText = ({ code, msg, data, beside }: WireRefusal): string =>
  JSON.stringify({ code, msg, error: msg, ...beside, ...(data === null ? {} : { data }) })
