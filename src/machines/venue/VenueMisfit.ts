/** A misfit: an object whose report by the venue does not fit our request. The service books nothing of the report (A2-115). */

export const venueMisfitStates = ["READING", "STANDING", "ENDED"] as const
export type VenueMisfitState = (typeof venueMisfitStates)[number]

/** The pause before each read of the object, ms. The break opens once as many answers do not fit. */
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
  /** The number of UNFIT answers. */
  readonly reads: number
}

export type VenueMisfitEvent =
  /** A read of the object is scheduled. */
  | { readonly type: "READ"; readonly at: number }
  /** The answer to a read does not fit, can't be judged yet, or does not know the object. */
  | { readonly type: "UNFIT"; readonly at: number; readonly reason: string }
  /** The venue's answer fits. */
  | { readonly type: "FIT" }
