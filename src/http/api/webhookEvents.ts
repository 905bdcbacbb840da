/**
 * The webhook deliveries in the OpenAPI document: one entry per event, whose request is the body that the partner's endpoint
 * receives. The compiler rejects an event without a description (doc 3, Webhook and Event catalogue).
 */
import { Schema } from "effect"
import { lifecycleStates } from "../../machines/client/Client.ts"
import { verificationLevels } from "../../machines/verification/Blocks.ts"
import { CollateralReport, type CollateralStatus } from "../../machines/collateral/CollateralReport.ts"
import { caseReasons } from "../../machines/compliance/Case.ts"
import { DepositNotice } from "../../machines/deposit/DepositNotice.ts"
import type { EventName } from "../../machines/Effects.ts"
import { SettlementItem } from "../../machines/settlement/SettlementItem.ts"
import { Currency } from "../../machines/shared/Currency.ts"
import { Id } from "../../machines/shared/Ids.ts"
import { withdrawalStatuses } from "../../machines/withdrawal/WithdrawalRequest.ts"
import { feedEvents } from "./feedEvents.ts"

interface EventDescription {
  readonly summary: string
  readonly data: Schema.Top
  /** Set for an event at partner level: the client fields of its delivery are null. */
  readonly ofPartner?: true
}

const level = Schema.Literals(verificationLevels)
const lifecycleState = Schema.Literals(lifecycleStates)
const report = (status: CollateralStatus) =>
  Schema.Struct({ ...CollateralReport.fields, status: Schema.Literal(status) })

const { noticeId, partnerRef, currency, amount } = DepositNotice.fields
const depositFacts = { noticeId, partnerRef, currency, amount }

const events: { readonly [E in EventName]: EventDescription } = {
  "client.onboarded": {
    summary: "Reliance onboarding granted level MICA",
    data: Schema.Struct({ verificationLevel: level, lifecycleState, kycPackageId: Id })
  },
  "client.review_required": {
    summary: "Compliance must decide about a client",
    data: Schema.Struct({
      reason: Schema.Literals(caseReasons.filter((reason) => reason !== "DUPLICATE_PERSON")),
      kycPackageId: Id,
      caseId: Id
    })
  },
  "client.level_changed": {
    summary: "The MiFID grant moved the client's level",
    data: Schema.Struct({
      from: level,
      to: level,
      appropriateness: Schema.Struct({
        version: Schema.Int,
        outcome: Schema.Literals(["PASS", "WARN", "FAIL"]),
        score: Schema.Int,
        attempt: Schema.Int
      })
    })
  },
  "appropriateness.result": {
    summary: "An appropriateness assessment was scored",
    data: Schema.Struct({
      version: Schema.Int,
      outcome: Schema.Literals(["PASS", "WARN", "FAIL"]),
      score: Schema.Int,
      attempt: Schema.Int,
      retakeAt: Schema.Int.annotate({ description: "When the next attempt may be made, Unix milliseconds." }),
      requiresAcknowledgement: Schema.Boolean
    })
  },
  "kyc.rejected": {
    summary: "Compliance rejected reliance on the KYC package",
    data: Schema.Struct({
      kycPackageId: Id,
      revision: Schema.Int,
      reason: Schema.String,
      verificationLevel: level,
      lifecycleState
    })
  },
  "kyc.documents_requested": {
    summary: "Compliance requested underlying documents",
    data: Schema.Struct({ kycPackageId: Id, revision: Schema.Int, note: Schema.String })
  },
  "deposit.confirmed": {
    summary: "Finance confirmed a deposit notice, or a sandbox partner filed one",
    data: Schema.Struct({ ...depositFacts, status: Schema.Literal("CONFIRMED"), ledgerTxId: Id })
  },
  "deposit.rejected": {
    summary: "Finance rejected a deposit notice",
    data: Schema.Struct({ ...depositFacts, status: Schema.Literal("REJECTED"), reason: Schema.String })
  },
  "collateral.booked": { summary: "A collateral report was booked", data: report("BOOKED") },
  "collateral.refused": {
    summary: "A collateral report was refused for an economic reason",
    data: report("REFUSED")
  },
  "settlement.item_created": {
    summary: "An economic result of a PARTNER-custody client is to be settled",
    data: Schema.Struct({ ...SettlementItem.fields, status: Schema.Literal("PENDING") })
  },
  "withdrawal.status": {
    summary: "A withdrawal request moved: filed, approved, paid, rejected or cancelled",
    data: Schema.Struct({
      requestId: Id,
      partnerRef: Schema.String,
      currency: Currency,
      amount: Schema.String,
      status: Schema.Literals(withdrawalStatuses),
      decidedAt: Schema.NullOr(Schema.Int),
      paidAt: Schema.NullOr(Schema.Int),
      note: Schema.NullOr(Schema.String)
    })
  },
  "webhook.test": {
    summary: "POST /webhook/test was called",
    data: Schema.Struct({ message: Schema.String, requestedAt: Schema.Int }),
    ofPartner: true
  }
}

const aboutClient = { clientId: Id, clientUid: Schema.String, partnerClientRef: Schema.String }
const aboutPartner = { clientId: Schema.Null, clientUid: Schema.Null, partnerClientRef: Schema.Null }

/** The body posted to the partner's endpoint (doc 3, Webhook: the client fields are null on partner-level events). */
const deliveryOf = (event: string, { data, ofPartner }: EventDescription) =>
  Schema.Struct({
    id: Id.annotate({ description: "The delivery; retries carry the same id." }),
    event: Schema.Literal(event),
    partnerId: Id,
    ...(ofPartner === true ? aboutPartner : aboutClient),
    ts: Schema.Int.annotate({ description: "When it was queued, Unix milliseconds." }),
    data
  })

/** Description of the tag that groups the webhooks. */
export const webhookTag = {
  name: "Webhooks",
  description: [
    "What the service posts to the partner's endpoint.",
    "Verify each request: recompute HMAC-SHA256 with the whole secret (`whs_` included) over the timestamp header, a dot and the raw body bytes, compare in constant time, and refuse a timestamp more than 300 seconds from your clock.",
    "Answer any 2xx within 10 seconds; the body of the answer is ignored, a redirect is not followed and counts as a failure.",
    "Ten attempts, with waits of 10, 20, 40, 80, 160, 320, 640, 640 and 640 seconds. Deliveries can arrive out of order and more than once: deduplicate on `id`."
  ].join("\n\n")
}

const header = (name: string, description: string, schema: object) => ({
  name,
  in: "header",
  required: true,
  description,
  schema
})

/** Headers of every delivery (doc 3, header table). */
const deliveryHeaders = (event: string) => [
  header("X-Brokerage-Event", "Name of the event.", { type: "string", enum: [event] }),
  header("X-Brokerage-Delivery", "Id of the delivery; retries carry the same id.", { type: "string" }),
  header("X-Brokerage-Timestamp", "When this attempt was signed, Unix seconds.", { type: "string" }),
  header("X-Brokerage-Signature", "`v1=` and the lower-case hex of the HMAC-SHA256 over timestamp, dot and raw body.", {
    type: "string",
    pattern: "^v1=[0-9a-f]{64}$"
  })
]

/** All events: those that are sent at once, then those derived from the clients' notification feeds. */
const described: ReadonlyArray<readonly [name: string, description: EventDescription]> = [
  ...Object.entries<EventDescription>(events),
  ...feedEvents.map(({ name, ...description }) => [name, description] as const)
]

/** Names of all events that the service publishes. */
export const eventNames: ReadonlyArray<string> = described.map(([name]) => name)

/** The `webhooks` member of the OpenAPI document, by event. */
export const webhookItems = (): Readonly<Record<string, object>> =>
  Object.fromEntries(
    described.map(([event, description]) => [
      event,
      {
        post: {
          operationId: `webhooks.${event}`,
          tags: [webhookTag.name],
          summary: event,
          description: `${description.summary}.`,
          parameters: deliveryHeaders(event),
          security: [],
          requestBody: {
            required: true,
            content: {
              "application/json": { schema: Schema.toJsonSchemaDocument(deliveryOf(event, description)).schema }
            }
          },
          responses: { "2XX": { description: "Received; the body of the answer is ignored." } }
        }
      }
    ])
  )
