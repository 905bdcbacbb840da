/** What the money part asks of its load generator and of plain SQL. */
import type { SliceResult } from "../load/protocol.ts"

/**
 * deposits: a notice filed by the partner and confirmed by finance; withdrawals: one requested and cancelled; bulk: reports
 * of 500 items; summary: reads of the settlement summary; owe: corrections that make items, unmeasured.
 */
export type MoneyKind = "deposits" | "withdrawals" | "bulk" | "summary" | "owe"
export type WrittenKind = "deposits" | "withdrawals" | "bulk"

/** `itemIds`: the items to report, or the number of corrections to make as its length. */
export interface MoneySlice {
  readonly kind: MoneyKind
  readonly port: number
  readonly ca: string
  readonly partnerKey: string
  readonly operatorKey: string
  readonly clientIds: ReadonlyArray<number>
  readonly itemIds: ReadonlyArray<number>
  /** Of the summary: search part of the path. */
  readonly search: string
  readonly connections: number
  readonly millis: number
  readonly tag: string
}

/** `done`: confirmed, cancelled, entries settled. */
export interface MoneyResult extends SliceResult {
  readonly done: number
  /** The last answer as it came. */
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
  /** Of what `done` counts, per second. */
  readonly rate: number
  readonly done: number
  readonly p50Millis: number
  readonly p99Millis: number
}

export const bulkEntries = 500
export const depositAmount = "1.250000"
export const withdrawalAmount = "0.010000"
