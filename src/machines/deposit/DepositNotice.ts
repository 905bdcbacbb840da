/**
 * Deposit notice of BROKER custody: the partner reports that it passed on a client's money, and the operator's finance confirms
 * or rejects it. The wire form and the machine's context (doc 3, Deposit notice; D9, A3-03..A3-06).
 */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"
import { filedFields, type MoneyDecider, moneyDeciders } from "../shared/MoneyBody.ts"

export const depositStatuses = ["PENDING", "CONFIRMED", "REJECTED"] as const
export type DepositStatus = (typeof depositStatuses)[number]

/** The means of transfer. Informative only: either method fits any currency. */
export const depositMethods = ["FIAT", "CRYPTO"] as const
export type DepositMethod = (typeof depositMethods)[number]

/** The notice as every answer and list shows it. */
export const DepositNotice = Schema.Struct({
  noticeId: Id,
  ...filedFields,
  method: Schema.Literals(depositMethods),
  evidenceRef: Schema.NullOr(Schema.String),
  status: Schema.Literals(depositStatuses),
  createdAt: Schema.Int.annotate({ description: "Unix milliseconds." }),
  decidedBy: Schema.NullOr(Schema.Literals(moneyDeciders)),
  decidedAt: Schema.NullOr(Schema.Int).annotate({ description: "Unix milliseconds; null while PENDING." }),
  decisionNote: Schema.NullOr(Schema.String),
  ledgerTxId: Schema.NullOr(Id).annotate({ description: "The ledger transaction; null unless CONFIRMED." })
})
export type DepositNotice = typeof DepositNotice.Type

/** The notice's facts at filing. `amount` is positive, in the currency's full scale. */
export type DepositInput = Omit<DepositNotice, "status" | "decidedBy" | "decidedAt" | "decisionNote" | "ledgerTxId">

/** The context is flat, because a transition then copies one small object. */
export type DepositContext = Omit<DepositNotice, "status">

export type DepositEvent =
  /** `refusal` is the reason that the client can't be credited now, or null; `ledgerTxId` is the id of the posting. */
  | {
      readonly type: "CONFIRM"
      readonly at: number
      readonly by: MoneyDecider
      readonly note: string | null
      readonly refusal: string | null
      readonly ledgerTxId: number
    }
  | { readonly type: "REJECT"; readonly at: number; readonly by: MoneyDecider; readonly reason: string }

/** The wire notice of a stored context. */
export const noticeOf = (context: DepositContext, status: DepositStatus): DepositNotice => ({
  noticeId: context.noticeId,
  partnerId: context.partnerId,
  clientId: context.clientId,
  clientUid: context.clientUid,
  partnerRef: context.partnerRef,
  currency: context.currency,
  amount: context.amount,
  method: context.method,
  evidenceRef: context.evidenceRef,
  status,
  createdAt: context.createdAt,
  decidedBy: context.decidedBy,
  decidedAt: context.decidedAt,
  decisionNote: context.decisionNote,
  ledgerTxId: context.ledgerTxId
})
