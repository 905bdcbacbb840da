/**
 * The partner firm's status: what the operator may do to it and what its machine keeps. The profile itself (names,
 * licence, custody model) is a row beside the machine, because nothing in the machine decides on it (doc 1, Partner
 * status; D15).
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
  /** `blockers` are sentences naming what stands in the way (D15's zero check); the guard wants none. */
  | {
      readonly type: "CLOSE"
      readonly at: number
      readonly reason: string
      readonly blockers: ReadonlyArray<string>
    }
  /** Another custody model: `before` and `after` name them; `blockers` as for CLOSE (doc 3, Changing the custody model). */
  | {
      readonly type: "CHANGE_CUSTODY"
      readonly at: number
      readonly reason: string
      readonly before: string
      readonly after: string
      readonly blockers: ReadonlyArray<string>
    }
