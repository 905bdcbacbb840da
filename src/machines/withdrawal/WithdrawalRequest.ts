/**
 * Withdrawal request of BROKER custody: the partner requests a payment to a client, the amount is reserved at once, and the
 * operator's finance approves and pays it. The wire form and the machine's context (doc 3, Withdrawal request; D10, A3-06,
 * A3-07, A3-12).
 */
import { Schema } from "effect"
import type { JsonObject } from "../shared/Json.ts"
import { parseExact } from "../shared/exactJson.ts"
import { Id } from "../shared/Ids.ts"
import { filedFields, type MoneyDecider, moneyDeciders } from "../shared/MoneyBody.ts"

export const withdrawalStatuses = ["REQUESTED", "APPROVED", "PAID", "REJECTED", "CANCELLED"] as const
export type WithdrawalStatus = (typeof withdrawalStatuses)[number]

/** States of an unfinished request: it prevents closing the client and a change of custody. */
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

/**
 * The machine's context. It lacks the destination, because personal data is never in a machine. Flat, because a transition
 * then copies one small object.
 */
export interface WithdrawalContext extends Omit<WithdrawalRequest, "status" | "destination"> {
  /**
   * Keyed hash of the request's id and its destination, which proves that the payment goes to the filed destination. Null for
   * a request filed by version 1.
   */
  readonly destinationFingerprint: string | null
}

/** The audit text of the filed destination, null without one. */
export const filedDestination = (fingerprint: string | null): string | null =>
  fingerprint === null ? null : `destination ${fingerprint}`

/** The request's facts at filing. `amount` is positive, in the currency's full scale. */
export type WithdrawalInput = Omit<
  WithdrawalContext,
  "decidedBy" | "decidedAt" | "paidAt" | "decisionNote" | "ledgerTxId"
>

export type WithdrawalEvent =
  /** Files the request. All gates have passed already, because a refused request leaves no row. */
  | { readonly type: "REQUEST"; readonly at: number }
  /** `refusal` is the reason that the payment can't be made now, or null; `ledgerTxId` is the id of the posting. */
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
  /** The bank has finally refused the approved payment. */
  | { readonly type: "FAIL"; readonly at: number; readonly by: MoneyDecider; readonly reason: string }

/** The wire request of a stored context with its destination, whose JSON text is stored beside it. */
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
