/**
 * A pass that screens stored clients again, in the order of their ids: after the lists have changed, after the rules of
 * comparison have changed, and in every end-of-day run (operator surface, screening passes; F26).
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
  /** Version of the rules of comparison with which the pass compares. */
  readonly rules: number
  /** Entries with a higher id are new; 0 when every entry is compared. */
  readonly fromEntry: number
  /** The highest entry id when the pass began: the next pass starts after it. */
  readonly toEntry: number
  readonly startedAt: number
}

export interface ScreeningPassContext extends ScreeningPassInput {
  /** All clients up to this id are screened. */
  readonly after: number
  readonly screened: number
  readonly endedAt: number | null
}

export type ScreeningPassEvent =
  /** The next clients are screened; `after` is the id of the last of them. */
  | { readonly type: "ADVANCE"; readonly at: number; readonly after: number; readonly screened: number }
  /** All clients are screened. */
  | { readonly type: "FINISH"; readonly at: number }
  /** A new pass over every entry replaces this one. */
  | { readonly type: "SUPERSEDE"; readonly at: number }
