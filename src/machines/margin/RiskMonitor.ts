/**
 * The risk state that is recorded of an account (D23): what client rows show, and what money gates ask besides the one that
 * live marks imply (A1-12, A3-08). An account that has never left NORMAL has none.
 */

export interface RiskMonitorInput {
  readonly clientId: number
}

export interface RiskMonitorContext extends RiskMonitorInput {
  /** When the client was last notified of a margin call, and of a close-out, Unix ms (A2-105). */
  readonly calledAt: number | null
  readonly closedOutAt: number | null
}

/** Where the account's figures stand now, by F7. */
export type RiskMonitorEvent =
  | { readonly type: "CALL"; readonly at: number }
  | { readonly type: "CLOSE_OUT"; readonly at: number }
  | { readonly type: "RECOVER"; readonly at: number }

/** A notice is not given again within this time, ms (A2-105). */
export const noticeMillis = 60_000
