/** The results and costs of a client's trading, added up with every booking (doc 2, Other account reads; STS-11). */
import type { AccountTotals } from "../../machines/account/accountTotals.ts"
import { ofClient, table } from "./Table.ts"

/** A client's totals since the account was opened. */
export interface AccountTotalsRow extends AccountTotals {
  readonly clientId: number
  readonly partnerId: number
}

export const accountTables = {
  /** One row for each client that has ever traded. */
  accountTotals: table<AccountTotalsRow>()({
    title: "total of an account",
    machine: null,
    key: ["clientId"],
    mode: "upsert",
    columns: {
      clientId: "id",
      partnerId: "id",
      fills: "id",
      fillsPnl: "money",
      spotPnl: "money",
      barrierPnl: "money",
      fillsCommission: "money",
      barrierCommission: "money",
      contracts: "id",
      perpFlow: "money",
      stakingPnl: "money",
      stakingCommission: "money",
      swapTakes: "id",
      wins: "id",
      losses: "id"
    },
    check: ({ fills, contracts, swapTakes, wins, losses, fillsCommission, barrierCommission, stakingCommission }) =>
      [fills, contracts, swapTakes, wins, losses].every((count) => count >= 0) &&
      [fillsCommission, barrierCommission, stakingCommission].every((charged) => charged >= 0n),
    residence: ofClient
  })
}
