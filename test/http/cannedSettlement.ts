/** Settlement answers of the stub server, as the services would give them. */
import type { BulkAnswer } from "../../src/machines/settlement/BulkReportBody.ts"
import {
  type InterfirmPage,
  interfirmOf,
  noItems,
  recordDefinitions,
  reportDefinitions,
  type SettlementReportFigures,
  type SettlementSummary,
  stateFigures,
  summaryDefinitions
} from "../../src/machines/settlement/SettlementFigures.ts"
import type { WindowQuery } from "../../src/runtime/services/settlement/SettlementReports.ts"

export const bulkReported: BulkAnswer = {
  results: [
    { itemId: 71, ok: true, changed: true, status: "SETTLED" },
    { itemId: 72, ok: false, code: 4004, msg: "Settlement item not found." }
  ],
  settled: 1,
  failed: 0,
  unchanged: 0,
  refused: 1
}

const none = { PENDING: noItems, SETTLED: noItems, FAILED: noItems }

const head = ({ from, to, now }: WindowQuery) =>
  ({ from, to, asOf: now, custodyModel: "PARTNER", collateralAsset: "EURD" }) as const

export const settlementReport = (window: WindowQuery): SettlementReportFigures => ({
  ...head(window),
  currencies: [
    {
      currency: "USDC",
      depositsConfirmed: "0.000000",
      withdrawalsPaid: "0.000000",
      commissions: "0.000000",
      realizedPnl: "0.000000",
      closingClientCash: "0.000000"
    }
  ],
  interfirm: interfirmOf(none, 0n),
  definitions: reportDefinitions
})

export const settlementSummary = (window: WindowQuery): SettlementSummary => ({
  ...head(window),
  currencies: [
    {
      currency: "USDC",
      pending: stateFigures(noItems),
      settled: stateFigures(noItems),
      failed: stateFigures(noItems),
      collateralHeld: "0.000000",
      clientCash: "0.000000",
      interfirm: interfirmOf(none, 0n)
    }
  ],
  definitions: summaryDefinitions
})

export const interfirmPage: InterfirmPage = {
  settlements: [
    {
      settlementId: 3,
      partnerId: 7,
      currency: "USDC",
      periodFrom: 100,
      periodTo: 200,
      amount: "50.000000",
      direction: "PAID_TO_PARTNER",
      txRef: "wire-1",
      note: null,
      recordedBy: "FINANCE",
      recordedAt: 300
    }
  ],
  hasMore: false,
  nextBefore: null,
  definitions: recordDefinitions
}
