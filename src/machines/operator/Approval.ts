/**
 * Four-eyes approval: a command of a guarded class waits until a second operator key grants it. The approval is bound to the
 * exact arguments by their hash, and is used once (operator surface, Four eyes).
 */
export const approvalStatuses = ["PENDING", "GRANTED", "REFUSED", "EXPIRED"] as const
export type ApprovalStatus = (typeof approvalStatuses)[number]

/** The result of a granted command. NOT_RUN: the command has changed nothing, so its approval may be granted again. */
export const approvalOutcomes = ["DONE", "REFUSED", "NOT_RUN"] as const
export type ApprovalOutcome = (typeof approvalOutcomes)[number]

export interface ApprovalInput {
  readonly approvalId: number
  /** The command's name, such as `ledger adjust`. */
  readonly command: string
  /** SHA-256 of the canonical arguments, hexadecimal. */
  readonly argumentsHash: string
  /** The id of the operator key that requested the command. */
  readonly requestedBy: number
  readonly requestedAt: number
  readonly expiresAt: number
}

/** The audit text of a request: the command, its arguments and the requesting operator key. */
export const requestNote = ({
  command,
  argumentsHash,
  requestedBy
}: Pick<ApprovalInput, "command" | "argumentsHash" | "requestedBy">): string =>
  `${command} ${argumentsHash} by ${requestedBy}`

export interface ApprovalContext extends ApprovalInput {
  readonly decidedBy: number | null
  readonly decidedAt: number | null
}

export type ApprovalEvent =
  | { readonly type: "GRANT"; readonly at: number; readonly by: number; readonly argumentsHash: string }
  | { readonly type: "REFUSE"; readonly at: number; readonly by: number }
  | { readonly type: "EXPIRE"; readonly at: number }
