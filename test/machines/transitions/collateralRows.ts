/** The transition table D11 as literal rows. */
import type { CollateralEvent } from "../../../src/machines/collateral/CollateralReport.ts"
import { rowsOf, type TransitionRow } from "./TransitionRow.ts"

const line = { cash: "1.000000", reserved: "0.000000", free: "1.000000", freeMargin: "1.000000" }
const book: CollateralEvent = { type: "REPORT", at: 1, refusal: null, ledgerTxId: 8, balances: line }
const deny: CollateralEvent = { ...book, refusal: "The account is in a margin call.", balances: null }
const collateral = rowsOf<CollateralEvent>({ reportId: 5, direction: "DEPOSIT", amount: "1.000000", currency: "USDC" })
const booked = ["ledger.post PARTNER_COLLATERAL_IN", "event collateral.booked", "audit collateral.report"]

export const collateralReportRows: ReadonlyArray<TransitionRow> = [
  collateral("D11: none, booked", "NEW", [], book, "BOOKED", booked, {
    ledgerTxId: 8,
    refusal: null,
    createdAt: 1,
    cashAfter: "1.000000",
    freeMarginAfter: "1.000000"
  }),
  collateral(
    "D11: none, refused",
    "NEW",
    [],
    deny,
    "REFUSED",
    ["event collateral.refused", "audit collateral.report"],
    {
      ledgerTxId: null,
      refusal: "The account is in a margin call."
    }
  ),
  collateral("D11: BOOKED is terminal", "BOOKED", [book], deny, "refused"),
  collateral("A3-14: REFUSED is terminal", "REFUSED", [deny], book, "refused")
]
