/** The messages between the contracts part and its load generator. */
import type { Slice } from "../load/protocol.ts"

/** Sends requests at the given pace, however long answers take, until a stop message. */
export interface PacedQuestion extends Pick<Slice, "port" | "ca" | "partnerKey" | "clientIds" | "tag"> {
  readonly kind: "begin"
  readonly readsPerSecond: number
  readonly reportsPerSecond: number
}

/** Sends one report of this amount for each client of the list. */
export interface FundQuestion extends Pick<Slice, "port" | "ca" | "partnerKey" | "clientIds" | "tag"> {
  readonly kind: "fund"
  readonly amount: string
}

export type PacedLoadQuestion = PacedQuestion | FundQuestion | { readonly kind: "end" }

export interface PacedLatency {
  readonly sent: number
  readonly p50Millis: number
  readonly p99Millis: number
  readonly maxMillis: number
}

export interface PacedResult {
  readonly reads: PacedLatency
  readonly reports: PacedLatency
  readonly errors: number
  readonly firstError: string | null
}
