/**
 * A misfit: an object whose report by the venue contradicts the service's request. The service books nothing of the report
 * (A2-115).
 */

export const venueMisfitStates = ["READING", "STANDING", "ENDED"] as const
export type VenueMisfitState = (typeof venueMisfitStates)[number]

/** The pause before each read of the object, ms. The break opens once that many answers do not fit. */
export const readPauses: ReadonlyArray<number> = [1_000, 2_000, 4_000, 8_000, 16_000]
/** A read without an answer, or lost with its process, is repeated after this time, ms. */
export const unreadAfterMillis = 30_000
/** The pause between two reads of an object whose misfit stands, ms. */
export const standingPauseMillis = 600_000

export interface VenueMisfitInput {
  readonly misfitId: number
  /** The name of the object in queries to the venue. */
  readonly ref: string
  readonly reason: string
  readonly at: number
}

export interface VenueMisfitContext extends VenueMisfitInput {
  /** The number of the misfit's own reads whose answer did not fit. */
  readonly reads: number
  /**
   * The misfit's own read is under way, so the next answer counts. Without one, an answer to another read changes only the
   * reason.
   */
  readonly isAwaited: boolean
}

/** The band of the market's marks around a time, as known when a report was checked. Decimal texts. */
export interface KeptBand {
  readonly at: number
  /** The widening in basis points. Null: the market's own. */
  readonly bps: number | null
  readonly low: string
  readonly high: string
}

/**
 * The market data that the reports of an object were checked with. A later report is checked with the same data when the marks
 * are no longer known.
 */
export type KeptMarket = {
  readonly bands: ReadonlyArray<KeptBand>
  /** A listing that the venue made after this time still contained the market, Unix ms. Absent: unknown. */
  readonly listedAt?: number
}

export const mostBands = 16

export type VenueMisfitEvent =
  /** The misfit's own read of the object begins. */
  | { readonly type: "READ"; readonly at: number }
  /** An answer does not fit, can't be checked yet, or does not know the object. */
  | { readonly type: "UNFIT"; readonly at: number; readonly reason: string }
  | { readonly type: "FIT" }
