/**
 * Granted commands between the commit of the grant and the command's own commit, with the operator keys that requested
 * and granted each. A revocation of either key claims the approval's unique fact. So either the command takes effect
 * before the revocation, or never. Memory suffices: only one process decides for a database (the writer epoch), and no
 * granted command survives a restart.
 */
import type { ActorHost } from "../../../engine/mailbox/ActorHost.ts"

/** The keys that a granted command depends on. */
export interface Running {
  readonly requestedBy: number
  readonly grantedBy: number
}

const running = new WeakMap<ActorHost["Service"], Map<number, Running | null>>()

/**
 * The keys of each granted command, by approval. Null: no turn has granted the approval yet, and until then the revocation of a
 * key by itself prevents the grant.
 */
export const runningApprovals = (host: ActorHost["Service"]): Map<number, Running | null> => {
  let approvals = running.get(host)
  if (approvals === undefined) running.set(host, (approvals = new Map()))
  return approvals
}

/**
 * The unique fact that an approval is used. The command's commit claims the fact. If the command was refused, a
 * further commit claims it with owner 0.
 */
export const usedFact = (approvalId: number): string => `approval:${approvalId}`
