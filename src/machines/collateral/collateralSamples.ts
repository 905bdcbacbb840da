/** One event per side of every guard of the collateral machine: path tests and diagrams use them (D11). */
import type { CollateralEvent, CollateralInput } from "./CollateralReport.ts"

export const collateralInputs: ReadonlyArray<CollateralInput> = (["DEPOSIT", "WITHDRAWAL"] as const).map(
  (direction) => ({
    reportId: 1,
    partnerId: 1,
    clientId: 1,
    clientUid: "DEMO-00000001",
    partnerRef: "ref-1",
    direction,
    currency: "USDC",
    amount: "100.000000",
    sourceAsset: "USD",
    txRef: null,
    occurredAt: 0
  })
)

export const collateralSamples: ReadonlyArray<CollateralEvent> = [
  {
    type: "REPORT",
    at: 1,
    refusal: null,
    ledgerTxId: 7,
    balances: { cash: "100.000000", reserved: "0.000000", free: "100.000000", freeMargin: "100.000000" }
  },
  {
    type: "REPORT",
    at: 1,
    refusal: "Withdrawals are restricted on this account.",
    ledgerTxId: 7,
    balances: null
  }
]
