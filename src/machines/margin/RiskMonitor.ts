/**
 * The recorded risk state of an account. Client rows show it; money gates use the graver of the recorded state and
 * the state that live marks imply. An account that has never left NORMAL has no record (D23, A1-12, A3-08, A2-105,
 * F7).
 */

export interface RiskMonitorInput {
  readonly clientId: number
}

export interface RiskMonitorContext extends RiskMonitorInput {
  /** The times when the client was last notified of a margin call and of a close-out, Unix ms. */
  readonly calledAt: number | null
  readonly closedOutAt: number | null
}

/** The account's current figures imply the state that the event names: a margin call, a close-out, or neither. */
export type RiskMonitorEvent =
  | { readonly type: "CALL"; readonly at: number }
  | { readonly type: "CLOSE_OUT"; readonly at: number }
  | { readonly type: "RECOVER"; readonly at: number }

/** Least time between two notices of the same kind, ms. */
export const noticeMillis = 60_000
