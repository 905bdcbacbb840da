/**
 * Settlement item: one economic result of a PARTNER-custody client that the partner settles with its client and reports back.
 * The wire form and the machine's context (doc 3, Settlement item; F28, D12, A3-27, A3-20, A3-28).
 */
import { Schema } from "effect"
import { settlementTypes, type SettlementType } from "../postingRules.ts"
import type { JsonObject } from "../shared/Json.ts"
import { Id } from "../shared/Ids.ts"

export const settlementStatuses = ["PENDING", "SETTLED", "FAILED"] as const
export type SettlementStatus = (typeof settlementStatuses)[number]

export const reportStatuses = ["SETTLED", "FAILED"] as const
export type ReportStatus = (typeof reportStatuses)[number]

/** The item as every answer, list and event shows it. */
export const SettlementItem = Schema.Struct({
  itemId: Id,
  clientId: Id,
  clientUid: Schema.String,
  partnerClientRef: Schema.String,
  type: Schema.Literals(settlementTypes),
  currency: Schema.Literal("USDC"),
  amount: Schema.String.annotate({
    description: "Signed decimal string from the client's view: positive, the partner credits the client."
  }),
  refs: Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "References of the posting, by type." }),
  occurredAt: Schema.Int.annotate({ description: "Unix milliseconds." }),
  status: Schema.Literals(settlementStatuses),
  partnerTxRef: Schema.NullOr(Schema.String),
  settledAt: Schema.NullOr(Schema.Int).annotate({
    description: "When the partner settled, Unix milliseconds; the time of its report when it named none."
  }),
  reportedAt: Schema.NullOr(Schema.Int).annotate({
    description: "When the last report that changed the item came, Unix milliseconds."
  }),
  note: Schema.NullOr(Schema.String),
  ledgerTxId: Id,
  createdAt: Schema.Int.annotate({ description: "Unix milliseconds." })
})
export type SettlementItem = typeof SettlementItem.Type

/** The item's facts, taken from its posting. `amount` is a signed decimal string in the currency's full scale, never zero. */
export interface SettlementInput {
  readonly itemId: number
  readonly clientId: number
  readonly clientUid: string
  readonly partnerClientRef: string
  readonly type: SettlementType
  readonly currency: "USDC"
  readonly amount: string
  readonly refs: JsonObject
  readonly occurredAt: number
  readonly ledgerTxId: number
  readonly createdAt: number
}

export interface SettlementContext extends SettlementInput {
  readonly partnerTxRef: string | null
  readonly settledAt: number | null
  readonly reportedAt: number | null
  readonly note: string | null
  /**
   * The number of reports that changed the item. The number and the id name the next change, so that of two concurrent ones
   * only one is applied.
   */
  readonly reports: number
}

/** A checked report of the partner. */
export interface SettlementEvent {
  readonly type: "REPORT_SETTLED" | "REPORT_FAILED"
  readonly at: number
  /** The partner's reference of the transfer: required for SETTLED, optional for FAILED. */
  readonly partnerTxRef: string | null
  readonly settledAt: number | null
  readonly note: string | null
}

/** The wire item of a stored context: the same shape in lists, answers and the event. */
export const itemOf = (context: SettlementContext, status: SettlementStatus): SettlementItem => ({
  itemId: context.itemId,
  clientId: context.clientId,
  clientUid: context.clientUid,
  partnerClientRef: context.partnerClientRef,
  type: context.type,
  currency: context.currency,
  amount: context.amount,
  refs: context.refs,
  occurredAt: context.occurredAt,
  status,
  partnerTxRef: context.partnerTxRef,
  settledAt: context.settledAt,
  reportedAt: context.reportedAt,
  note: context.note,
  ledgerTxId: context.ledgerTxId,
  createdAt: context.createdAt
})
