/**
 * A misfit: a venue report on an object that contradicts the service's request. The service books nothing of the report
 * (A2-115).
 */

export const venueMisfitStates = ["READING", "STANDING", "ENDED"] as const
export type VenueMisfitState = (typeof venueMisfitStates)[number]

/** The pauses before the repeated reads of the object, ms. A break opens when no read gives a fitting answer. */
export const readPauses: ReadonlyArray<number> = [1_000, 2_000, 4_000, 8_000, 16_000]
/** A read without an answer, or one lost with its process, is repeated after this time, ms. */
export const unreadAfterMillis = 30_000
/** The pause between two reads of the object once its misfit stands, ms. */
export const standingPauseMillis = 600_000

export interface VenueMisfitInput {
  readonly misfitId: number
  /** The ref by which the service queries the object at the venue. */
  readonly ref: string
  readonly reason: string
  readonly at: number
}

export interface VenueMisfitContext extends VenueMisfitInput {
  /** The number of reads, made because of this misfit, whose answers did not fit either. */
  readonly reads: number
  /**
   * True while the misfit's own read is under way: the next answer then counts. Otherwise an answer belongs to
   * another read, and changes only the reason.
   */
  readonly isAwaited: boolean
}

/** The band of the market's marks around a time, as known when a report was checked. Decimal texts. */
export interface KeptBand {
  readonly at: number
  /** The widening in basis points; null for the market's own band. */
  readonly bps: number | null
  readonly low: string
  readonly high: string
}

/**
 * The market data with which an object's reports were checked. Later reports are checked with the same data when the marks
 * are no longer known.
 */
export type KeptMarket = {
  readonly bands: ReadonlyArray<KeptBand>
  /** A venue listing later than this time still contained the market, Unix ms. Absent when unknown. */
  readonly listedAt?: number
}

export const mostBands = 16

export type VenueMisfitEvent =
  /** The misfit's own read of the object begins. */
  | { readonly type: "READ"; readonly at: number }
  /** An answer does not fit, can't be checked yet, or does not contain the object. */
  | { readonly type: "UNFIT"; readonly at: number; readonly reason: string }
  | { readonly type: "FIT" }
