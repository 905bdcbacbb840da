/**
 * Refusals as they are answered, each under a name of its own in the published description, and which of them stand beside a
 * documented answer (doc 1, Errors; doc 2, Orders, margin, leverage, positions). test/http/refusalExamples.test.ts holds each
 * against its schema, against the registry, and against what the table in http/toWire.ts makes of the refusal.
 */
import { checkFields, unverified } from "../../machines/shared/Refusal.ts"
import { orderExamples } from "./orderExamples.ts"

const example = (summary: string, value: { readonly code: number; readonly [member: string]: unknown }) => ({
  summary,
  value
})
const refused = (code: number, sentence: string, data?: object) => ({
  code,
  msg: sentence,
  error: sentence,
  ...(data === undefined ? {} : { data })
})

const inFlight = "The venue has not answered yet: the order is in flight and is resolved by itself."

export const refusalExamples = {
  fields: example(
    "Fields that break their rules",
    refused(4000, checkFields, { errors: { qty: "The quantity must be at most 100." } })
  ),
  tooSlow: example("It did not arrive in time", refused(4000, "The request took too long to arrive.")),
  routeCap: example("More than the route takes", refused(4000, "The request body is larger than this route allows.")),
  edgeCap: example("More than any route takes", refused(4130, "The request body is larger than 12058624 bytes.")),
  unknownRoute: example("No such route", refused(4004, "This route or method does not exist.")),
  unknownClient: example("No such client of the partner's", refused(4004, "Client not found.")),
  unknownOrder: example("No such order of the client's", refused(4004, "Order not found.")),
  notOffered: example("No such market, or of another family", refused(4004, "This market is not offered.")),
  unauthorized: example("No valid key", refused(4010, "A valid partner key is required.")),
  unverified: example(
    "The client's verification lacks a block",
    refused(4030, unverified, {
      action: "TRADE:PERP",
      level: "MICA",
      requiredLevel: "MICA_MIFID",
      missingBlocks: ["APPROPRIATENESS"]
    })
  ),
  scope: example("A key of another scope", refused(4034, "This partner key cannot use this endpoint.")),
  reliance: example(
    "Reliance is not approved",
    refused(4036, "Reliance on this partner's checks is not approved.", { error: "RELIANCE_NOT_APPROVED" })
  ),
  suspended: example(
    "The partner is suspended",
    refused(4037, "This partner is suspended.", { error: "PARTNER_SUSPENDED" })
  ),
  emailTaken: example("The e-mail address is used", refused(4090, "This e-mail address is used by an open account.")),
  marginBreach: example(
    "The leverage needs more margin than there is",
    refused(4090, "This leverage needs more margin than the account has: send force to apply it.", {
      wouldBreach: true,
      initialMarginAfter: "6000.000000",
      maintenanceMarginAfter: "3000.000000",
      freeMarginAfter: "-1000.000000",
      marginLevelAfter: "83.33",
      riskStateAfter: "MARGIN_CALL"
    })
  ),
  leverageMismatch: example(
    "Another leverage is in force",
    refused(4091, "The leverage in force is 5, not 10: nothing was done.", { leverageSent: 10, leverageStored: 5 })
  ),
  accountClosed: example("The client's account is closed", refused(4092, "The account is closed.")),
  keyReused: example(
    "An Idempotency-Key of another request",
    refused(4092, "This Idempotency-Key was used for another request.")
  ),
  inProgress: example(
    "The same request is still in progress",
    refused(4092, "The request with this Idempotency-Key is still in progress.")
  ),
  rateLimited: example(
    "Too many requests in a minute",
    refused(4290, "The rate limit is used up: try again after the time in Retry-After.")
  ),
  defect: example(
    "A failure of the service",
    refused(5000, "The request failed inside the service.", { id: "6f0a1c1e-0b6e-4b53-9a0a-6f6f0f3a2d11" })
  ),
  venueAway: example("Nothing was written", refused(5020, "The venue can not be reached: nothing was done.")),
  orderInFlight: example(
    "The order is there, and its outcome is not known yet",
    refused(5020, inFlight, { orderId: 12_044, clOrdId: "O-12044", state: "SENT" })
  ),
  cancelInFlight: example(
    "The cancel goes on by itself",
    refused(5020, inFlight, { orderId: 12_044, clOrdId: "O-12044", state: "PENDING_CANCEL" })
  ),
  unavailable: example(
    "Overloaded, or the database is away",
    refused(5030, "The service can not take this request now: try again shortly.")
  ),
  noVenue: example("No venue is attached", refused(5030, "No venue is attached to this service.")),
  orderNotWritten: example("A rule of ours: nothing was written", orderExamples.notWritten),
  orderRejected: example("The venue has refused the stored order", orderExamples.rejected),
  previewRefused: example("The preview of an order that would be refused", orderExamples.refusedPreview),
  orderEnded: example("The order is over", refused(4000, "The order is FILLED: there is nothing to cancel.")),
  cancelRefused: example("The venue does not cancel it", refused(4000, "The venue has refused to cancel the order.")),
  aboveCap: example(
    "More than the schedule allows",
    refused(4000, checkFields, { errors: { leverage: "The leverage must be at most 10 in this market." } })
  )
} as const

type Name = keyof typeof refusalExamples
type ByStatus = Readonly<Record<number, ReadonlyArray<Name>>>

/** Of routes that have none of their own. */
const usual: ByStatus = {
  400: ["fields"],
  401: ["unauthorized"],
  403: ["scope", "suspended"],
  404: ["unknownRoute"],
  408: ["tooSlow"],
  409: ["keyReused", "inProgress"],
  413: ["routeCap", "edgeCap"],
  429: ["rateLimited"],
  500: ["defect"],
  502: ["venueAway"],
  503: ["unavailable"]
}

const trading = { 403: ["unverified", "scope", "suspended"], 404: ["notOffered", "unknownClient"] } as const
const leverage: ByStatus = {
  400: ["fields", "aboveCap"],
  404: trading[404],
  409: ["marginBreach", "accountClosed", "keyReused", "inProgress"],
  503: ["unavailable", "noVenue"]
}

/** By operation. */
const own: Readonly<Record<string, ByStatus>> = {
  "clients.create": { 403: ["scope", "reliance", "suspended"], 409: ["emailTaken", "keyReused", "inProgress"] },
  "orders.place": {
    ...trading,
    400: ["orderNotWritten", "orderRejected"],
    409: ["leverageMismatch", "accountClosed", "keyReused", "inProgress"],
    502: ["orderInFlight", "venueAway"],
    503: ["unavailable", "noVenue"]
  },
  "orders.explain": { ...trading, 409: ["accountClosed"], 503: ["unavailable", "noVenue"] },
  "orders.cancel": {
    400: ["orderEnded", "cancelRefused"],
    404: ["unknownOrder", "unknownClient"],
    409: ["accountClosed"],
    502: ["cancelInFlight"],
    503: ["unavailable", "noVenue"]
  },
  "margin.picture": { 503: ["unavailable", "noVenue"] },
  "margin.preview": { ...trading, 400: ["previewRefused"], 409: ["accountClosed"], 503: ["unavailable", "noVenue"] },
  "margin.leverage": { 404: trading[404], 503: ["unavailable", "noVenue"] },
  "margin.chooseLeverage": leverage,
  "margin.postLeverage": leverage
}

/** The examples of a refusal, as references into the components; those of a client's routes name the client. */
export const examplesOfRefusal = (operation: string, path: string, status: number) => {
  const names = own[operation]?.[status] ?? usual[status] ?? []
  const told = status === 404 && names === usual[404] && path.includes("{clientId}") ? ["unknownClient"] : names
  return Object.fromEntries(told.map((name) => [name, { $ref: `#/components/examples/${name}` }]))
}
