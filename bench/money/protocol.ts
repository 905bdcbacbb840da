/** The messages between the money part, its load generator and plain SQL. */
import type { SliceResult } from "../load/protocol.ts"

/**
 * deposits: the partner files a notice, and finance confirms it. withdrawals: one is requested and cancelled. bulk:
 * reports of 500 items. summary: reads of the settlement summary. owe: corrections that make items, not measured.
 */
export type MoneyKind = "deposits" | "withdrawals" | "bulk" | "summary" | "owe"
export type WrittenKind = "deposits" | "withdrawals" | "bulk"

/** `itemIds`: the items to report; for corrections, its length is their number. */
export interface MoneySlice {
  readonly kind: MoneyKind
  readonly port: number
  readonly ca: string
  readonly partnerKey: string
  readonly operatorKey: string
  readonly clientIds: ReadonlyArray<number>
  readonly itemIds: ReadonlyArray<number>
  /** The query string of the summary's path. */
  readonly search: string
  readonly connections: number
  readonly millis: number
  readonly tag: string
}

/** `done`: the number of confirmed notices, cancelled withdrawals or settled entries. */
export interface MoneyResult extends SliceResult {
  readonly done: number
  /** The body of the last answer. */
  readonly lastText: string
}

export interface PlainMoneyQuestion {
  readonly kind: WrittenKind
  readonly databaseUrl: string
  readonly concurrency: number
  readonly millis: number
  readonly clientIds: ReadonlyArray<number>
  readonly itemIds: ReadonlyArray<number>
  readonly tag: string
}

export interface PlainMoneyResult {
  /** `done` per second. */
  readonly rate: number
  readonly done: number
  readonly p50Millis: number
  readonly p99Millis: number
}

export const bulkEntries = 500
export const depositAmount = "1.250000"
export const withdrawalAmount = "0.010000"
