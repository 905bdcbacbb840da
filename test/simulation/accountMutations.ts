/** Deliberate faults in the stored and shown figures of an account beside its postings (see mutations.ts). */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { AccountTotalsRow } from "../../src/runtime/tables/account.ts"
import type { LedgerTransactionRow } from "../../src/runtime/tables/ledger.ts"
import { commits, type Mutation, without } from "./bends.ts"

const otherTotals = (bend: (row: AccountTotalsRow) => AccountTotalsRow) =>
  commits((commit) => {
    const { accountTotals } = commit.rows
    return accountTotals === undefined
      ? commit
      : { ...commit, rows: { ...commit.rows, accountTotals: accountTotals.map((row) => bend(row)) } }
  })

const otherTransactions = (bend: (row: LedgerTransactionRow) => LedgerTransactionRow) =>
  commits((commit: Commit) => {
    const { ledgerTransactions } = commit.rows
    return ledgerTransactions === undefined
      ? commit
      : { ...commit, rows: { ...commit.rows, ledgerTransactions: ledgerTransactions.map((row) => bend(row)) } }
  })

export const accountMutations: ReadonlyArray<Mutation> = [
  {
    name: "trades are not counted",
    shows: ["totals"],
    seams: () => commits((commit) => without(commit, "accountTotals"))
  },
  {
    name: "a commission is counted in the result",
    shows: ["totals"],
    seams: () => otherTotals((row) => ({ ...row, fillsPnl: row.fillsPnl - row.fillsCommission }))
  },
  {
    name: "a result of zero is counted as lost",
    shows: ["totals"],
    seams: () => otherTotals((row) => ({ ...row, losses: row.fills + row.contracts - row.wins }))
  },
  {
    name: "an asset is booked without what it was worth",
    shows: ["totals"],
    seams: () =>
      otherTransactions((row) => {
        const { mark: _mark, markTs: _markTs, valueUsdc: _valueUsdc, ...refs } = row.refs
        return { ...row, refs }
      })
  }
]
