/**
 * Withdrawal request of BROKER custody: the partner asks that a client is paid out, the amount is reserved at once, and the
 * operator's finance approves and pays it. The wire form and what the machine keeps (doc 3, Withdrawal request; D10, A3-06,
 * A3-07, A3-12).
 */
import { Schema } from "effect"
import type { JsonObject } from "../shared/Json.ts"
import { parseExact } from "../shared/exactJson.ts"
import { Id } from "../shared/Ids.ts"
import { filedFields, type MoneyDecider, moneyDeciders } from "../shared/MoneyBody.ts"

export const withdrawalStatuses = ["REQUESTED", "APPROVED", "PAID", "REJECTED", "CANCELLED"] as const
export type WithdrawalStatus = (typeof withdrawalStatuses)[number]

/** Somebody still has to act: such a request stands against closing and against a change of custody. */
export const openWithdrawalStatuses = ["REQUESTED", "APPROVED"] as const
export const isOpenWithdrawal = (status: WithdrawalStatus): boolean =>
  openWithdrawalStatuses.some((open) => open === status)

const millis = (description: string) => Schema.Int.annotate({ description: `${description}, Unix milliseconds.` })

/** The request as every answer and list shows it. */
export const WithdrawalRequest = Schema.Struct({
  requestId: Id,
  ...filedFields,
  destination: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)).annotate({
    description: "The JSON object that the partner sent, as its text was written; null when it sent none."
  }),
  status: Schema.Literals(withdrawalStatuses),
  createdAt: millis("When it was filed"),
  decidedBy: Schema.NullOr(Schema.Literals(moneyDeciders)),
  decidedAt: Schema.NullOr(millis("When it was approved, rejected or cancelled")),
  paidAt: Schema.NullOr(millis("When it was paid")),
  decisionNote: Schema.NullOr(Schema.String),
  ledgerTxId: Schema.NullOr(Id).annotate({
    description: "The ledger transaction that paid the reserve out; null until the request is approved."
  })
})
export type WithdrawalRequest = typeof WithdrawalRequest.Type

/** What the machine keeps. The destination is personal data, so no machine sees it. Flat: a step copies it. */
export interface WithdrawalContext extends Omit<WithdrawalRequest, "status" | "destination"> {
  /** Keyed hash of the request's id and its destination: what is paid is what was filed. Null: filed by version 1. */
  readonly destinationFingerprint: string | null
}

/** What the audit row of the filing says of the destination. */
export const filedDestination = (fingerprint: string | null): string | null =>
  fingerprint === null ? null : `destination ${fingerprint}`

/** The request's own facts, known when it is filed. `amount` is positive, in the currency's full scale. */
export type WithdrawalInput = Omit<
  WithdrawalContext,
  "decidedBy" | "decidedAt" | "paidAt" | "decisionNote" | "ledgerTxId"
>

export type WithdrawalEvent =
  /** Every gate has passed: whatever refuses a request leaves no row. */
  | { readonly type: "REQUEST"; readonly at: number }
  /** `refusal` is what stands against paying out now, or null; `ledgerTxId` the id to be posted under. */
  | {
      readonly type: "APPROVE"
      readonly at: number
      readonly by: MoneyDecider
      readonly refusal: string | null
      readonly ledgerTxId: number
    }
  | { readonly type: "PAY"; readonly at: number }
  | { readonly type: "REJECT"; readonly at: number; readonly by: MoneyDecider; readonly reason: string }
  | { readonly type: "CANCEL"; readonly at: number }
  /** The bank refused for good what had been approved. */
  | { readonly type: "FAIL"; readonly at: number; readonly by: MoneyDecider; readonly reason: string }

/** The wire request of a stored context with its destination, whose JSON text is kept beside it. */
export const requestOf = (
  context: WithdrawalContext,
  status: WithdrawalStatus,
  destination: string | null
): WithdrawalRequest => ({
  requestId: context.requestId,
  partnerId: context.partnerId,
  clientId: context.clientId,
  clientUid: context.clientUid,
  partnerRef: context.partnerRef,
  currency: context.currency,
  amount: context.amount,
  destination: destination === null ? null : (parseExact(destination) as JsonObject),
  status,
  createdAt: context.createdAt,
  decidedBy: context.decidedBy,
  decidedAt: context.decidedAt,
  paidAt: context.paidAt,
  decisionNote: context.decisionNote,
  ledgerTxId: context.ledgerTxId
})
