/**
 * Reliance: the agreement under which the service relies on the partner's KYC. Only APPROVED allows the onboarding writes;
 * all other routes continue to work for clients already onboarded (doc 1, Partner status; D16, A1-50).
 */
export const relianceStatuses = ["NONE", "REQUESTED", "APPROVED", "SUSPENDED", "REVOKED"] as const
export type RelianceStatus = (typeof relianceStatuses)[number]

export interface RelianceInput {
  readonly partnerId: number
}

export interface RelianceContext extends RelianceInput {
  readonly reason: string | null
  readonly changedAt: number
}

export const relianceMoves = ["REQUEST", "WITHDRAW", "APPROVE", "SUSPEND", "REINSTATE", "REVOKE"] as const
export type RelianceMove = (typeof relianceMoves)[number]

export interface RelianceEvent {
  readonly type: RelianceMove
  readonly at: number
  readonly reason: string
}

/** The events that lead from one status to another. */
const moves: Partial<Record<RelianceStatus, Partial<Record<RelianceStatus, ReadonlyArray<RelianceMove>>>>> = {
  // The operator's command from NONE to APPROVED takes both transitions.
  NONE: { REQUESTED: ["REQUEST"], APPROVED: ["REQUEST", "APPROVE"] },
  REQUESTED: { NONE: ["WITHDRAW"], APPROVED: ["APPROVE"] },
  APPROVED: { SUSPENDED: ["SUSPEND"], REVOKED: ["REVOKE"] },
  SUSPENDED: { APPROVED: ["REINSTATE"], REVOKED: ["REVOKE"] },
  REVOKED: { REQUESTED: ["REQUEST"] }
}

/**
 * The events that bring reliance from one status to another, in order. Empty when the status is reached already; null when
 * the operator may not request this change.
 */
export const reliancePath = (from: RelianceStatus, to: RelianceStatus): ReadonlyArray<RelianceMove> | null =>
  from === to ? [] : (moves[from]?.[to] ?? null)
