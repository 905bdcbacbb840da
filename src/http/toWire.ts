/**
 * One table from a refusal to what the wire says: status, code, sentence, data (doc 1, Errors; A1-02, A1-51). Gates and
 * services speak Refusal or a named gate refusal; nobody else writes codes.
 */
import type { JsonObject } from "../machines/Effects.ts"
import { shownFaults } from "../machines/shared/Limits.ts"
import { checkFields, type Refusal, shownErrors, unverified } from "../machines/shared/Refusal.ts"

/** A refusal as the wire shows it. */
export interface WireRefusal {
  readonly status: number
  readonly code: number
  readonly msg: string
  readonly data: JsonObject | null
  /** When the request can succeed, Unix ms of business time: Retry-After counts down to it (A1-04). */
  readonly retryAt?: number
  /** Members of the answer beside code, sentence and data. */
  readonly beside?: JsonObject
  /** Set on a refusal that is not the request's own, whatever its status: its Idempotency-Key is given back (A1-51). */
  readonly passing?: true
}

const wire = (status: number, code: number, msg: string, data: JsonObject | null = null): WireRefusal => ({
  status,
  code,
  msg,
  data
})

/** What the gates answer, in their order (A1-02). */
export const gateRefusals = {
  verb: wire(404, 4004, "This route or method does not exist."),
  edgeCap: wire(413, 4130, "The request body is larger than 12058624 bytes."),
  unauthorized: wire(401, 4010, "A valid partner key is required."),
  suspended: wire(403, 4037, "This partner is suspended.", { error: "PARTNER_SUSPENDED" }),
  rateLimited: wire(429, 4290, "The rate limit is used up: try again after the time in Retry-After."),
  route: wire(404, 4004, "This route or method does not exist."),
  scope: wire(403, 4034, "This partner key cannot use this endpoint."),
  idempotencyKey: wire(
    400,
    4000,
    "The Idempotency-Key header must be sent once, with 1 to 128 printable ASCII characters."
  ),
  routeCap: wire(413, 4000, "The request body is larger than this route allows."),
  reliance: {
    ...wire(403, 4036, "Reliance on this partner's checks is not approved.", { error: "RELIANCE_NOT_APPROVED" }),
    passing: true
  },
  unknownClient: wire(404, 4004, "Client not found."),
  keyReused: wire(409, 4092, "This Idempotency-Key was used for another request."),
  inProgress: wire(409, 4092, "The request with this Idempotency-Key is still in progress."),
  tooSlow: wire(408, 4000, "The request took too long to arrive."),
  unavailable: wire(503, 5030, "The service can not take this request now: try again shortly."),
  aborted: wire(400, 4000, "The request body ended early.")
} as const satisfies Record<string, WireRefusal>

/** 400 4000 with or without a field map. */
export const invalid = (msg: string, errors: Readonly<Record<string, string>> | null = null): WireRefusal =>
  wire(400, 4000, msg, errors === null ? null : { errors: shownErrors(errors, shownFaults.partner) })

/** 400 4000 of query parameters, keyed by the parameter. */
export const invalidQuery = (errors: Readonly<Record<string, string>>): WireRefusal => {
  const sentences = Object.values(errors)
  return invalid(sentences.length === 1 ? (sentences[0] ?? checkFields) : checkFields, errors)
}

/** 500 5000: the id alone leaves the service. */
export const defect = (id: string): WireRefusal => wire(500, 5000, "The request failed inside the service.", { id })

type Table = { readonly [T in Refusal["_tag"]]: (refusal: Extract<Refusal, { readonly _tag: T }>) => WireRefusal }

const table: Table = {
  Invalid: ({ sentence, errors, data, beside }) => ({
    ...(data === undefined ? invalid(sentence, errors) : wire(400, 4000, sentence, data)),
    ...(beside === undefined ? {} : { beside })
  }),
  TooLarge: ({ sentence }) => wire(413, 4000, sentence),
  Unknown: ({ sentence, data }) => wire(404, 4004, sentence, data ?? null),
  Unverified: ({ action, level, requiredLevel, missingBlocks }) =>
    wire(403, 4030, unverified, {
      action,
      level,
      requiredLevel,
      missingBlocks
    }),
  RelianceNotApproved: () => gateRefusals.reliance,
  EmailTaken: () => wire(409, 4090, "This e-mail address is used by an open account."),
  MarginBreach: ({ after }) =>
    wire(409, 4090, "This leverage needs more margin than the account has: send force to apply it.", {
      wouldBreach: true,
      ...after
    }),
  LeverageMismatch: ({ sent, stored }) =>
    wire(409, 4091, `The leverage in force is ${stored}, not ${sent}: nothing was done.`, {
      leverageSent: sent,
      leverageStored: stored
    }),
  RetakeTooEarly: ({ retakeAt }) => ({
    ...wire(429, 4290, "The cooling period after the last attempt is not over yet.", { retakeAt }),
    retryAt: retakeAt
  }),
  // Not the request's own fault, and over in an hour: its key is given back.
  TooManyBuilds: ({ retryAt }) => ({
    ...wire(
      429,
      4290,
      "The client has had 30 statements made within an hour: try again after the time in Retry-After."
    ),
    retryAt,
    passing: true
  }),
  VenueAway: ({ sentence, data }) =>
    data === undefined ? { ...wire(502, 5020, sentence), passing: true } : wire(502, 5020, sentence, data),
  // Kept, it would be given to the request that the key belongs to.
  KeyReused: () => ({ ...gateRefusals.keyReused, passing: true }),
  NoVenue: ({ sentence }) => wire(503, 5030, sentence),
  Conflict: ({ sentence, data }) => wire(409, 4092, sentence, data)
}

/** Status, code, sentence and data of a refusal. */
export const toWire = (refusal: Refusal): WireRefusal =>
  (table[refusal._tag] as (refusal: Refusal) => WireRefusal)(refusal)

/** The error envelope as text (doc 1, Envelope). */
export const refusalText = ({ code, msg, data, beside }: WireRefusal): string =>
  JSON.stringify({ code, msg, error: msg, ...beside, ...(data === null ? {} : { data }) })
