/** What trading has brought and cost a client, added up as it happens (doc 2, Other account reads; STS-11). */
import { ofClient, table } from "../Table.ts"

/** Since the account was opened. Money is micro-USDC; of a market that is paid in another currency only the number counts. */
export interface AccountTotalsRow {
  readonly clientId: number
  readonly partnerId: number
  readonly fills: number
  /** Realized by perpetuals, without commission. */
  readonly fillsPnl: bigint
  /** Realized by disposals on SPOT, without commission. */
  readonly spotPnl: bigint
  /** What contracts that have ended paid, negative what they cost. */
  readonly barrierPnl: bigint
  /** Charged on perpetuals and SPOT, positive. */
  readonly fillsCommission: bigint
  /** Charged on contracts, positive. */
  readonly barrierCommission: bigint
  /** Contracts that were ever opened. */
  readonly contracts: number
  /** What perpetuals have brought less what they cost, each trade with all of its value: the venue's own figure (A2-103). */
  readonly perpFlow: bigint
}

export const accountTables = {
  /** One of each client that has ever traded. */
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
      perpFlow: "money"
    },
    check: (row) => row.fills >= 0 && row.contracts >= 0 && row.fillsCommission >= 0n && row.barrierCommission >= 0n,
    residence: ofClient
  })
}
