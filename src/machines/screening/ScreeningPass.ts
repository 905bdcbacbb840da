/**
 * A pass that screens stored clients again, client by client in the order of their ids: after the lists have changed, after the
 * rules of comparison have changed, and in every end-of-day run (operator surface, screening passes; F26).
 */
export const screeningPassStates = ["RUNNING", "DONE", "REPLACED"] as const
export type ScreeningPassState = (typeof screeningPassStates)[number]

/** The cause of a pass: new entries, other (or unknown) rules of comparison, or the end-of-day run. */
export const passTriggers = ["LIST", "RULES", "NIGHTLY"] as const
export type PassTrigger = (typeof passTriggers)[number]

/** Whether a pass compares every live entry, or only those added since the pass before. */
export const passScopes = ["ALL", "CHANGES"] as const
export type PassScope = (typeof passScopes)[number]

export interface ScreeningPassInput {
  readonly passId: number
  readonly trigger: PassTrigger
  readonly scope: PassScope
  /** Version of the rules of comparison. */
  readonly rules: number
  /** Entries beyond this id are new; 0 when every entry is compared. */
  readonly fromEntry: number
  /** The highest id of an entry when the pass began: a later pass begins after it. */
  readonly toEntry: number
  readonly startedAt: number
}

export interface ScreeningPassContext extends ScreeningPassInput {
  /** Every client up to this id is screened. */
  readonly after: number
  readonly screened: number
  readonly endedAt: number | null
}

export type ScreeningPassEvent =
  /** The next clients are screened, the last of them with id `after`. */
  | { readonly type: "ADVANCE"; readonly at: number; readonly after: number; readonly screened: number }
  /** There are no more clients. */
  | { readonly type: "FINISH"; readonly at: number }
  /** A pass over every entry begins, which replaces this one. */
  | { readonly type: "SUPERSEDE"; readonly at: number }
