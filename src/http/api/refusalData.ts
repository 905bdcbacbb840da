/**
 * The members of `data` in a refusal, by HTTP status: the meaning of each, with its code or reason. A refusal has only the
 * members of its own case (doc 1, Errors).
 */
import { Schema } from "effect"
import { nounNames } from "../../machines/venue/venueNouns.ts"
import { Id } from "../../machines/shared/Ids.ts"

const id = (description: string) => Schema.optionalKey(Id.annotate({ description }))
const text = (description: string) => Schema.optionalKey(Schema.String.annotate({ description }))
const money = (description: string) => text(`${description}, USDC as a decimal string. With WOULD_BREACH_MARGIN.`)
const anything = (description: string) => Schema.optionalKey(Schema.Json.annotate({ description }))

const byVenue = "REFUSED_BY_VENUE"
const inFlight = "OUTCOME_PENDING and VENUE_NOT_REACHED"
const swap = {
  swapId: id(`The swap. With ${byVenue} and OFFER_GONE.`),
  state: text("Its state, REJECTED."),
  rejectReason: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({ description: "The venue's words, of a request for quotes or a take." })
  )
}

const members = {
  400: {
    errors: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.String).annotate({
        description: "What is wrong with each field, by its dotted path, or with each parameter, by its name."
      })
    ),
    ...swap,
    rfqId: id(`The request for quotes. With ${byVenue}, and CLOSE_REQUEST_OPEN: the open one.`)
  },
  403: {
    action: text("What was asked for. With code 4030, as the next three."),
    level: text("The client's verification level."),
    requiredLevel: text("The level that the action needs."),
    missingBlocks: Schema.optionalKey(
      Schema.Array(Schema.String).annotate({ description: "The verification blocks that are not approved." })
    ),
    error: text("RELIANCE_NOT_APPROVED with code 4036, PARTNER_SUSPENDED with code 4037.")
  },
  404: swap,
  409: {
    wouldBreach: Schema.optionalKey(Schema.Literal(true).annotate({ description: "With WOULD_BREACH_MARGIN." })),
    initialMarginAfter: money("The initial margin at the leverage"),
    maintenanceMarginAfter: money("The maintenance margin at the leverage"),
    freeMarginAfter: money("The free margin at the leverage"),
    marginLevelAfter: Schema.optionalKey(
      Schema.NullOr(Schema.String).annotate({
        description:
          "The margin level at the leverage, percent; null while no margin is tied up. With WOULD_BREACH_MARGIN."
      })
    ),
    riskStateAfter: text("The risk state at the leverage. With WOULD_BREACH_MARGIN."),
    leverageSent: Schema.optionalKey(Schema.Number.annotate({ description: "The order's leverage. With code 4091." })),
    leverageStored: Schema.optionalKey(
      Schema.Number.annotate({ description: "The leverage in force. With code 4091." })
    ),
    reportId: id(
      "The refused collateral report. With EXCEEDS_COLLATERAL, COLLATERAL_REFUSED and the reasons of an account."
    ),
    status: text("REFUSED of a collateral report; the request's status with DECIDED_ALREADY."),
    refusal: text("Why the collateral report was refused, as a sentence."),
    report: anything("The refused collateral report, as its list shows it."),
    item: anything("The settlement item, as its list shows it. With SETTLED_ALREADY."),
    notice: anything("The deposit notice, as its list shows it. With DECIDED_ALREADY."),
    requestId: id("The withdrawal request. With DECIDED_ALREADY."),
    currentVersion: Schema.optionalKey(
      Schema.Int.annotate({ description: "The questionnaire's version now. With STALE_VERSION." })
    ),
    clientId: id("The rejected client. With REONBOARD, as the next three."),
    clientUid: text("Its uid."),
    kycPackageStatus: text("The state of its KYC package."),
    reonboardWith: text("The route that takes its KYC anew.")
  },
  429: {
    retakeAt: Schema.optionalKey(
      Schema.Int.annotate({ description: "When the test may be taken again, Unix ms. With RETAKE_TOO_EARLY." })
    )
  },
  500: { id: text("What the failure is logged under: name it to support.") },
  502: {
    orderId: id(`The order, or the one to cancel. With ${inFlight}, as all that follow.`),
    clOrdId: text("The order's name at the venue."),
    rfqId: id("The request for quotes."),
    quoteId: id("The quote that was accepted."),
    contractId: id("The contract to close."),
    ...Object.fromEntries(nounNames.map((noun) => [`${noun}Id`, id(`The ${noun}.`)])),
    offerId: id("The offer that was taken."),
    state: text("The state of the order, request or swap now."),
    accepting: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "Of an accept: whether it is still in flight." })
    )
  }
} as const

type Status = keyof typeof members
const isStatus = (status: number): status is Status => Object.hasOwn(members, status)

/** The members of `data` that refusals of a status may have, besides `reason`. */
export const dataMembers = (status: number): Schema.Struct.Fields => (isStatus(status) ? members[status] : {})
