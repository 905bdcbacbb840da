/** The books: transactions with their postings, and the derived balances (architecture, Ledger). */
import type { JsonObject } from "../../machines/shared/Json.ts"
import { ofClient, table } from "./Table.ts"

export interface LedgerTransactionRow {
  readonly txId: number
  readonly key: string
  readonly type: string
  readonly actor: string
  readonly reason: string | null
  readonly clientId: number | null
  readonly partnerId: number
  readonly refs: JsonObject
  readonly ts: number
}

export interface PostingRow {
  readonly postingId: number
  readonly txId: number
  readonly account: string
  readonly clientId: number | null
  readonly partnerId: number
  readonly currency: string
  readonly kind: "cash" | "reserved"
  readonly amount: bigint
}

export interface BalanceRow {
  readonly clientId: number
  readonly currency: string
  readonly partnerId: number
  readonly cash: bigint
  readonly reserved: bigint
  /** Lifetime deposits valued in USDC minor units when booked (F25). */
  readonly deposited: bigint
  /** The sum of postings against the venue's house account, in minor units from the client's view (A2-103). */
  readonly fromVenue: bigint
  /** The part of `fromVenue` that is funding; negative if the client paid (F14; A2-60). */
  readonly funding: bigint
}

export const ledgerTables = {
  ledgerTransactions: table<LedgerTransactionRow>()({
    title: "ledger transaction",
    machine: null,
    key: ["txId"],
    mode: "insert",
    columns: {
      txId: "id",
      key: "text",
      type: "text",
      actor: "text",
      reason: "text?",
      clientId: "id?",
      partnerId: "id",
      refs: "json",
      ts: "id"
    },
    unique: [["key"]],
    id: ["transaction", "hot"]
  }),
  postings: table<PostingRow>()({
    title: "posting",
    machine: null,
    key: ["postingId"],
    mode: "insert",
    columns: {
      postingId: "id",
      txId: "id",
      account: "text",
      clientId: "id?",
      partnerId: "id",
      currency: "text",
      kind: "text",
      amount: "money"
    },
    check: (row) => row.kind === "cash" || row.kind === "reserved",
    id: ["posting", "hot"]
  }),
  balances: table<BalanceRow>()({
    title: "balance",
    machine: null,
    key: ["clientId", "currency"],
    mode: "upsert",
    columns: {
      clientId: "id",
      currency: "text",
      partnerId: "id",
      cash: "money",
      reserved: "money",
      deposited: "money",
      fromVenue: "money",
      funding: "money"
    },
    check: (row) => row.reserved >= 0n && row.deposited >= 0n,
    residence: ofClient
  })
}
