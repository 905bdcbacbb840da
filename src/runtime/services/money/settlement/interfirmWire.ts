/** An interfirm settlement record as both surfaces show it (doc 3, Interfirm settlement record). */
import type { InterfirmRecord } from "../../../../machines/settlement/SettlementFigures.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import type { InterfirmRow } from "../../../tables/settlement.ts"

export const wireInterfirm = (row: InterfirmRow): InterfirmRecord => ({
  settlementId: row.id,
  partnerId: row.partnerId,
  currency: "USDC",
  periodFrom: row.periodFrom,
  periodTo: row.periodTo,
  amount: formatAmount(row.amount, "USDC"),
  direction: row.amount > 0n ? "PAID_TO_PARTNER" : "PAID_BY_PARTNER",
  txRef: row.txRef,
  note: row.note,
  recordedBy: row.recordedBy,
  recordedAt: row.recordedAt
})
