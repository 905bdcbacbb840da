/**
 * The published figures of PARTNER custody: their computation from sums, their definitions as every answer repeats them, and
 * the wire forms of report, summary and interfirm records (doc 3, Settlement report, Settlement summary, Interfirm settlement
 * record; A3-22..A3-25).
 */
import { Schema } from "effect"
import { currencyCodes } from "../shared/Currency.ts"
import { Id } from "../shared/Ids.ts"
import { formatAmount, MoneyText } from "../shared/Money.ts"
import { type SettlementStatus, settlementStatuses } from "./SettlementItem.ts"

/** This figure does not fall when the firms settle: recorded payments between them make no posting. */
const collateralHeld =
  "Collateral reported as received less collateral reported as paid out, over all time: what the partner holds for the service's clients, plus what it has paid the service and less what the service has paid it in recorded interfirm settlements. As of now."

const custody = {
  custodyModel: Schema.Literals(["BROKER", "PARTNER"]),
  collateralAsset: Schema.String.annotate({ description: "Empty under BROKER custody." })
}
const window = {
  from: Schema.Int.annotate({ description: "Start of the window, inclusive, Unix milliseconds." }),
  to: Schema.Int.annotate({ description: "End of the window, inclusive, Unix milliseconds." }),
  asOf: Schema.Int.annotate({ description: "When the figures were read, Unix milliseconds." })
}
const Definitions = Schema.Record(Schema.String, Schema.String).annotate({
  description: "What each figure means, by its name."
})

export const Interfirm = Schema.Struct({
  currency: Schema.Literal("USDC"),
  owedToPartner: MoneyText,
  owedByPartner: MoneyText,
  net: MoneyText,
  settlementsRecorded: MoneyText,
  outstanding: MoneyText
}).annotate({ identifier: "Interfirm" })
export type Interfirm = typeof Interfirm.Type

const StateFigures = Schema.Struct({
  count: Schema.Int,
  amount: MoneyText,
  credits: MoneyText,
  debits: MoneyText
})
type StateFigures = typeof StateFigures.Type

export const SettlementSummary = Schema.Struct({
  ...window,
  ...custody,
  currencies: Schema.Array(
    Schema.Struct({
      currency: Schema.Literal("USDC"),
      pending: StateFigures,
      settled: StateFigures,
      failed: StateFigures,
      collateralHeld: MoneyText.annotate({ description: collateralHeld }),
      clientCash: MoneyText,
      interfirm: Interfirm
    })
  ),
  definitions: Definitions
}).annotate({ identifier: "SettlementSummary" })
export type SettlementSummary = typeof SettlementSummary.Type

export const SettlementReportFigures = Schema.Struct({
  ...window,
  ...custody,
  currencies: Schema.Array(
    Schema.Struct({
      currency: Schema.Literals(currencyCodes),
      depositsConfirmed: MoneyText,
      withdrawalsPaid: MoneyText,
      commissions: MoneyText,
      realizedPnl: MoneyText,
      closingClientCash: MoneyText
    })
  ),
  interfirm: Schema.NullOr(Interfirm).annotate({ description: "Null under BROKER custody." }),
  definitions: Definitions
}).annotate({ identifier: "SettlementReport" })
export type SettlementReportFigures = typeof SettlementReportFigures.Type

export const interfirmDirections = ["PAID_TO_PARTNER", "PAID_BY_PARTNER"] as const

export const InterfirmRecord = Schema.Struct({
  settlementId: Id,
  partnerId: Id,
  currency: Schema.Literal("USDC"),
  periodFrom: Schema.Int.annotate({ description: "Unix milliseconds." }),
  periodTo: Schema.Int.annotate({ description: "Unix milliseconds." }),
  amount: MoneyText.annotate({ description: "Signed: positive, the service paid the partner." }),
  direction: Schema.Literals(interfirmDirections),
  txRef: Schema.String,
  note: Schema.NullOr(Schema.String),
  recordedBy: Schema.String.annotate({ description: "The role that recorded it." }),
  recordedAt: Schema.Int.annotate({ description: "Unix milliseconds." })
}).annotate({ identifier: "InterfirmRecord" })
export type InterfirmRecord = typeof InterfirmRecord.Type

export const InterfirmPage = Schema.Struct({
  settlements: Schema.Array(InterfirmRecord),
  hasMore: Schema.Boolean.annotate({ description: "Whether older records exist." }),
  nextBefore: Schema.NullOr(Id).annotate({ description: "The cursor of the next page; null on the last one." }),
  definitions: Definitions
})
export type InterfirmPage = typeof InterfirmPage.Type

const interfirmDefinitions = {
  owedToPartner:
    "Sum of the positive settlement items of the window: client gains that the partner credits on the service's behalf.",
  owedByPartner:
    "Sum of the negative settlement items of the window as a positive figure: client losses and commissions that the partner debits and owes the service.",
  net: "owedToPartner minus owedByPartner; positive: the service owes the partner.",
  settlementsRecorded:
    "Recorded interfirm settlements whose period overlaps the window (periodFrom at or before its end, periodTo at or after its start), each counted in full; positive: the service paid the partner.",
  outstanding: "net minus settlementsRecorded."
} as const

const custodyDefinition =
  "The custody model as of now. The other figures tell what happened in their window, under whichever model it happened."

/** The definitions in every answer. Partners rely on them, so they change only with the version of the interface. */
export const summaryDefinitions = {
  pending: "Settlement items of the window that the partner has not reported: owed from the moment they exist.",
  settled: "Settlement items of the window that the partner has reported as settled with its client.",
  failed: "Settlement items of the window that the partner could not settle yet.",
  collateralHeld,
  clientCash:
    "Cash plus reserved of all clients of the partner, as of now. Under PARTNER custody: collateralHeld plus the net of every settlement item ever produced.",
  custodyModel: custodyDefinition,
  ...interfirmDefinitions
} as const

export const reportDefinitions = {
  depositsConfirmed: "Deposit notices confirmed in the window. None are confirmed under PARTNER custody.",
  withdrawalsPaid: "Withdrawal requests paid in the window. None are paid under PARTNER custody.",
  commissions: "COMMISSION postings of the window, positive for a charge.",
  realizedPnl:
    "PNL, BARRIER_SETTLE, SWAP_SETTLE and FUNDING postings of the window, signed from the client's view; a SWAP_SETTLE holds returned principal too.",
  closingClientCash: "Cash plus reserved of all clients of the partner at the end of the window.",
  custodyModel: `${custodyDefinition} interfirm is null under BROKER custody, whatever the window holds.`,
  ...interfirmDefinitions
} as const

export const recordDefinitions = {
  amount: "Signed: positive, the service paid the partner; negative, the partner paid the service.",
  direction: "PAID_TO_PARTNER for a positive amount, PAID_BY_PARTNER for a negative one.",
  periodFrom: "Start of the period that the payment settles.",
  periodTo: "End of the period that the payment settles, inclusive.",
  ...interfirmDefinitions
} as const

/** Count and sums of the items in one state, micro-USDC. `debits` is positive although the single items are negative. */
export interface ItemSums {
  readonly count: number
  readonly credits: bigint
  readonly debits: bigint
}
export type SumsByState = Readonly<Record<SettlementStatus, ItemSums>>
export const noItems: ItemSums = { count: 0, credits: 0n, debits: 0n }

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")

/** The debt between the firms over a window, from the items of every state and the recorded payments (micro-USDC). */
export const interfirmOf = (items: SumsByState, recorded: bigint): Interfirm => {
  const sum = (side: "credits" | "debits") =>
    settlementStatuses.reduce((total, state) => total + items[state][side], 0n)
  const [owedToPartner, owedByPartner] = [sum("credits"), sum("debits")]
  const net = owedToPartner - owedByPartner
  return {
    currency: "USDC",
    owedToPartner: usdc(owedToPartner),
    owedByPartner: usdc(owedByPartner),
    net: usdc(net),
    settlementsRecorded: usdc(recorded),
    outstanding: usdc(net - recorded)
  }
}

/** The figures of one state in the settlement summary; `amount` is credits less debits, USDC text. */
export const stateFigures = ({ count, credits, debits }: ItemSums): StateFigures => ({
  count,
  amount: usdc(credits - debits),
  credits: usdc(credits),
  debits: usdc(debits)
})
