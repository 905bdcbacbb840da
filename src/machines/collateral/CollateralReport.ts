/**
 * Collateral report: the partner reports that it received or paid out a client's money, and the service books or refuses it in
 * the same call. The wire form and the machine's context (doc 3, Collateral report, Collateral report rules; D11, A3-16).
 */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"

export const collateralStatuses = ["BOOKED", "REFUSED"] as const
export type CollateralStatus = (typeof collateralStatuses)[number]

/** The report as every answer, list and event shows it. */
export const CollateralReport = Schema.Struct({
  reportId: Id,
  partnerId: Id,
  clientId: Id,
  clientUid: Schema.String,
  partnerRef: Schema.String.annotate({ description: "The partner's reference, unique per partner for good." }),
  direction: Schema.Literals(["DEPOSIT", "WITHDRAWAL"]),
  currency: Schema.Literal("USDC"),
  amount: Schema.String.annotate({ description: "Positive decimal string with six places." }),
  sourceAsset: Schema.String.annotate({
    description: "Display name of what the partner holds: as sent, else the partner's own."
  }),
  txRef: Schema.NullOr(Schema.String),
  occurredAt: Schema.Int.annotate({ description: "Unix milliseconds." }),
  status: Schema.Literals(collateralStatuses),
  refusal: Schema.String.annotate({ description: "Why the report was refused; empty when it was booked." }),
  ledgerTxId: Schema.NullOr(Id).annotate({ description: "The ledger transaction; null when refused." }),
  createdAt: Schema.Int.annotate({ description: "Unix milliseconds." })
})
export type CollateralReport = typeof CollateralReport.Type

/** The report's facts, which are known before the decision. `amount` is positive, in the currency's full scale. */
export type CollateralInput = Omit<CollateralReport, "status" | "refusal" | "ledgerTxId" | "createdAt">

/** The client's USDC line right after the booking, as the answer shows it. */
export interface CollateralBalances {
  readonly cash: string
  readonly reserved: string
  /** The smaller of cash and free margin. */
  readonly free: string
  readonly freeMargin: string
}

/** The context is flat, because a transition then copies one small object. */
export interface CollateralContext extends CollateralInput {
  /** The USDC line right after the booking. All members are null in a refused report, and in reports of version 1. */
  readonly cashAfter: string | null
  readonly reservedAfter: string | null
  readonly freeAfter: string | null
  readonly freeMarginAfter: string | null
  readonly refusal: string | null
  readonly ledgerTxId: number | null
  readonly createdAt: number
}

/**
 * `refusal` is the sentence of the first economic rule that fails, or null; `ledgerTxId` is the id of the posting, `balances`
 * the client's line after it.
 */
export interface CollateralEvent {
  readonly type: "REPORT"
  readonly at: number
  readonly refusal: string | null
  readonly ledgerTxId: number | null
  readonly balances: CollateralBalances | null
}

/** The wire report of a decided context: refusal is empty when booked, ledgerTxId null when refused. */
export const reportOf = (context: CollateralContext, state: CollateralStatus): CollateralReport => ({
  reportId: context.reportId,
  partnerId: context.partnerId,
  clientId: context.clientId,
  clientUid: context.clientUid,
  partnerRef: context.partnerRef,
  direction: context.direction,
  currency: context.currency,
  amount: context.amount,
  sourceAsset: context.sourceAsset,
  txRef: context.txRef,
  occurredAt: context.occurredAt,
  status: state,
  refusal: context.refusal ?? "",
  ledgerTxId: context.ledgerTxId,
  createdAt: context.createdAt
})

/** The data of the answer to POST .../collateral. */
export const CollateralAnswer = Schema.Struct({
  reportId: Id,
  status: Schema.Literals(collateralStatuses),
  ledgerTxId: Schema.NullOr(Id),
  balances: Schema.Struct({
    cash: Schema.String,
    reserved: Schema.String,
    free: Schema.String.annotate({ description: "The lesser of cash and freeMargin; may be negative." }),
    freeMargin: Schema.String
  }).annotate({ description: "The client's USDC line after booking." }),
  report: CollateralReport.annotate({ identifier: "CollateralReport" })
}).annotate({ identifier: "CollateralAnswer" })
export type CollateralAnswer = typeof CollateralAnswer.Type
