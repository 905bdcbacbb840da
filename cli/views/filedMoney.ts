/** Shared parts of the lists of deposit notices and withdrawal requests (operator surface, Back office). */
import type { Command } from "commander"
import type { LegView } from "../../src/http/api/operator/LedgerGroup.ts"
import { beforeOption, limitOption, partnerOption, tokenOption } from "../options.ts"
import { fields, partnerNamed, stack, table, text, time, type View } from "./View.ts"

export interface MoneyListOptions<Status> {
  readonly status?: Status
  readonly partner?: string
  readonly limit?: number
  readonly before?: number
}

export const moneyListCommand = (parent: Command, statuses: ReadonlyArray<string>): Command =>
  parent
    .command("list")
    .addOption(tokenOption("--status <status>", "only in this status", statuses))
    .addOption(partnerOption())
    .addOption(limitOption(500))
    .addOption(beforeOption)

interface MoneyRow {
  readonly partnerId: number
  readonly clientUid: string
  readonly partnerRef: string
  readonly amount: string
  readonly currency: string
  readonly status: string
  readonly createdAt: number
}

/** The columns that both lists have, before the columns that only one list has. */
export const filedColumns = {
  partner: (row: MoneyRow) => partnerNamed(row.partnerId),
  client: (row: MoneyRow) => row.clientUid,
  reference: (row: MoneyRow) => row.partnerRef,
  amount: (row: MoneyRow) => `${row.amount} ${row.currency}`
}

/**
 * One deposit notice or withdrawal request: its fields, and all its postings. The caller adds the decisions below it
 * (`decided`).
 */
export const filedView = <A extends { readonly postings: ReadonlyArray<typeof LegView.Type> }>({
  postings,
  ...filed
}: A): View =>
  stack(
    fields(filed),
    text(""),
    text("Postings"),
    table(
      postings,
      {
        transaction: (row) => row.txId,
        time: (row) => time(row.ts),
        type: (row) => row.type,
        account: (row) => row.account,
        client: (row) => row.clientId,
        kind: (row) => row.kind,
        amount: (row) => `${row.amount} ${row.currency}`
      },
      "nothing is booked for it"
    )
  )

/** The columns that both lists have, after the columns that only one list has. */
export const standingColumns = {
  status: (row: MoneyRow) => row.status,
  created: (row: MoneyRow) => time(row.createdAt)
}
