/**
 * What the database's schema refuses, for the journal that has no database: columns that may be empty, unique keys
 * besides the primary ones, value checks. test/runtime/engine/catalogue.test.ts holds the lists equal to the migrated
 * schema, so that neither can drift.
 */
import type { TableName, Tables } from "../../store/Rows.ts"

type Columns<T extends TableName> = ReadonlyArray<keyof Tables[T] & string>

/** Columns that may be null; every other column refuses it. */
export const nullableColumns: { readonly [T in TableName]?: Columns<T> } = {
  dispositions: ["identityKey", "outcome", "score"],
  screeningRuns: ["passId"],
  watchEntries: ["dob", "country", "removedAt", "importId"],
  cases: ["closedAt"],
  depositNotices: ["decidedAt"],
  ledgerTransactions: ["reason", "clientId"],
  documents: ["side", "deletedAt"],
  postings: ["clientId"],
  interfirmRecords: ["note"],
  withdrawalRequests: ["destination", "paidAt"],
  reconBreaks: ["partnerId", "clientId", "closedAt"],
  events: ["clientId"],
  webhookDeliveries: ["clientId", "claimToken", "claimedAt"],
  audit: ["partnerId", "clientId", "object", "before", "after", "reason"]
}

/** Unique keys besides the primary key. */
export const uniqueKeys: { readonly [T in TableName]?: ReadonlyArray<Columns<T>> } = {
  partners: [["code"], ["uidPrefix"]],
  apiKeys: [["hash"]],
  operatorKeys: [["hash"]],
  clients: [["uid"], ["partnerId", "partnerClientRef"]],
  kycPackages: [["clientId"]],
  settlementItems: [["txId", "type"]],
  interfirmRecords: [["partnerId", "txRef"]],
  ledgerTransactions: [["key"]]
}

const maxRate = 1_000_000_000
const isRate = (rate: number): boolean => rate >= 1 && rate <= maxRate
const oneOf = (value: string, ...allowed: ReadonlyArray<string>): boolean => allowed.includes(value)

/** True when the row keeps the table's CHECK constraints. */
export const checks: { readonly [T in TableName]?: (row: Tables[T]) => boolean } = {
  partners: (row) =>
    oneOf(row.custodyModel, "BROKER", "PARTNER") && isRate(row.readPerMinute) && isRate(row.tradePerMinute),
  custodyChanges: (row) =>
    oneOf(row.before, "BROKER", "PARTNER") && oneOf(row.after, "BROKER", "PARTNER") && row.before !== row.after,
  apiKeys: (row) => oneOf(row.scope, "READ", "TRADE"),
  operatorKeys: (row) => oneOf(row.role, "ADMIN", "FINANCE", "COMPLIANCE", "SUPPORT"),
  watchEntries: (row) => oneOf(row.list, "SANCTIONS", "PEP"),
  postings: (row) => oneOf(row.kind, "cash", "reserved"),
  depositNotices: (row) => row.amount > 0n,
  settlementItems: (row) => row.amount !== 0n,
  interfirmRecords: (row) => row.amount !== 0n && row.periodFrom >= 0 && row.periodFrom <= row.periodTo,
  withdrawalRequests: (row) => row.amount > 0n,
  reconBreaks: (row) => oneOf(row.scope, "ALL", "PARTNER", "CLIENT") && row.amount !== 0n,
  balances: (row) => row.reserved >= 0n && row.deposited >= 0n
}
