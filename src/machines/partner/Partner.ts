/**
 * The partner firm's status: the operator's events, and the machine's context. The profile (names, licence, custody model) is a
 * row beside the machine, because no transition depends on it (doc 1, Partner status; doc 3, Changing the custody model; D15).
 */
export const partnerStatuses = ["ACTIVE", "SUSPENDED", "CLOSED"] as const
export type PartnerStatus = (typeof partnerStatuses)[number]

export interface PartnerInput {
  readonly partnerId: number
}

export interface PartnerContext extends PartnerInput {
  /** The operator's reason for the present status; null while the partner is new. */
  readonly reason: string | null
  readonly changedAt: number
}

export type PartnerEvent =
  | { readonly type: "CREATE"; readonly at: number; readonly reason: string }
  | { readonly type: "SUSPEND"; readonly at: number; readonly reason: string }
  | { readonly type: "REACTIVATE"; readonly at: number; readonly reason: string }
  /**
   * Closes the partner. `blockers`: sentences about the obstacles that the zero check found; the guard requires an empty
   * list.
   */
  | {
      readonly type: "CLOSE"
      readonly at: number
      readonly reason: string
      readonly blockers: ReadonlyArray<string>
    }
  /**
   * The operator gives the partner another custody model; `before` and `after` name the models. `blockers`: as for CLOSE.
   */
  | {
      readonly type: "CHANGE_CUSTODY"
      readonly at: number
      readonly reason: string
      readonly before: string
      readonly after: string
      readonly blockers: ReadonlyArray<string>
    }
