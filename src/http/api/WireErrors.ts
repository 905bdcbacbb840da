/**
 * The registry of partner errors as one table, with one error class per HTTP status for the contract and the typed client.
 * machines/shared/wireRefusal.ts maps refusals to its rows; docs/errors.md is generated from it (doc 1, Errors; A2-32,
 * A2-49).
 */
import { Schema } from "effect"
import { dataMembers } from "./refusalData.ts"
import { notPlaced, previewMembers } from "../../machines/order/OrderWire.ts"
import { meaningOf, reasonsOf } from "../../machines/shared/RefusalReason.ts"

export interface WireError {
  readonly code: number
  readonly status: number
  /** The cases in which a refusal has this code, for the docs. */
  readonly meaning: string
  /** A sentence about the members of `data`; empty if the refusal has none. */
  readonly data: string
}

/** Every refusal of the partner surface, in the order of the published registry. */
export const wireErrors = [
  {
    code: 4000,
    status: 400,
    meaning:
      "The request is not valid: a field, a query parameter, the JSON itself (also when it is nested deeper than 64 levels or has more than 50,000 members and entries in all) or the Idempotency-Key header.",
    data: "{errors: {dotted.path: sentence}} when fields can be named, the first 1,000 of them; {rfqId, state, rejectReason} when the venue refuses a request for quotes; {swapId, state, rejectReason} when it refuses a take; {rfqId} of the open request when another one to close the same contract is made"
  },
  {
    code: 4000,
    status: 408,
    meaning:
      "The request took too long to arrive (30 seconds without a byte, or over 60 seconds at less than 16 KB/s); the connection ends.",
    data: ""
  },
  {
    code: 4000,
    status: 413,
    meaning:
      "The body is larger than this route allows (256 KB on onboarding, 8 MB of file on a document, 4 MB on a bulk settlement report, 64 KB on MiFID blocks, deposit notices, withdrawal requests, collateral and settlement reports, 16 KB on the appropriateness test, the webhook, requests for quotes, orders and leverage).",
    data: ""
  },
  { code: 4130, status: 413, meaning: "The body is larger than 11.5 MiB (12,058,624 bytes).", data: "" },
  {
    code: 4004,
    status: 404,
    meaning: "Unknown route, verb or object. An object of another partner is indistinguishable from an unknown one.",
    data: "{swapId, state, rejectReason} of a take whose offer is gone"
  },
  {
    code: 4010,
    status: 401,
    meaning: "No key, an unknown or revoked key, a key of a closed partner, or an address outside the allowlist.",
    data: ""
  },
  {
    code: 4030,
    status: 403,
    meaning: "The client's verification level or blocks do not allow the action.",
    data: "{action, level, requiredLevel, missingBlocks}"
  },
  { code: 4034, status: 403, meaning: "The key's scope does not cover the route.", data: "" },
  {
    code: 4036,
    status: 403,
    meaning: "The partner's reliance is not APPROVED (onboarding writes only).",
    data: "{error: RELIANCE_NOT_APPROVED}"
  },
  { code: 4037, status: 403, meaning: "The partner is suspended.", data: "{error: PARTNER_SUSPENDED}" },
  {
    code: 4090,
    status: 409,
    meaning:
      "The e-mail address is used by an open account; or the leverage would put the account in a margin call or a close-out, or need more margin than it has, and force was not sent.",
    data: "{wouldBreach: true, initialMarginAfter, maintenanceMarginAfter, freeMarginAfter, marginLevelAfter, riskStateAfter} of a leverage"
  },
  {
    code: 4091,
    status: 409,
    meaning: "The leverage that an order was sent with is not the one in force. Nothing was written.",
    data: "{leverageSent, leverageStored}"
  },
  {
    code: 4092,
    status: 409,
    meaning:
      "Conflict: a reference or an Idempotency-Key was used for another request, the same request is still in progress, or the state does not allow the action.",
    data: "{reportId, status, refusal, report} on a refused collateral report; {item} on a settled item reported as failed; {currentVersion} on a stale questionnaire; {notice} or {requestId, status} on a notice or request that was decided before; {clientId, clientUid, kycPackageStatus, reonboardWith} on the reference of a rejected client"
  },
  {
    code: 4290,
    status: 429,
    meaning:
      "The partner's rate limit is used up, or the appropriateness test is taken again before the cooling period is over, or the client has had 30 statements made within an hour; Retry-After has the seconds until the next attempt.",
    data: "{retakeAt} on a retake"
  },
  {
    code: 5000,
    status: 500,
    meaning: "The request failed inside the service; the answer carries an id for support and nothing else.",
    data: "{id}"
  },
  {
    code: 5020,
    status: 502,
    meaning:
      "The venue can not be reached, or the last known market data is too old to be served. Without data no action was taken; with data and reason OUTCOME_PENDING the request is in flight at the venue and the service resolves it; with reason VENUE_NOT_REACHED the venue never received it and nothing was executed.",
    data: "{rfqId} of a request for quotes or its cancel; {rfqId, quoteId, accepting: true} of an accept; {rfqId, contractId} of a request to close; {orderId, clOrdId, state} of an order or its cancel; {swapId, offerId, state} of a take; none when nothing was written"
  },
  {
    code: 5030,
    status: 503,
    meaning:
      "The service is overloaded, its database is away, or no venue is attached to it. Retry-After has the seconds until the next attempt.",
    data: ""
  }
] as const satisfies ReadonlyArray<WireError>

const codesOf = (status: number): ReadonlyArray<number> => [
  ...new Set(wireErrors.filter((row) => row.status === status).map((row) => row.code))
]

const describe = (status: number): string =>
  wireErrors
    .filter((row) => row.status === status)
    .map((row) => `${row.code}: ${row.meaning}${row.data === "" ? "" : ` data: ${row.data}.`}`)
    .join(" ")

const reasonText = (status: number): string =>
  [
    "Which of the code's reasons it is: a token that is never renamed; others may come.",
    ...reasonsOf(status).map((reason) => `- \`${reason}\`: ${meaningOf[reason]}`)
  ].join("\n")

/** Machine-readable facts of a refusal: its reason (`RefusalReason.ts` has the rules), and the members of its case. */
const dataOf = (status: number) =>
  Schema.StructWithRest(
    Schema.Struct({
      ...(reasonsOf(status).length === 0
        ? {}
        : {
            reason: Schema.optionalKey(Schema.Literals(reasonsOf(status)).annotate({ description: reasonText(status) }))
          }),
      ...dataMembers(status)
    }),
    [Schema.Record(Schema.String, Schema.Json)]
  ).annotate({ description: "Machine-readable facts; absent where there are none." })

const bodyOf = (status: number) => ({
  code: Schema.Literals(codesOf(status)),
  msg: Schema.String.annotate({ description: "What is wrong, as a sentence." }),
  error: Schema.String.annotate({ description: "The same sentence." }),
  data: Schema.optionalKey(dataOf(status))
})

const shown = (status: number) => ({ httpApiStatus: status, description: describe(status) })

/** The refusal of an order. It has the order's ids when a REFUSED order was stored (doc 2, POST .../orders). */
export class OrderRefused extends Schema.Error<OrderRefused>("OrderRefused")(
  { ...bodyOf(400), ...notPlaced },
  shown(400)
) {}

/** The refusal of a preview whose order would be refused. It has the figures that are known (doc 2, Margin preview). */
export class PreviewRefused extends Schema.Error<PreviewRefused>("PreviewRefused")(
  { ...bodyOf(400), ...previewMembers },
  shown(400)
) {}

/** Error classes by status; each has all codes that the registry lists for it. */
export class BadRequest extends Schema.Error<BadRequest>("BadRequest")(bodyOf(400), shown(400)) {}
export class Unauthorized extends Schema.Error<Unauthorized>("Unauthorized")(bodyOf(401), shown(401)) {}
export class Forbidden extends Schema.Error<Forbidden>("Forbidden")(bodyOf(403), shown(403)) {}
export class NotFound extends Schema.Error<NotFound>("NotFound")(bodyOf(404), shown(404)) {}
export class RequestTimeout extends Schema.Error<RequestTimeout>("RequestTimeout")(bodyOf(408), shown(408)) {}
export class Conflict extends Schema.Error<Conflict>("Conflict")(bodyOf(409), shown(409)) {}
export class TooLarge extends Schema.Error<TooLarge>("TooLarge")(bodyOf(413), shown(413)) {}
export class TooManyRequests extends Schema.Error<TooManyRequests>("TooManyRequests")(bodyOf(429), shown(429)) {}
export class InternalError extends Schema.Error<InternalError>("InternalError")(bodyOf(500), shown(500)) {}
export class VenueAway extends Schema.Error<VenueAway>("VenueAway")(bodyOf(502), shown(502)) {}
export class Unavailable extends Schema.Error<Unavailable>("Unavailable")(bodyOf(503), shown(503)) {}
